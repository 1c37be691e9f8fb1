'use strict';

const steady = { promisedDays: 14, arrivals: [14, 14, 14], everyDays: null };
const late = { promisedDays: 7, arrivals: [7, 14, 21], everyDays: null };
const fixed = (vendor, everyDays) => ({ ...vendor, everyDays });
const sold = (...units) => units.map((count) => ({ units: count, leaflet: false }));

// Seventy a week and two weeks on the road: a steady vendor's trigger is 140 and its target 440; with weekly days the target is 210.
function item(fields = {}) {
  return { weeks: sold(70, 70, 70), onHand: 20, orders: [], allocated: 0, waiting: 0, level: '95', lot: 300, caseSize: 1, minimum: 1, ...fields };
}

const millionths = (amount) => (typeof amount === 'number' ? Math.round(amount * 1e6) : amount);

module.exports = async ({ subject, assert }) => {
  async function propose(fields, vendor) {
    const { value } = await subject.attempt((load, item, vendor) => load('./proposal.js').propose(item, vendor), item(fields), vendor);
    return Object(value);
  }
  async function bought(fields, vendor = steady) {
    const { position, qty } = await propose(fields, vendor);
    return [position, qty];
  }
  async function figures(fields, vendor) {
    const { safetyStock, trigger, target } = await propose(fields, vendor);
    return [safetyStock, trigger, target].map(millionths);
  }
  const weekly = fixed(steady, 7);

  assert.deepStrictEqual(await bought({ orders: [{ ordered: 260, received: 0 }, { ordered: 180, received: 0 }] }), [460, 0], 'what is on the road counts');
  assert.deepStrictEqual(await bought({ onHand: 45, orders: [{ ordered: 200, received: 150 }] }, weekly), [95, 115], 'what has arrived of an order counts once');
  assert.deepStrictEqual(await bought({ onHand: 180, waiting: 63 }, weekly), [117, 93], 'units for waiting customers are not ours to sell');
  assert.deepStrictEqual(await bought({ onHand: 190, allocated: 84 }, weekly), [106, 104], 'units set aside are not ours to sell');
  assert.deepStrictEqual(await bought({ onHand: 140 }), [140, 300], 'at the trigger we order');
  assert.deepStrictEqual(await bought({ onHand: 141 }), [141, 0], 'above the trigger we wait');

  const first = { weeks: sold(80, 100, 120), onHand: 75, caseSize: 24 };
  const punctual = { promisedDays: 7, arrivals: [7, 7, 7], everyDays: null };
  assert.deepStrictEqual(
    [await figures(first, punctual), await bought(first, punctual), await bought({ onHand: 31, lot: 90 })],
    [[33e6, 133e6, 433e6], [75, 360], [31, 199]],
    'an order reaches one lot above the trigger, also from far below',
  );
  assert.deepStrictEqual(
    [await figures({ weeks: sold(80, 100, 120), level: '99' }, late), await figures({ level: '90', lot: 45 }, late)],
    [[242140703, 442140703, 742140703], [89600000, 229600000, 274600000]],
    'trucks that come late at times are part of the surprise',
  );
  assert.deepStrictEqual(await figures({ weeks: sold(130, 90, 110, 70), level: '97.5' }, fixed(steady, 14)), [101213965, null, 501213965], 'what we buy on a fixed day lasts until the truck of the next one');

  const second = { weeks: sold(40, 60, 80), onHand: 150, level: '90', caseSize: 10 };
  const unreliable = { promisedDays: 7, arrivals: [7, 7, 7, 35], everyDays: 7 };
  assert.deepStrictEqual(
    [await figures({ weeks: sold(80, 100, 120), level: '85' }, fixed(late, 7)), await figures(second, unreliable), await bought(second, unreliable)],
    [[110063255, null, 410063255], [159871949, null, 339871949], [150, 190]],
    'late trucks matter on fixed days as well',
  );
  assert.deepStrictEqual(await bought({ onHand: 205 }, weekly), [205, 5], 'on a fixed day every gap is filled');
  assert.deepStrictEqual([await bought({ onHand: 210, minimum: 40 }, weekly), await bought({ onHand: 233 }, weekly)], [[210, 0], [233, 0]], 'on a fixed day nothing is bought when there is enough');

  const leaflet = [{ units: 640, leaflet: true }, ...sold(95, 65), { units: 410, leaflet: true }, ...sold(80)];
  assert.deepStrictEqual(await figures({ weeks: leaflet }, steady), [35001786, 195001786, 495001786], 'leaflet weeks say nothing about plain weeks');
  assert.deepStrictEqual(await bought({ weeks: sold(300, 300), onHand: 53, caseSize: 24 }, weekly), [53, 864], 'a case is never broken and never left out');
  assert.deepStrictEqual(await bought({ onHand: 130, caseSize: 24, minimum: 500 }, weekly), [130, 504], 'the minimum is met in whole cases');
  assert.deepStrictEqual(
    [await bought({}, { promisedDays: 21, arrivals: [], everyDays: 7 }), await bought({}, { promisedDays: 7, arrivals: [28], everyDays: 7 })],
    [[20, 260], [20, 330]],
    'a new vendor is taken at his word until the first truck came',
  );
};
