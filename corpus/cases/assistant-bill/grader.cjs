'use strict';

let lines = 0;
/** One call; what a test doesn't name is as ordinary as it can be, with tokens that say something else than the cost. */
const call = (cost_usd, more) => {
  lines += 1;
  return { timestamp: '2031-07-10T12:00:00Z', project: 'app', tool_name: 'edit', input_tokens: 9000 + 71 * lines,
    output_tokens: 40 * lines,
    cost_usd, session_id: 's-1', model: 'atlas-large', ...more };
};
const at = (timestamp, cost) => call(cost, { timestamp });
const NOW = '2031-07-10T20:00:00Z';

module.exports = async ({ subject, assert }) => {
  const summarize = async (rows, now = NOW) => {
    const { value, error } = await subject.attempt((load, rows, now) => load('./src/report.js').summarize(rows, now), rows, now);
    return error ? { error: error.name } : value;
  };
  /** The named fields of a summary. */
  const fields = async (names, ...given) => {
    const summary = (await summarize(...given)) || {};
    return names.split(' ').map((name) => summary[name]);
  };
  const format = async (...amounts) => {
    const texts = [];
    for (const amount of amounts) {
      const { value, error } = await subject.attempt((load, amount) => load('./src/report.js').format(amount), amount);
      texts.push(error ? error.name : value);
    }
    return texts;
  };

  assert.deepStrictEqual(
    await summarize([
      call(1.25, { project: 'web', session_id: 's-7' }), call(1.05, { tool_name: 'shell' }),
      call(0.3, { timestamp: '2031-07-09T03:00:00Z' }), call(1.3, { timestamp: '2031-06-30T03:00:00Z', tool_name: 'search' }),
    ]),
    { today: 2300000, yesterday: 300000, change: 2000000, total: 3900000, calls: 4, unpriced: 0, sessions: 2, perSession: 1950000,
      projects: [{ name: 'app', usd: 2650000 }, { name: 'web', usd: 1250000 }],
      tools: [{ name: 'edit', usd: 1550000 }, { name: 'search', usd: 1300000 }, { name: 'shell', usd: 1050000 }] },
    'a whole summary');
  assert.deepStrictEqual(
    await fields('today total', [call(0.04, { input_tokens: 2_000_000 }), call(0, { model: 'atlas-small' }), call(0.01,
      { model: 'nova-1' })]),
    [50000, 50000], 'the recorded cost counts, zero and new models too');
  assert.deepStrictEqual(
    await fields('total today calls unpriced projects', [call(null), call(0.2), call(0), call(null, { project: 'bot' })]),
    [200000, 200000, 4, 2, [{ name: 'app', usd: 200000 }, { name: 'bot', usd: 0 }]], 'a cost nobody recorded is not made up');
  assert.deepStrictEqual([await summarize(null), await fields('total calls sessions projects', [])], [null, [0, 0, 0, []]],
    'no recorder is not an idle one');
  assert.deepStrictEqual((await fields('perSession today yesterday change', [])), [null, 0, 0, 0], 'no session, no average');

  assert.deepStrictEqual(
    await fields('today yesterday', [at('2031-07-10T17:30:00-07:00', 0.1), at('2031-07-10T16:59:59-07:00', 0.02),
      at('2031-07-11T09:00:00+10:00', 0.004),
      at('2031-07-11T10:00:00+10:00', 0.0008)], '2031-07-11T00:40:00Z'),
    [100800, 24000], 'days are those of the invoice');
  assert.deepStrictEqual(
    await fields('today yesterday', [at('2031-07-10T12:00:00Z', 0.1), at('2031-07-11T12:00:00Z', 0.02)],
      '2031-07-10T17:30:00-07:00'),
    [20000, 100000], 'now has an offset, too');
  assert.deepStrictEqual(
    [await fields('today yesterday', [at('2032-02-29T23:59:59.999Z', 0.3), at('2032-02-28T23:59:59Z', 0.05),
      at('2032-03-01T00:00:00Z', 0.1)], '2032-03-01T05:00:00Z'),
      await fields('yesterday', [at('2030-12-31T01:00:00Z', 0.7), at('2031-12-31T01:00:00Z', 0.01)], '2031-01-01T05:00:00Z')],
    [[100000, 300000], [700000]], 'yesterday may be in another month or year');

  assert.deepStrictEqual(
    [await fields('sessions perSession', [call(1), call(1, { project: 'web' }), call(0.5, { session_id: 's-2' }), call(0.5,
      { session_id: 's-9' }), call(1)]),
      await fields('sessions perSession', [call(0.25), call(0.5)])],
    [[3, 1333333], [1, 750000]], 'a session counts once');
  assert.deepStrictEqual(
    (await fields('projects', [call(0.2, { project: 'many' }), call(0.2, { project: 'many' }), call(0.2, { project: 'many' }),
      call(9, { project: 'one' }),
      call(0.3, { project: 'small' }), call(10, { project: 'ten' })]))[0],
    [{ name: 'ten', usd: 10000000 }, { name: 'one', usd: 9000000 }, { name: 'many', usd: 600000 }],
      'the three that cost most, not that are called most');
  assert.deepStrictEqual(
    (await fields('tools', [['read', 0.15], ['write', 0.1], ['write', 0.2], ['bash', 0.15], ['read', 0.15], ['bash', 0.15]]
      .map(([tool_name, cost]) => call(cost, { tool_name }))))[0],
    [{ name: 'bash', usd: 300000 }, { name: 'read', usd: 300000 }, { name: 'write', usd: 300000 }], 'equal amounts come by name');
  assert.deepStrictEqual(await fields('total today', Array.from({ length: 7 }, () => call(0.0000004))), [3, 3],
    'rounding comes last');

  assert.deepStrictEqual(await format(4200, 50, 123456, 0, 999900), ['$0.0042', '$0.0001', '$0.1235', '$0.0000', '$0.9999'],
    'small amounts have four decimals');
  assert.deepStrictEqual(await format(1000000, 12300000, 1999000000, 10049999), ['$1.00', '$12.30', '$1999.00', '$10.05'],
    'larger amounts have two');
  assert.deepStrictEqual(await format(1005000, 8575000, 250, 2675000), ['$1.01', '$8.58', '$0.0003', '$2.68'], 'halves go up');
};
