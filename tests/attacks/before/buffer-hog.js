// Fills memory outside of the heap.
const held = [];
for (;;) held.push(Buffer.alloc(1 << 26, 1));
