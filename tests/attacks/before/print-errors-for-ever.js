// Prints without end on standard error.
for (;;) require('node:fs').writeSync(2, 'x'.repeat(4096));
