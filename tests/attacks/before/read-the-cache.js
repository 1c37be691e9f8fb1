// Looks for the grader among everything that was loaded here.
const fs = require('node:fs');
const Module = require('node:module');
const seen = [...Object.keys(require.cache), ...Object.keys(Module._pathCache ?? {}), ...process.argv, ...Object.values(process.env)];
for (let module = require.main; module; module = module.parent) seen.push(module.filename, ...module.children.map((child) => child.filename));
if (seen.some((name) => /grader\.cjs|runtime\.cjs/.test(String(name)))) fs.writeSync(2, 'ESCAPED cache\n');
