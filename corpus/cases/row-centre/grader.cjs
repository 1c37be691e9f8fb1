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
      [['A .'], [], 1],
      [['A ...|..x.'], [], 2],
      [['A x.|.x...|.x'], ['A'], 3],
      [['A ..|.', 'B .xx...x', 'C ..x|....'], [], 4],
    ]),
    ['A 1', 'A 4 5', 'A 5 6 7', 'C 4 5 6 7'],
    'numbers begin with 1 and run on across aisles',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A x|x'], [], 1],
      [[], [], 2],
      [['A ..x', 'B .x.'], ['B'], 3],
    ]),
    [null, null, null],
    'null says that there are none',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ........'], [], 2],
      [['A .........'], [], 3],
      [['A ..........'], [], 4],
      [['A x..x....'], [], 2],
      [['A w..|x', 'B ..xx', 'C .........'], ['C', 'B'], 3],
    ]),
    ['A 4 5', 'A 4 5 6', 'A 4 5 6 7', 'A 5 6', 'C 4 5 6'],
    'the most central seats of a row are chosen',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A .x.'], [], 1],
      [['A ...|...'], [], 3],
      [['A ..w..', 'B x.x.x'], [], 2],
    ]),
    ['A 1', 'A 1 2 3', 'A 1 2'],
    'of two equally central choices the lower numbers count',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A .|.', 'B ..'], [], 2],
      [['A xx..|..', 'B ....'], [], 4],
      [['A x...|.|x..', 'B ....x.', 'C x....'], [], 3],
    ]),
    ['B 1 2', 'B 1 2 3 4', 'A 2 3 4'],
    'an aisle parts neighbours',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ..x...|.|.'], [], 1],
      [['A .|...', 'B x.x....|.|.'], ['B'], 2],
    ]),
    ['A 4', 'B 4 5'],
    'aisles do not shift the middle',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A xxx....x.'], [], 2],
      [['A xxxx......', 'B .x..'], ['A'], 2],
      [['A .x.|.xx.', 'B xxx........', 'C .'], ['B'], 4],
    ]),
    ['A 4 5', 'A 5 6', 'B 4 5 6 7'],
    'taken seats do not shift the middle',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ...', 'B ...'], ['B', 'A'], 3],
      [['A x..xx..', 'B .x.', 'C xx.'], ['C', 'B'], 1],
      [['A ...', 'B ...', 'C ..|...'], ['B'], 3],
    ]),
    ['B 1 2 3', 'C 3', 'B 1 2 3'],
    'the best rows come first, in their own order',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ...', 'B .', 'C ...'], ['B'], 3],
      [['A x..x.', 'B .x.x.x...'], ['A'], 3],
      [['A x......', 'B x........', 'C ...'], ['C'], 4],
    ]),
    ['A 1 2 3', 'B 7 8 9', 'A 2 3 4 5'],
    'then the other rows from the stage to the back',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ..x', 'B ..'], ['A'], 2],
      [['A xxx.x.....', 'B x......|.'], ['A'], 2],
      [['A ...x.', 'B .x|x..x|..', 'C .....x.'], ['A', 'B'], 3],
    ]),
    ['A 1 2', 'A 6 7', 'A 1 2 3'],
    'the row counts more than being central',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A x...x..'], [], 2],
      [['A x..x.'], [], 1],
      [['A ...', 'B x.....x....'], [], 4],
      [['A x....xw'], [], 2],
      [['A x...xx..'], [], 1],
      [['A .....x..'], [], 3],
    ]),
    ['A 6 7', 'A 5', 'B 8 9 10 11', 'A 4 5', 'A 4', 'A 3 4 5'],
    'a choice that leaves a single seat is avoided',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A .x..'], [], 1],
      [['A ..|x...'], [], 2],
      [['A ....x.....', 'B x.|..x..'], [], 4],
      [['A x.x..|x'], [], 1],
    ]),
    ['A 1', 'A 1 2', 'A 1 2 3 4', 'A 2'],
    'a seat is single at an aisle and at the end of a row too',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A x...x', 'B ..'], ['A'], 2],
      [['A xx...xx', 'B x|x', 'C ..xxxx'], [], 2],
      [['A x....x', 'B ...x'], ['A'], 3],
    ]),
    ['B 1 2', 'C 1 2', 'B 1 2 3'],
    'all rows are searched before a seat is left single',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A x..'], [], 1],
      [['A xx', 'B x...'], [], 2],
    ]),
    ['A 2', 'B 2 3'],
    'a single seat is left when nothing else is possible',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ..x...x.'], [], 1],
      [['A x.x..x.', 'B x....'], ['A'], 2],
      [['A .x.....', 'B .x|.|.|...', 'C .....'], ['A', 'C'], 2],
    ]),
    ['A 4', 'A 4 5', 'A 3 4'],
    'seats that were alone before do not matter',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A w', 'B .'], [], 1],
      [['A xw..|xx.', 'B ...'], [], 3],
      [['A x..x...', 'B x|w..w..', 'C ....'], ['B'], 4],
    ]),
    ['B 1', 'B 1 2 3', 'C 1 2 3 4'],
    'wheelchair places are given to those who need them only',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A ....w'], ['A'], 1, 1],
      [['A .w'], [], 2, 1],
      [['A w.w.xx', 'B ..x.'], [], 3, 1],
      [['A ww...', 'B ..x.xx.'], ['A'], 2, 2],
    ]),
    ['A 5', 'A 1 2', 'A 2 3 4', 'A 1 2'],
    'as many wheelchair places as asked for',
  );
  assert.deepStrictEqual(
    await subject.run(find, [
      [['A w...'], [], 1],
      [['A w.x.'], [], 1],
      [['A w...x', 'B .w..', 'C ...|wx'], ['A', 'C'], 3],
    ]),
    ['A 2', 'A 2', 'A 2 3 4'],
    'a seat between a choice and a wheelchair place is single',
  );
  assert.deepStrictEqual(
    await subject.run(refusals, [0, -2, 1.5, NaN, '2', undefined, 4]),
    [...Array.from({ length: 6 }, () => ({ name: 'RangeError' })), { found: { row: 'A', seats: [1, 2, 3, 4] } }],
    'a count that is no whole number from 1 on is refused',
  );
  const plan = { best: ['C'], rows: [{ name: 'A', seats: '...' }, { name: 'B', seats: 'x..' }, { name: 'C', seats: '..' }] };
  assert.deepStrictEqual(
    await subject.run(findAndKeep, plan, 2),
    { found: { row: 'C', seats: [1, 2] }, plan },
    'the plan stays as it is',
  );
};
