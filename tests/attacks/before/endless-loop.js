// waits
// Never ends.
for (;;) {}
