'use strict';

// The meter file is written where it is read; a month of rows is too much to send each time.
function bill(load, { site, month, meter, history }) {
  const lines = ['start,kwh'];
  for (const [day, shape] of meter.days) {
    for (let quarter = 0; quarter < 96; quarter += 1) {
      const hour = Math.floor(quarter / 4);
      if (shape === 'short' && hour === 2) continue;
      const start = `${day}T${String(hour).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`;
      const kwh = start in meter.peaks ? meter.peaks[start] : meter.kwh;
      lines.push(`${start},${kwh}`);
      if (shape === 'long' && hour === 2) lines.push(`${start},${kwh}`);
    }
  }
  return load('./bill.js').monthlyBill(site, month, lines.join('\n') + '\n', history);
}

function days(month, from, to, odd = {}) {
  const result = [];
  for (let day = from; day <= to; day += 1) {
    const name = `${month}-${String(day).padStart(2, '0')}`;
    result.push([name, odd[name] || 'plain']);
  }
  return result;
}

const past = (month, peakKw, billedKw = peakKw) => ({ month, peakKw, billedKw });

module.exports = async ({ subject, assert }) => {
  async function compute(input, meter = {}) {
    const { month } = input;
    const { value } = await subject.attempt(bill, {
      site: 'north',
      history: [],
      ...input,
      meter: { days: days(month, 1, 2), kwh: 100, peaks: { [`${month}-02T10:15`]: 1000 }, ...meter },
    });
    return Object(value);
  }
  async function billed(history, more = {}) {
    return (await compute({ month: '2025-06', history, ...more })).billedKw;
  }

  const edge = await compute({ month: '2025-05' }, { days: days('2025-05', 30, 31), kwh: 40, peaks: { '2025-05-31T23:45': 62.5 } });
  assert.deepStrictEqual(edge.peakKw, 250, 'the highest single quarter of an hour is the peak, also the last of the month');
  const wide = await compute({ month: '2025-05' }, { days: [...days('2025-04', 30, 30), ...days('2025-05', 1, 1), ...days('2025-06', 1, 1)], kwh: 20, peaks: { '2025-04-30T23:45': 90, '2025-06-01T00:00': 95 } });
  assert.deepStrictEqual([wide.peakKw, wide.energyCents, wide.loadFactor], [80, 18432, 1], 'rows of other months do not count');

  assert.deepStrictEqual(await billed([past('2025-02', 4900), past('2025-05', 4100)]), 4000, 'an old peak below the floor changes nothing');
  assert.deepStrictEqual(await billed([past('2024-07', 6000)]), 4800, 'a peak of eleven months ago counts');
  assert.deepStrictEqual(await billed([past('2024-06', 6000)]), 4000, 'a peak of twelve months ago does not count');
  assert.deepStrictEqual(await billed([past('2025-05', 5500), past('2025-06', 9000)]), 4400, 'the billed month itself is no old peak');
  assert.deepStrictEqual(await billed([past('2025-05', 5500), past('2025-09', 9000)]), 4400, 'later months do not count');
  assert.deepStrictEqual(await billed([past('2025-01', 5600, 6400)]), 4480, 'what was charged before does not keep the charge up');
  assert.deepStrictEqual(await billed([past('2023-08', 7000), past('2024-04', 9000), past('2024-12', 5500)]), 4400, 'shut months count as months');
  assert.deepStrictEqual(await billed([past('2024-09', 5200), past('2024-11', 5800), past('2025-03', 5400)]), 4640, 'the highest of several old peaks counts');
  assert.deepStrictEqual(await billed([past('2025-02', 9000)], { site: 'harbour' }), 5400, 'each site has its own share');
  const still = await compute({ month: '2025-06', site: 'depot', history: [past('2025-02', 9000)] }, { kwh: 0, peaks: {} });
  assert.deepStrictEqual([await billed([past('2025-02', 9000)], { site: 'depot' }), still.billedKw], [4000, 0],
    'a site without the clause is billed its peak');

  const held = await compute({ month: '2025-06', history: [past('2025-02', 6000)] });
  assert.deepStrictEqual([held.energyCents, held.demandCents, held.totalCents], [192960, 6960000, 7152960], 'the charge follows the billed demand');
  assert.deepStrictEqual([held.peakKw, held.loadFactor], [4000, 0.1047], 'peak and load factor stay what was measured');
  const odd = await compute({ month: '2025-06', site: 'harbour' }, { kwh: 0.25, peaks: { '2025-06-01T12:00': 1.375 } });
  assert.deepStrictEqual([odd.energyCents, odd.demandCents, odd.totalCents], [413, 6160, 6573], 'each line is rounded to cents');

  const february = await compute({ month: '2025-02' }, { days: days('2025-02', 1, 28), kwh: 30, peaks: { '2025-02-11T09:30': 60 } });
  assert.deepStrictEqual(february.loadFactor, 0.5002, 'February has 672 hours');
  const spring = await compute({ month: '2025-03' }, { days: days('2025-03', 30, 30, { '2025-03-30': 'short' }), kwh: 30, peaks: { '2025-03-30T09:30': 60 } });
  const autumn = await compute({ month: '2025-10' }, { days: days('2025-10', 26, 26, { '2025-10-26': 'long' }), kwh: 30, peaks: { '2025-10-26T09:30': 75 } });
  assert.deepStrictEqual([spring.loadFactor, autumn.loadFactor, autumn.energyCents], [0.5054, 0.406, 29232], 'the days on which the clocks change have 23 and 25 hours');
  const idle = await compute({ month: '2025-08', history: [past('2025-07', 500)] }, { kwh: 0, peaks: {} });
  const unused = await compute({ month: '2025-08' }, { kwh: 0, peaks: {} });
  assert.deepStrictEqual(
    [idle.peakKw, idle.billedKw, idle.loadFactor, unused.billedKw], [0, 400, null, 0],
    'an idle month still pays for the old peak, and for nothing where there is none');
};
