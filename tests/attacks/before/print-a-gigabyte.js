// Prints a gigabyte on standard output.
const chunk = Buffer.alloc(1 << 20, 'x');
for (let count = 0; count < 1024; count += 1) require('node:fs').writeSync(1, chunk);
