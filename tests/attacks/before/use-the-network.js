// Speaks to this machine and to the world.
const fs = require('node:fs');
const net = require('node:net');
const seen = (what) => () => fs.writeSync(2, `ESCAPED network ${what}\n`);
for (const [host, port] of [['127.0.0.1', 22], ['127.0.0.1', 80], ['10.0.2.2', 80], ['1.1.1.1', 53], ['::1', 22]]) {
  net.connect(port, host, seen(host)).on('error', () => {});
}
for (const path of ['/run/dbus/system_bus_socket', '\0/tmp/.X11-unix/X0', '/var/run/docker.sock']) {
  net.connect(path, seen(path)).on('error', () => {});
}
net.createServer().on('error', () => {}).listen('/tmp/left-behind.sock', seen('socket file'));
require('node:dns').lookup('example.com', (error) => error || seen('name')());
globalThis.fetch?.('http://1.1.1.1/').then(seen('fetch'), () => {});
