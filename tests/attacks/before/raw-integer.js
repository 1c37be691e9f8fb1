// Answers with a number that fits no float.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, `[1,"ok",${'9'.repeat(400)}]\n`);
