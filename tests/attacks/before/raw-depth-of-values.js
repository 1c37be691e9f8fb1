// Answers with lists that are good values, only deeper than any.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, `[1,"ok",${'["a",['.repeat(200)}${']]'.repeat(200)}]\n`);
