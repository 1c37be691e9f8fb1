// Prints without end on standard error.
for (;;) console.error('x'.repeat(4096));
