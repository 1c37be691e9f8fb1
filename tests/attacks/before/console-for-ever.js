// waits
// Prints without end through the console, which keeps to itself what its pipe does not take.
for (;;) console.error('x'.repeat(4096));
