'use strict';

const DAY = 86400000;
const START = Date.UTC(2025, 0, 1);
// Day and part of a day, counted from the first of January.
const time = (day) => new Date(START + Math.round(day * DAY)).toISOString();

const gates = { auc: { atLeast: 0.82 }, recall: { atLeast: 0.6 }, calibrationError: { atMost: 0.04 }, p95LatencyMs: { atMost: 80 } };
const good = { auc: 0.9, recall: 0.7, calibrationError: 0.01, p95LatencyMs: 40 };

module.exports = async ({ subject, assert }) => {
  async function ask(file, name, ...args) {
    const { value } = await subject.attempt((load, file, name, args) => load(file)[name](...args), file, name, args);
    return value;
  }
  const row = (value, occurred, available, more = {}) => ({ customer: 'c1', name: 'balance', value, occurredAt: time(occurred), availableAt: available === null ? null : time(available), ...more });
  const features = (day, ...history) => ask('./features.js', 'featuresAt', 'c1', time(day), history);
  const balance = async (day, ...history) => Object(await features(day, ...history)).balance;

  const all = await features(50, row(12, 45, 46), row('gold', 2, 3, { name: 'segment' }), row(4, 40, 41, { name: 'tickets' }), row(99, 48, 48, { customer: 'c2' }));
  assert.deepStrictEqual(all, { balance: 12, tickets: 4, segment: 'gold' }, 'each feature of the customer has its value');
  assert.deepStrictEqual(await features(50, row(12, 51, 52)), { balance: null, tickets: null, segment: null }, 'without a value there is null');
  assert.deepStrictEqual(await balance(50, row(1, 40, 41), row(2, 45, 53)), 1, 'what happened before but arrived later is not known yet');
  assert.deepStrictEqual(await balance(50, row(1, 40, 41), row(2, 45, 50)), 2, 'what arrives in that moment is known');
  assert.deepStrictEqual(await balance(50, row(2, 45, 46), row(1, 40, 49), row(0, 30, 31)), 2, 'the newest counts, not what arrived last or stands last');
  assert.deepStrictEqual([await balance(50, row(7, 45, 49), row(8, 45, 46)), await balance(50, row(8, 45, 46), row(7, 45, 49))], [7, 7], 'a correction that has arrived replaces the value');
  assert.deepStrictEqual(await balance(50, row(8, 45, 46), row(7, 45, 55)), 8, 'a correction that comes later does not');
  assert.deepStrictEqual(await balance(50, row(3, 30, 31), row(4, 44, null)), 3, 'what never got into the store is not known');
  assert.deepStrictEqual(await balance(50, row(0, 45, 46)), 0, 'a value of zero is a value');
  assert.deepStrictEqual([await balance(50, row(5, 20, 21)), await balance(50, row(5, 19.99, 21)), await balance(50, row(5, 15, 49))], [5, null, null], 'a value that the service finds too old is null');
  assert.deepStrictEqual((await features(600, row('gold', 1, 2, { name: 'segment' }))).segment, 'gold', 'a feature without an age never gets too old');

  const left = (occurred, available = occurred, customer = 'c1') => ({ customer, occurredAt: time(occurred), availableAt: time(available) });
  const label = (outcomes, known, at = 10) => ask('./labels.js', 'labelAt', 'c1', time(at), outcomes, time(known));
  assert.deepStrictEqual([await label([left(25)], 60), await label([left(25, 25, 'c2')], 60)], [1, 0], 'who left is one, who stayed is zero');
  assert.deepStrictEqual([await label([], 41), await label([], 46.9)], [null, null], 'nobody stayed before the window and the delay are over');
  assert.deepStrictEqual(await label([], 47), 0, 'the label is there when window and delay are over');
  assert.deepStrictEqual(await label([left(12)], 30), null, 'who left early has no label sooner than the others');
  assert.deepStrictEqual(await label([left(39, 47)], 47), 1, 'a late report is still in time');
  assert.deepStrictEqual(await label([left(38, 49)], 48), 0, 'a report that comes after that day is not known');
  assert.deepStrictEqual([await label([left(40)], 60), await label([left(40.01)], 60), await label([left(10)], 60)], [1, 0, 0], 'the window ends with its last moment and starts after the row');

  const rows = [['a', 100], ['b', 20], ['c', 63], ['d', 63.01], ['a', 30], ['e', 99.9], ['f', 10], ['g', 120]].map(([customer, day], id) => ({ customer, at: time(day), id }));
  const parts = Object(await ask('./split.js', 'split', rows, time(100)));
  const ids = (list) => (Array.isArray(list) ? list.map((item) => Object(item).id) : []);
  assert.deepStrictEqual(ids(parts.test), [0, 7], 'the test has the rows from the cut on');
  assert.deepStrictEqual(ids(parts.train).filter((id) => [0, 3, 5, 7].includes(id)), [], 'no row is trained with a label that nobody knew at the cut');
  assert.deepStrictEqual(ids(parts.train).includes(4), false, 'who is tested is not trained with');
  assert.deepStrictEqual(ids(parts.train).filter((id) => [1, 2, 6].includes(id)), [1, 2, 6], 'all other rows are trained with, in their order');

  const gate = (change) => ask('./gate.js', 'ready', { ...good, ...change }, gates);
  const fails = (...failures) => ({ ready: false, failures });
  const without = { ...good };
  delete without.p95LatencyMs;
  assert.deepStrictEqual(await gate({ throughput: 1 }), { ready: true, failures: [] }, 'a good model is ready');
  assert.deepStrictEqual(await ask('./gate.js', 'ready', without, gates), fails('p95LatencyMs'), 'a missing figure fails');
  assert.deepStrictEqual([await gate({ auc: NaN }), await gate({ calibrationError: null }), await gate({ recall: '0.9' })], [fails('auc'), fails('calibrationError'), fails('recall')], 'what is no number fails');
  assert.deepStrictEqual([await gate({ p95LatencyMs: 81 }), await gate({ recall: 0.59 })], [fails('p95LatencyMs'), fails('recall')], 'each gate has its direction');
  assert.deepStrictEqual(await gate({ auc: 0.82, recall: 0.6, calibrationError: 0.04, p95LatencyMs: 80 }), { ready: true, failures: [] }, 'exactly on the border holds');
  assert.deepStrictEqual(await gate({ recall: 0.1, auc: 0.1, p95LatencyMs: 900, calibrationError: undefined }), fails('auc', 'calibrationError', 'p95LatencyMs', 'recall'), 'all failures are named in order');
  assert.deepStrictEqual(await ask('./gate.js', 'ready', { auc: 0.7, cost: 3 }, { cost: { atMost: 2 }, auc: { atLeast: 0.6 } }), fails('cost'), 'the gates of the caller count');
};
