// Looks for the grader's text in a snapshot of the heap and in the diagnostic report.
const fs = require('node:fs');
const v8 = require('node:v8');
const report = JSON.stringify(process.report.getReport());
if (/grader\.cjs/.test(report)) fs.writeSync(2, 'ESCAPED report\n');
const snapshot = v8.getHeapSnapshot();
let text = '';
for (let chunk = snapshot.read(); chunk !== null; chunk = snapshot.read()) text += chunk;
if (/deepStrict[E]qual\(await/.test(text)) fs.writeSync(2, 'ESCAPED heap\n');
try {
  v8.writeHeapSnapshot();
  fs.writeSync(2, 'ESCAPED snapshot on disk\n');
} catch {}
