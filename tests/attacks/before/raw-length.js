// Answers with a line that never ends.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, '[1,"ok","');
for (let count = 0; count < 1000; count += 1) fs.writeSync(answers, 'x'.repeat(65536));
