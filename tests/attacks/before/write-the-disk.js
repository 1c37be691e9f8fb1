// Leaves something behind for a later grade.
const fs = require('node:fs');
const path = require('node:path');
for (const folder of [__dirname, path.dirname(__dirname), '/tmp', '/var/tmp', '/dev/shm', '/r', '/s', process.cwd(), '/']) {
  const name = path.join(folder, 'left-behind');
  const ways = [
    () => fs.writeFileSync(name, 'x'), () => fs.mkdirSync(`${name}.d`), () => fs.symlinkSync('/etc/passwd', `${name}.l`),
    () => fs.linkSync(__filename, `${name}.h`), () => fs.renameSync(__filename, name), () => fs.chmodSync(__filename, 0o777),
    () => fs.truncateSync(__filename), () => fs.utimesSync(__filename, 0, 0), () => fs.mkdtempSync(name), () => fs.copyFileSync(__filename, name),
  ];
  for (const way of ways) {
    try {
      way();
      fs.writeSync(2, `ESCAPED write ${folder}\n`);
    } catch {}
  }
}
