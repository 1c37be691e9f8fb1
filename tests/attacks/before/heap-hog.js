// Fills the heap.
const held = [];
for (;;) held.push(new Array(100000).fill({}));
