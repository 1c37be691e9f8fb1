'use strict';

const add = (load, calls) => calls.map(([date, n]) => load('./src/calendar.js').addMonths(date, n));
// Adding 0 makes no difference but to a negative zero.
const days = (load, pairs) => pairs.map(([a, b]) => load('./src/calendar.js').daysBetween(a, b) + 0);
const months = (load, pairs) => pairs.map(([a, b]) => load('./src/calendar.js').monthsBetween(a, b) + 0);
const billing = (load, calls) => calls.map((args) => load('./src/calendar.js').billingDates(...args));
const inZones = (load, zones, sums, pairs) =>
  zones.map((zone) => {
    process.env.TZ = zone;
    const { addMonths, daysBetween } = load('./src/calendar.js');
    return { moved: sums.map((args) => addMonths(...args)), days: pairs.map((args) => daysBetween(...args)) };
  });
const early = (load) => {
  const { addMonths, daysBetween, monthsBetween } = load('./src/calendar.js');
  return [
    addMonths('0050-01-31', 1),
    addMonths('0097-12-31', 2),
    addMonths('0099-12-15', 1),
    addMonths('0001-02-01', -1),
    daysBetween('0004-02-28', '0004-03-01'),
    daysBetween('0099-12-31', '0100-01-01'),
    monthsBetween('0099-11-30', '0099-12-31'),
  ];
};
const refusals = (load, name, calls) =>
  calls.map((args) => {
    try {
      return { answer: load('./src/calendar.js')[name](...args) };
    } catch (error) {
      return { name: error.name };
    }
  });

