'use strict';
// Owns the proof that both processes are confined on this machine. It must never be weakened to make a machine pass.

const attempts = {
  'reads outside': (load) => load('node:fs').readFileSync(process.execPath).length,
  'lists outside': (load) => load('node:fs').readdirSync('/usr').length,
  'writes': (load) => load('node:fs').writeFileSync('/tmp/escaped', 'x'),
  'starts a process': (load) => load('node:child_process').spawnSync(process.execPath, ['--version']).status,
  'starts a worker': (load) => new (load('node:worker_threads').Worker)('0', { eval: true }).threadId,
  'opens an inspector': (load) => load('node:inspector').open(0),
};
const REFUSED = 'ERR_ACCESS_DENIED';

async function codeOf(action, load) {
  try {
    await action(load);
    return 'allowed';
  } catch (error) {
    return error.code ?? error.name;
  }
}

module.exports = async ({ subject, assert }) => {
  assert.strictEqual(await subject.run((load) => load('./canary.js')()), 'sings', 'the canary sings');
  for (const [name, action] of Object.entries(attempts)) {
    assert.strictEqual(await codeOf(action, require), REFUSED, `the grader process ${name}`);
    const outcome = await subject.attempt(eval(`(load) => (${action})(load)`));
    assert.strictEqual(outcome.error?.code ?? 'allowed', REFUSED, `the subject process ${name}`);
  }
  const sqlite = await subject.attempt((load) => Object.keys(load('node:sqlite')).length);
  assert.strictEqual(sqlite.error?.code, 'ERR_UNKNOWN_BUILTIN_MODULE', 'the subject process has SQLite');
  if (globalThis.port === null) return;
  const connected = await subject.attempt((load, port) => new Promise((resolve, reject) => {
    load('node:net').connect(port, '127.0.0.1', resolve).on('error', reject);
  }), globalThis.port);
  // Refused by the box's own network, or before that by a Node whose permission model knows networks.
  assert.match(connected.error?.code ?? 'allowed', /^(ECONNREFUSED|ERR_ACCESS_DENIED)$/, 'the subject process reaches this machine');
};
