'use strict';

/** Each question is [rows as 'A ..x|..', best, count, wheelchairs]; an answer comes back as 'A 1 2 3' or null. */
const find = (load, questions) =>
  questions.map(([rows, best, count, wheelchairs]) => {
    const plan = {
      best,
      rows: rows.map((row) => ({ name: row.split(' ')[0], seats: row.split(' ')[1] })),
    };
    const found = load('./src/seats.js').findSeats(plan, count, wheelchairs);
    return found && [found.row, ...found.seats].join(' ');
  });
const findAndKeep = (load, plan, count) => {
  const found = load('./src/seats.js').findSeats(plan, count);
  return { found, plan };
};
const refusals = (load, counts) =>
  counts.map((count) => {
    try {
      return { found: load('./src/seats.js').findSeats({ best: [], rows: [{ name: 'A', seats: '....' }] }, count) };
    } catch (error) {
      return { name: error.name };
    }
  });

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A .........'], [], 3],
      [['A x......xx'], [], 4],
      [['A ......'], [], 2],
      [['A ...xx....'], [], 1],
    ]),
    ['A 4 5 6', 'A 4 5 6 7', 'A 3 4', 'A 6'],
    'the most central seats of a row are chosen',
  );
};
