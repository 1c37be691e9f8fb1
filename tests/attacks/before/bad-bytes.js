// Answers with bytes that are no text, cut characters, zero bytes and a line without an end.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, Buffer.from([0x5b, 0x31, 0x2c, 0xff, 0xfe, 0x00, 0xf0, 0x9f, 0x0a, 0x5b, 0x31]));
