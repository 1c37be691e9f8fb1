// Tries the ways that lead around the permission model.
const fs = require('node:fs');
const ways = [
  () => process.binding('spawn_sync'), () => process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libc.so.6'),
  () => new (require('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }), () => require('node:inspector').open(0),
  () => new (require('node:inspector').Session)().connect(), () => require('node:module').register('data:text/javascript,'),
  () => new (require('node:sqlite').DatabaseSync)('/tmp/left-behind.db'), () => process.chdir('/usr'), () => require('node:internal/test/binding'),
];
for (const way of ways) {
  try {
    way();
    fs.writeSync(2, `ESCAPED by ${way}\n`);
  } catch {}
}
