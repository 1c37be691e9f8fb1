'use strict';

const SCOPE = { hosts: ['*.mail.example', 'pay.example'], excluded: ['dev.mail.example', '*.lab.mail.example'], pipelines: false };
const PLAIN = {
  rule: 'sql-injection', severity: 'low', path: 'src/http/find.js', line: 7, asset: 'pay.example', entries: ['request'],
  input: 'request', trigger: null, impact: null, advisory: null,
};

module.exports = async ({ subject, assert }) => {
  /** Judge findings that differ from a plain good one; every one stands on a line of its own unless it says otherwise. */
  const judge = async (changes, scope = {}) => {
    const findings = changes.map((change, index) => ({ ...PLAIN, id: `n${index + 1}`, line: 10 + index, ...change }));
    return subject.attempt((load, list, rules) => {
      const { keep, drop } = load('./src/triage.js').triage(list, rules);
      return { keep, drop };
    }, findings, { ...SCOPE, ...scope });
  };
  /** One word for each finding: its CWE when kept, the reason when dropped. */
  const words = async (changes, scope) => {
    const { value, error } = await judge(changes, scope);
    if (error) return error.name;
    const said = new Map();
    for (const { id, cwe } of value.keep || []) said.set(id, cwe);
    for (const { id, why } of value.drop || []) said.set(id, said.has(id) ? 'both' : why);
    return changes.map((change, index) => said.get(change.id || `n${index + 1}`));
  };
  const hosts = (...names) => names.map((asset) => ({ asset }));
  const paths = (...names) => names.map((path) => ({ path }));

  assert.deepStrictEqual(
    await judge([{ rule: 'ssrf' }, { input: 'constant' }, { rule: 'xss', trigger: 'auto' }, { entries: ['local'] },
      { rule: 'auth-bypass', input: null }]),
    { value: {
      keep: [{ id: 'n1', cwe: 'CWE-918' }, { id: 'n3', cwe: 'CWE-79' }, { id: 'n5', cwe: 'CWE-287' }],
      drop: [{ id: 'n2', why: 'not-user-controlled' }, { id: 'n4', why: 'not-reachable' }],
    } }, 'both lists keep the order');
  assert.deepStrictEqual(
    await words([{ severity: 'critical', input: 'operator' }, { severity: 'info', rule: 'deserialization' }, { severity: 'low',
      rule: 'path-traversal' }]),
    ['not-user-controlled', 'CWE-502', 'CWE-22'], 'severity decides nothing');
  assert.deepStrictEqual(await words(hosts('a.mail.example', 'mail.example', 'hotmail.example', 'mail.example.net', 'pay.example',
    'x.pay.example')),
    ['CWE-89', 'out-of-scope', 'out-of-scope', 'out-of-scope', 'CWE-89', 'out-of-scope'], 'a star stands for hosts below a domain');
  assert.deepStrictEqual(await words(hosts('dev.mail.example', 'q.lab.mail.example', 'lab.mail.example')),
    ['out-of-scope', 'out-of-scope', 'CWE-89'], 'an excluded host is out although listed');
  assert.deepStrictEqual(await words(hosts('Pay.Example', 'API.mail.example', 'DEV.mail.example')),
    ['CWE-89', 'CWE-89', 'out-of-scope'], 'hosts have no letter case');
  assert.deepStrictEqual(await words([{ entries: ['ci'] }, { entries: ['ci', 'request'] }]), ['out-of-scope', 'CWE-89'],
    'pipelines are out unless the programme takes them');
  assert.deepStrictEqual(await words([{ entries: ['ci'] }, { entries: ['cli', 'ci'] }, { entries: ['cli'] }], { pipelines: true }),
    ['CWE-89', 'CWE-89', 'not-reachable'], 'a pipeline in scope is reachable');
  const [beside, named] = await words([{ entries: ['ci', 'cli'] }, { entries: ['local', 'ci'] }]);
  const dropped = ['out-of-scope', 'not-reachable'];
  assert.deepStrictEqual([dropped.includes(beside), dropped.includes(named)], [true, true],
    'our own tools beside a pipeline are no other way in');
  assert.deepStrictEqual(await words([{ advisory: 'CVE-2031-7' }, { advisory: 'TICKET-12', rule: 'ssrf' }, {}]),
    ['duplicate', 'duplicate', 'CWE-89'], 'what an advisory or ticket describes is known');
  assert.deepStrictEqual(
    await words([{ line: 5 }, { line: 6 }, { line: 5, severity: 'high' }, { line: 5, rule: 'ssrf' }, { line: 5,
      path: 'src/http/other.js' }]),
    ['CWE-89', 'CWE-89', 'duplicate', 'CWE-918', 'CWE-89'], 'the same rule at the same place counts once');
  assert.deepStrictEqual(
    await words(paths('packages/api/__tests__/find.js', 'examples/quick/server.js', 'src/demo/app.js', 'tests/a.js',
      'src/cart.test.js', 'fixtures/b.js', 'demos/shop/c.js', 'src/example/d.js', 'lib/fixture/e.js')),
    Array(9).fill('sample-code'), 'sample code in all its folders');
  assert.deepStrictEqual(
    await words(paths('src/latest/proxy.js', 'src/contest.js', 'src/testimonials/list.js', 'src/democracy/vote.js',
      'lib/attestation.js')),
    ['CWE-89', 'CWE-89', 'CWE-89', 'CWE-89', 'CWE-89'], 'names that only contain such words');
  assert.deepStrictEqual(await words(paths('vendor/pdf/render.js', 'web/node_modules/left/index.js', 'src/vendor-portal/login.js')),
    ['vendored', 'vendored', 'CWE-89'], 'foreign code is somebody else\'s');
  assert.deepStrictEqual(await words([{ entries: ['job'], input: 'stored' }, { entries: ['webhook'] }, { entries: ['upload'] }]),
    ['CWE-89', 'CWE-89', 'CWE-89'], 'jobs, webhooks and uploads are ways in');
  assert.deepStrictEqual(await words([{ entries: ['cli', 'request'] }, { entries: ['cli', 'local'] }, { entries: ['local', 'cli',
    'request'] }]),
    ['CWE-89', 'not-reachable', 'CWE-89'], 'one way in from outside is enough');
  assert.deepStrictEqual(
    await words([{ rule: 'rate-limit', input: null }, { rule: 'rate-limit', input: null, impact: 'one-time codes guessed' },
      { rule: 'missing-header', input: null, impact: 'framed payment confirmed' }, { rule: 'missing-header', input: 'request' }]),
    ['low-signal', 'CWE-307', 'CWE-693', 'low-signal'], 'headers and limits need a proven impact');
  assert.deepStrictEqual(
    await words([{ rule: 'xss', trigger: 'paste' }, { rule: 'xss', trigger: 'auto', input: 'stored' }, { rule: 'xss',
      trigger: 'auto' }]),
    ['self-only', 'CWE-79', 'CWE-79'], 'pasting is the victim\'s own doing');
  assert.deepStrictEqual(
    await words([
      { asset: 'dev.mail.example', advisory: 'CVE-1' }, { advisory: 'CVE-2', path: 'test/a.js' }, { path: 'vendor/x/test/a.js' },
      { path: 'vendor/y.js', entries: ['cli'] }, { entries: ['cli'], input: 'constant' }, { rule: 'xss', input: 'constant',
        trigger: 'paste' },
    ]),
    ['out-of-scope', 'duplicate', 'sample-code', 'vendored', 'not-reachable', 'not-user-controlled'], 'the first reason counts');
};
