// Closes every descriptor it has.
const fs = require('node:fs');
for (let descriptor = 0; descriptor < 64; descriptor += 1) {
  try {
    fs.closeSync(descriptor);
  } catch {}
}
