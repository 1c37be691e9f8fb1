// Answers with integers of sixty thousand digits.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, `[1,"ok",${'9'.repeat(60000)}]\n[1,"ok",["i","${'9'.repeat(60000)}"]]\n`);
