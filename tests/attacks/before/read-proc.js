// Looks into the other processes of this machine.
const fs = require('node:fs');
for (let pid = 1; pid < 64; pid += 1) {
  for (const name of ['cmdline', 'environ', 'maps', 'mem', 'root/r/grader.cjs', 'cwd', 'fd/3', 'mountinfo']) {
    try {
      fs.readFileSync(`/proc/${pid}/${name}`);
      fs.writeSync(2, `ESCAPED proc ${name}\n`);
    } catch {}
  }
}