module.exports = async ({ subject, assert }) => {
  const refused = (count) => Array.from({ length: count }, () => ({ name: 'RangeError' }));

  assert.deepStrictEqual(
    await subject.run(add, [['2023-01-31', 1], ['2023-03-31', 1], ['2023-05-30', 1], ['2023-08-31', 1], ['2023-10-31', 1], ['2023-07-31', 1], ['2023-01-28', 1]]),
    ['2023-02-28', '2023-04-30', '2023-06-30', '2023-09-30', '2023-11-30', '2023-08-31', '2023-02-28'],
    'a month that is too short gives its last day',
  );
  assert.deepStrictEqual(
    await subject.run(add, [['2024-01-31', 1], ['2024-02-29', 12], ['2023-02-28', 12], ['2023-12-31', 2]]),
    ['2024-02-29', '2025-02-28', '2024-02-28', '2024-02-29'],
    'February has its day more in leap years',
  );
  assert.deepStrictEqual(
    await subject.run(add, [['1900-01-31', 1], ['2000-01-31', 1], ['2100-01-30', 1], ['2400-01-30', 1]]),
    ['1900-02-28', '2000-02-29', '2100-02-28', '2400-02-29'],
    'of the centuries only each fourth has a leap year',
  );
  assert.deepStrictEqual(
    await subject.run(add, [
      ['2023-12-15', 1],
      ['2023-06-10', 30],
      ['2023-11-05', 13],
      ['2023-04-20', 0],
      ['2023-01-09', 11],
      ['2023-01-15', -1],
      ['2023-06-10', -18],
      ['2023-01-01', -25],
      ['2023-12-24', -12],
    ]),
    ['2024-01-15', '2025-12-10', '2024-12-05', '2023-04-20', '2023-12-09', '2022-12-15', '2021-12-10', '2020-12-01', '2022-12-24'],
    'months later or earlier may cross years',
  );
  assert.deepStrictEqual(
    await subject.run(days, [['2023-05-01', '2023-05-31'], ['2023-05-31', '2023-05-01'], ['2023-07-07', '2023-07-07'], ['2022-12-31', '2023-01-01'], ['2023-03-01', '2023-02-28']]),
    [30, -30, 0, 1, -1],
    'days are counted in both directions',
  );
  assert.deepStrictEqual(
    await subject.run(days, [['1900-02-28', '1900-03-01'], ['2000-02-28', '2000-03-01'], ['1600-01-01', '2000-01-01'], ['2023-01-01', '2024-01-01'], ['2024-01-01', '2025-01-01'], ['1899-07-01', '2101-07-01'], ['2000-12-31', '2001-01-01']]),
    [1, 2, 146097, 365, 366, 73779, 1],
    'leap days count',
  );
  assert.deepStrictEqual(
    await subject.run(months, [['2023-01-15', '2023-02-14'], ['2023-01-15', '2023-02-15'], ['2023-01-15', '2024-03-20'], ['2023-05-05', '2023-05-05'], ['2023-02-28', '2023-03-31'], ['2022-12-31', '2023-01-01']]),
    [0, 1, 14, 0, 1, 0],
    'whole months are counted',
  );
  assert.deepStrictEqual(
    await subject.run(months, [['2023-01-31', '2023-02-28'], ['2024-01-31', '2024-02-28'], ['2024-01-31', '2024-02-29'], ['2023-10-31', '2023-11-30'], ['2023-05-31', '2023-06-29']]),
    [1, 0, 1, 1, 0],
    'the last day of a short month completes a month',
  );
  assert.deepStrictEqual(
    await subject.run(months, [['2023-02-14', '2023-01-15'], ['2023-02-15', '2023-01-15'], ['2023-02-28', '2023-01-31'], ['2023-03-20', '2023-01-15']]),
    [0, -1, -1, -2],
    'months backwards are the negative of months forwards',
  );
  assert.deepStrictEqual(
    await subject.run(billing, [['2023-01-31', 4], ['2022-08-31', 4, 3], ['2023-05-10', 1], ['2023-05-10', 0]]),
    [
      ['2023-01-31', '2023-02-28', '2023-03-31', '2023-04-30'],
      ['2022-08-31', '2022-11-30', '2023-02-28', '2023-05-31'],
      ['2023-05-10'],
      [],
    ],
    'billing dates are counted from the first one',
  );
  assert.deepStrictEqual(
    await subject.run(early),
    ['0050-02-28', '0098-02-28', '0100-01-15', '0001-01-01', 2, 1, 1],
    'years before 100 are years like others',
  );
  assert.deepStrictEqual(
    [
      ...(await subject.run(refusals, 'addMonths', [['2023-02-29', 1], ['1900-02-29', 1], ['2023-04-31', 0], ['2023-13-01', 1], ['2023-00-10', 1]])),
      ...(await subject.run(refusals, 'daysBetween', [['2023-05-00', '2023-06-01'], ['2023-06-01', '2023-05-32'], ['0000-12-31', '0001-01-01']])),
    ],
    refused(8),
    'dates that do not exist are refused',
  );
  assert.deepStrictEqual(
    await subject.run(refusals, 'daysBetween', [['2023-01-01', '2023-1-5'], ['23-01-01', '2023-01-05'], ['2023-01-01', '2023-01-05T00:00'], ['', '2023-01-05'], ['2023-01-01', '2023/01/05'], [' 2023-01-01', '2023-01-05'], ['2023-01-01', '2023-01-05\n']]),
    refused(7),
    'dates that are written in another way are refused',
  );
  assert.deepStrictEqual(
    await subject.run(refusals, 'addMonths', [['9999-12-01', 1], ['0002-01-31', -24], ['2023-01-01', 120000], ['2023-01-01', -120000], ['9998-12-31', 12], ['0002-01-01', -12]]),
    [...refused(4), { answer: '9999-12-31' }, { answer: '0001-01-01' }],
    'results outside the years 1 to 9999 are refused',
  );
  assert.deepStrictEqual(
    [
      ...(await subject.run(refusals, 'addMonths', [['2023-01-01', 1.5], ['2023-01-01', NaN], ['2023-01-01', '1'], ['2023-01-01', undefined]])),
      ...(await subject.run(refusals, 'billingDates', [['2023-01-01', 2.5], ['2023-01-01', 2, 0.5]])),
    ],
    refused(6),
    'a number of months that is not whole is refused',
  );
  const zones = ['Europe/Lisbon', 'America/Sao_Paulo', 'Pacific/Apia', 'Asia/Kolkata'];
  assert.deepStrictEqual(
    await subject.run(
      inZones,
      zones,
      [['2023-02-26', 1], ['2018-10-04', 1], ['2011-11-30', 1]],
      [['2023-03-25', '2023-03-27'], ['2023-10-28', '2023-10-30'], ['2018-11-03', '2018-11-05'], ['2011-12-29', '2011-12-31']],
    ),
    zones.map(() => ({ moved: ['2023-03-26', '2018-11-04', '2011-12-30'], days: [2, 2, 2, 2] })),
    'the time zone of the machine makes no difference',
  );
};
