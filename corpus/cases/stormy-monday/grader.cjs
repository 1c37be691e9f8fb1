'use strict';

const NOW = '2025-03-10T06:00:00.000Z';
const hours = (count) => new Date(Date.parse(NOW) + Math.round(count * 3600000)).toISOString();

function item(id, more = {}) {
  return {
    id, openedAt: hours(-30), closed: false, mode: 'ltl', kind: 'delay', etaAt: hours(-40), deliveredOn: null, impactUsd: 10000, tier: 'standard',
    regulated: false, stopsProduction: false, shelfLifeEndsAt: null, ...more,
  };
}
const furniture = item('furniture', { impactUsd: 80000 });
const insulin = item('insulin', { impactUsd: 4000, regulated: true });
const plant = item('plant', { impactUsd: 900, stopsProduction: true });
const berries = item('berries', { impactUsd: 2000, shelfLifeEndsAt: hours(24) });

// A shuffle that is the same each time.
function shuffled(list, seed) {
  const rest = list.slice();
  const result = [];
  for (let state = seed; rest.length; state = (state * 37 + 11) % 1009) result.push(...rest.splice(state % rest.length, 1));
  return result;
}

module.exports = async ({ subject, assert }) => {
  async function order(...items) {
    const { value } = await subject.attempt((load, items, now) => load('./queue.js').prioritize(items, now), items, NOW);
    return value;
  }
  const due = async (more) => (await subject.attempt((load, item) => load('./deadlines.js').deadlines(item), item('x', more))).value;

  assert.deepStrictEqual(await order(furniture, plant, insulin), ['insulin', 'plant', 'furniture'], 'what is regulated comes first, then the plant, then the money');
  assert.deepStrictEqual(await order(furniture, plant, berries), ['plant', 'berries', 'furniture'], 'what spoils comes after the plant and before the money');
  assert.deepStrictEqual(await order(item('fish', { shelfLifeEndsAt: hours(48) }), furniture, item('milk', { impactUsd: 50, shelfLifeEndsAt: hours(47.9) })), ['milk', 'furniture', 'fish'], 'what keeps for two days or more is not urgent');
  assert.deepStrictEqual(await order(item('plain', { impactUsd: 50000 }), item('key', { impactUsd: 40000, tier: 'key' }), item('top', { impactUsd: 25000, tier: 'enterprise' })), ['top', 'key', 'plain'], 'the tier of the customer weighs');
  assert.deepStrictEqual(await order(item('young', { openedAt: hours(-2) }), item('old', { openedAt: hours(-90) }), item('middle', { openedAt: hours(-20) })), ['old', 'middle', 'young'], 'of equal weight the oldest comes first');
  assert.deepStrictEqual(await order(item('r1', { regulated: true, impactUsd: 1000, openedAt: hours(-99) }), item('r2', { regulated: true, impactUsd: 2000 })), ['r2', 'r1'], 'two regulated ones go by their weight');
  assert.deepStrictEqual(await order(item('s1', { impactUsd: 3000, shelfLifeEndsAt: hours(5) }), item('s2', { impactUsd: 2000, tier: 'enterprise', shelfLifeEndsAt: hours(40) })), ['s2', 's1'], 'two that spoil go by their weight');
  assert.deepStrictEqual(await order(furniture, item('both', { stopsProduction: true, shelfLifeEndsAt: hours(3), impactUsd: 10 }), item('line', { stopsProduction: true, impactUsd: 20 }), item('vaccine', { regulated: true, stopsProduction: true, shelfLifeEndsAt: hours(90), impactUsd: 1 })), ['vaccine', 'line', 'both', 'furniture'], 'who is urgent for several reasons goes by the strongest');
  assert.deepStrictEqual(await order(item('done', { closed: true, regulated: true }), furniture), ['furniture'], 'what is closed is not shown');
  const heap = [['a', 80000, -3], ['b', 15000, -9], ['c', 12000, -40], ['d', 10500, -1], ['e', 10000, -60], ['f', 9700, -90], ['g', 400, -70]];
  const crowd = heap.map(([id, impactUsd, opened]) => item(id, { impactUsd, openedAt: hours(opened) }));
  const wanted = heap.map(([id]) => id);
  const orders = [];
  for (const seed of [0, 5, 23, 101]) orders.push(await order(...shuffled(crowd, seed)));
  assert.deepStrictEqual(orders, [wanted, wanted, wanted, wanted], 'the order does not depend on the order of the input');
  const left = await subject.attempt((load, items, now) => (load('./queue.js').prioritize(items, now), items.map((one) => one.id)), [plant, insulin, furniture], NOW);
  assert.deepStrictEqual(left.value, ['plant', 'insulin', 'furniture'], 'the list that came in stays as it is');

  const claim = async (deliveredOn) => ((await due({ kind: 'damage', deliveredOn })) || []).filter((one) => one.what === 'claim').map((one) => one.due).join();
  assert.deepStrictEqual(
    [await claim('2025-01-15'), await claim('2025-06-20'), await claim('2024-05-31'), await claim('2023-05-30'), await claim('2025-12-31')],
    ['2025-10-15', '2026-03-20', '2025-02-28', '2024-02-29', '2026-09-30'],
    'a claim is due after nine calendar months, on the last day of a short one');
  assert.deepStrictEqual(await due({ kind: 'concealed', mode: 'ftl', deliveredOn: '2025-03-28' }), [{ what: 'notice', due: '2025-04-02' }, { what: 'claim', due: '2025-12-28' }], 'concealed damage has a notice of five days and a claim');
  assert.deepStrictEqual(await due({ kind: 'damage', mode: 'ftl', deliveredOn: '2025-03-28' }), [{ what: 'claim', due: '2025-12-28' }], 'damage that was noted needs no notice');
  assert.deepStrictEqual([await due({ mode: 'air', kind: 'damage', deliveredOn: '2025-02-20' }), await due({ mode: 'air', kind: 'concealed', deliveredOn: '2024-02-20' })], [[{ what: 'notice', due: '2025-03-06' }], [{ what: 'notice', due: '2024-03-05' }]], 'damage in the air has a notice of fourteen days and no claim');
  assert.deepStrictEqual(await due({ mode: 'air', kind: 'delay', deliveredOn: '2025-12-15' }), [{ what: 'notice', due: '2026-01-05' }], 'delay in the air has a notice of twenty-one days');
  assert.deepStrictEqual(await due({ kind: 'delay', deliveredOn: '2025-03-09' }), [], 'delay on the surface has neither');
  const lost = (mode, etaAt) => due({ mode, kind: 'lost', etaAt, openedAt: '2025-03-27T09:00:00.000Z' });
  assert.deepStrictEqual(await lost('ftl', '2025-03-30T00:30:00.000Z'), [{ what: 'trace', due: '2025-03-31T00:30:00.000Z' }], 'a lost full load is traced a day after it should have come');
  assert.deepStrictEqual(await lost('ltl', '2025-02-27T22:00:00.000Z'), [{ what: 'trace', due: '2025-03-01T22:00:00.000Z' }], 'lost part loads are traced after two days');
  assert.deepStrictEqual(await lost('air', '2025-02-27T22:00:00.000Z'), [], 'what is lost in the air is not traced here');
  assert.deepStrictEqual([await due({ kind: 'concealed' }), await due({ mode: 'air', kind: 'damage' })], [[], []], 'nothing runs without a delivery');
};
