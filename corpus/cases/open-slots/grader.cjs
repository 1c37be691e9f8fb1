'use strict';

const ask = (load, mine, yours, day) => load('./src/busy.js').free(mine, yours, day);
const askAll = (load, questions) => questions.map(([mine, yours, day]) => load('./src/busy.js').free(mine, yours, day));
const askAndKeep = (load, mine, yours, day) => {
  const slots = load('./src/busy.js').free(mine, yours, day);
  return { slots, mine, yours, day };
};
const faults = (load, questions) =>
  questions.map(([mine, yours, day]) => {
    try {
      return { slots: load('./src/busy.js').free(mine, yours, day) };
    } catch (error) {
      return { name: error.name };
    }
  });

module.exports = async ({ subject, assert }) => {
  const day = { from: 540, to: 1020 };

  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 560, to: 800 }], [{ from: 600, to: 620 }, { from: 650, to: 700 }, { from: 750, to: 760 }], day),
    [{ from: 540, to: 560 }, { from: 800, to: 1020 }],
    'a short entry inside a long one opens no slot',
  );
  assert.deepStrictEqual(
    await subject.run(
      ask,
      [{ from: 540, to: 600 }, { from: 600, to: 660 }],
      [{ from: 660, to: 700 }, { from: 990, to: 1020 }],
      { from: 540, to: 1020, least: 0 },
    ),
    [{ from: 700, to: 990 }],
    'touching entries leave no slot of no length',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 900, to: 930 }, { from: 560, to: 600 }, { from: 720, to: 750 }], [{ from: 700, to: 725 }, { from: 640, to: 660 }], day),
    [{ from: 540, to: 560 }, { from: 600, to: 640 }, { from: 660, to: 700 }, { from: 750, to: 900 }, { from: 930, to: 1020 }],
    'the gaps between the entries of both are free, whatever their order',
  );
  assert.deepStrictEqual(
    await subject.run(askAll, [
      [[{ from: 870, to: 870 }], [{ from: 560, to: 560 }, { from: 540, to: 540 }], day],
      [[{ from: 700, to: 700, travel: 30 }], [{ from: 900, to: 920 }], { from: 540, to: 1020, least: 200 }],
    ]),
    [[{ from: 540, to: 1020 }], [{ from: 540, to: 900 }]],
    'a reminder takes no time, even with travel',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 480, to: 570 }, { from: 1300, to: 1360 }], [{ from: 1000, to: 1080 }, { from: -60, to: 30 }], day),
    [{ from: 570, to: 1000 }],
    'entries over the edges of the day are cut, those outside ignored',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 600, to: 630, travel: 15 }], [{ from: 800, to: 830, travel: 40 }, { from: 880, to: 900 }], day),
    [{ from: 540, to: 585 }, { from: 645, to: 760 }, { from: 870, to: 880 }, { from: 900, to: 1020 }],
    'travel is taken before and after',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 480, to: 525, travel: 30 }, { from: 1030, to: 1090, travel: 25 }], [{ from: 400, to: 440 }], day),
    [{ from: 555, to: 1005 }],
    'travel of an entry outside reaches into the day',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 600, to: 700, reply: 'declined' }], [{ from: 650, to: 660, reply: 'accepted' }, { from: 900, to: 960, reply: 'declined', travel: 5 }], day),
    [{ from: 540, to: 650 }, { from: 660, to: 1020 }],
    'a declined entry takes no time',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 600, to: 700, reply: 'tentative' }], [{ from: 980, to: 1020, reply: 'tentative' }], day),
    [{ from: 540, to: 600 }, { from: 700, to: 980 }],
    'a tentative entry takes its time',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 570, to: 600 }, { from: 629, to: 640 }], [{ from: 671, to: 990 }], { from: 540, to: 1020, least: 30 }),
    [{ from: 540, to: 570 }, { from: 640, to: 671 }, { from: 990, to: 1020 }],
    'a slot of exactly the least length is offered, a shorter one is not',
  );
  assert.deepStrictEqual(
    await subject.run(ask, [{ from: 541, to: 700 }], [{ from: 704, to: 1020 }], day),
    [{ from: 540, to: 541 }, { from: 700, to: 704 }],
    'without a least length every slot is offered',
  );
  assert.deepStrictEqual(
    await subject.run(askAll, [
      [[], [], day],
      [[], [], { from: 0, to: 60, least: 45 }],
      [[], [], { from: 0, to: 60, least: 61 }],
    ]),
    [[{ from: 540, to: 1020 }], [{ from: 0, to: 60 }], []],
    'a day without entries is free as a whole',
  );
  assert.deepStrictEqual(
    await subject.run(askAll, [
      [[{ from: 540, to: 800 }], [{ from: 790, to: 1020 }], day],
      [[{ from: 0, to: 1440 }], [], day],
    ]),
    [[], []],
    'a day that is taken from edge to edge has no slot',
  );
  assert.deepStrictEqual(
    await subject.run(faults, [
      [[{ from: 700, to: 690 }], [], day],
      [[], [{ from: 560, to: 600 }, { from: 610, to: 609, travel: 30 }], day],
    ]),
    [{ name: 'RangeError' }, { name: 'RangeError' }],
    'an entry that ends before it begins is refused',
  );

  const mine = [{ from: 500, to: 530, travel: 5 }, { from: 480, to: 520 }];
  const yours = [{ from: 700, to: 710 }];
  assert.deepStrictEqual(
    await subject.run(askAndKeep, mine, yours, day),
    { slots: [{ from: 540, to: 700 }, { from: 710, to: 1020 }], mine, yours, day },
    'both calendars stay as they were',
  );
};
