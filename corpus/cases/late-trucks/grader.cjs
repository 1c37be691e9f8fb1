'use strict';

const steady = { promisedDays: 14, arrivals: [14, 14, 14], everyDays: null };
const late = { promisedDays: 7, arrivals: [7, 14, 21], everyDays: null };
const fixed = (vendor, everyDays) => ({ ...vendor, everyDays });
const sold = (...units) => units.map((count) => ({ units: count, leaflet: false }));

// Seventy a week and two weeks on the road: the trigger of a steady vendor is 140, the target 440.
function item(fields = {}) {
  return { weeks: sold(70, 70, 70), onHand: 20, orders: [], allocated: 0, waiting: 0, level: '95', lot: 300, caseSize: 1, minimum: 1, ...fields };
}

const millions = (amount) => (typeof amount === 'number' ? Math.round(amount * 1e6) : amount);

module.exports = async ({ subject, assert }) => {
  async function propose(fields, vendor) {
    const { value } = await subject.attempt((load, item, vendor) => load('./proposal.js').propose(item, vendor), item(fields), vendor);
    return Object(value);
  }
  async function bought(fields, vendor = steady) {
    const { position, qty } = await propose(fields, vendor);
    return [position, qty];
  }
  // Position, safety stock, trigger and target in millionths, then the units to buy.
  async function figures(fields, vendor) {
    const { position, safetyStock, trigger, target, qty } = await propose(fields, vendor);
    return [...[position, safetyStock, trigger, target].map(millions), qty];
  }

  assert.deepStrictEqual(await bought({ orders: [{ ordered: 260, received: 0 }, { ordered: 180, received: 0 }] }), [460, 0], 'what is on the road counts');
  assert.deepStrictEqual(await bought({ onHand: 45, orders: [{ ordered: 200, received: 150 }] }), [95, 345], 'what has arrived of an order counts once');
  assert.deepStrictEqual(await bought({ onHand: 180, waiting: 63 }), [117, 323], 'units for waiting customers are not ours to sell');
  assert.deepStrictEqual(await bought({ onHand: 190, allocated: 84 }), [106, 334], 'units set aside are not ours to sell');
  assert.deepStrictEqual(await bought({ onHand: 140 }), [140, 300], 'at the trigger we order');
  assert.deepStrictEqual(await bought({ onHand: 141 }), [141, 0], 'above the trigger we wait');

  assert.deepStrictEqual(
    [await figures({ weeks: sold(80, 100, 120), onHand: 75, caseSize: 24 }, { promisedDays: 7, arrivals: [7, 7, 7], everyDays: null }), await bought({ onHand: 31, lot: 90 })],
    [[75e6, 33e6, 133e6, 433e6, 360], [31, 199]],
    'an order reaches one lot above the trigger, also from far below',
  );
  assert.deepStrictEqual(
    await figures({ weeks: sold(80, 100, 120), onHand: 10, level: '99' }, late),
    [10e6, 242141281, 442141281, 742141281, 733],
    'trucks that come late at times are part of the surprise',
  );
  assert.deepStrictEqual(
    await figures({ weeks: sold(130, 90, 110, 70), level: '97.5', caseSize: 12 }, fixed(steady, 14)),
    [20e6, 101213965, null, 501213965, 492],
    'what we buy on a fixed day lasts until the truck of the next one',
  );
  assert.deepStrictEqual(
    [await figures({ weeks: sold(80, 100, 120), level: '85' }, fixed(late, 7)), await figures({ weeks: sold(40, 60, 80), onHand: 150, level: '90', caseSize: 10 }, fixed({ promisedDays: 7, arrivals: [7, 7, 7, 35] }, 7))],
    [[20e6, 110063618, null, 410063618, 391], [150e6, 159871949, null, 339871949, 190]],
    'late trucks matter on fixed days as well',
  );
  assert.deepStrictEqual(await bought({ onHand: 205 }, fixed(steady, 7)), [205, 5], 'on a fixed day every gap is filled');
  assert.deepStrictEqual(await bought({ onHand: 233, minimum: 40 }, fixed(steady, 7)), [233, 0], 'on a fixed day nothing is bought when there is enough');

  const leaflet = [{ units: 640, leaflet: true }, ...sold(95, 65), { units: 410, leaflet: true }, ...sold(80)];
  assert.deepStrictEqual(await figures({ weeks: leaflet }, steady), [20e6, 35001786, 195001786, 495001786, 476], 'leaflet weeks say nothing about plain weeks');
  assert.deepStrictEqual(await bought({ onHand: 93, lot: 800, caseSize: 24 }), [93, 864], 'a case is never broken and never left out');
  assert.deepStrictEqual(await bought({ onHand: 130, lot: 60, caseSize: 24, minimum: 500 }), [130, 504], 'the minimum is met in whole cases');
  assert.deepStrictEqual(await bought({ lot: 50 }, { promisedDays: 21, arrivals: [], everyDays: null }), [20, 240], 'a new vendor is taken at his word');
};
