// Answers with a regular expression that no engine can read.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, '[1,"ok",["r","(",""]]\n');
