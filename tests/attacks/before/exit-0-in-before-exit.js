// Waits for the loop to run dry and says 0; then sees to it that it runs dry.
process.on('beforeExit', () => process.exit(0));
for (const handle of process._getActiveHandles()) handle.unref();
