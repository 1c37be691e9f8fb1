// Answers with forms of values that do not exist, or with parts of the wrong kind.
const fs = require('node:fs');
// The pipe's number is no secret: the report has the command line.
const answers = Number(process.report.getReport().header.commandLine.at(-1));
const values = [
  '["f","() => true"]',
  '["u",1]',
  '["n","1"]',
  '["i","1e3"]',
  '["d","now"]',
  '["a",[["h",1]]]',
  '["h"]',
  '["o",[[1,2]]]',
  '["r","a","xx"]',
  '["e",1,2,3]',
  '["constructor"]',
  '[]',
  '[[]]',
  'NaN',
  '1e999',
];
fs.writeSync(answers, values.map((value) => `[1,"ok",${value}]\n`).join(''));
