// Answers with an error whose properties take over those of every error.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
fs.writeSync(answers, '[1,"err",["e","__proto__","x",[["stack","x"],["__proto__",true],["code","ERR_ASSERTION"],["generatedMessage",false]]]]\n');
