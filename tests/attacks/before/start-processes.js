// Starts whatever can be started, as often as it can.
const fs = require('node:fs');
const { fork, spawn, spawnSync, execSync } = require('node:child_process');
const { Worker } = require('node:worker_threads');
const ways = [
  () => execSync('true'), () => spawnSync('/bin/sh', ['-c', ':(){ :|:& };:']).pid || null.x, () => spawn('sleep', ['100'], { detached: true }).pid.x.y,
  () => fork(__filename), () => new Worker('0', { eval: true }), () => require('node:cluster').fork(),
];
for (let count = 0; count < 50; count += 1) {
  for (const way of ways) {
    try {
      way();
      fs.writeSync(2, 'ESCAPED process\n');
    } catch {}
  }
}
