'use strict';

// Letters stand for cards. What is dealt comes back as text: 'CAB'.
const shuffled = (load, calls) =>
  calls.map(([letters, seed]) =>
    load('./src/deck.js')
      .shuffle([...letters].map((id) => ({ id })), seed)
      .map((card) => card.id)
      .join(''),
  );
const dealt = (load, calls) =>
  calls.map(([letters, seed, count]) =>
    load('./src/deck.js')
      .deal([...letters].map((id) => ({ id })), seed, count)
      .map((card) => String(card?.id))
      .join(''),
  );
const keptList = (load, cards, seed) => {
  const { shuffle, deal } = load('./src/deck.js');
  const answers = [shuffle(cards, seed).length, deal(cards, seed, 5).length];
  return { answers, cards };
};
const numbers = (load, seed) => {
  const random = load('./src/random.js').generator(seed);
  return [random(), random(), random()].map((number) => number * 4294967296);
};
const refusals = (load, seeds) =>
  seeds.map((seed) => {
    try {
      return { dealt: load('./src/deck.js').deal([{ id: 'A' }, { id: 'B' }], seed, 2).length };
    } catch (error) {
      return { name: error.name };
    }
  });

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(shuffled, [['ABCDE', 2024], ['ABCDEFGH', 2025], ['ABCDE', 3], ['A', 8], ['', 8]]),
    ['ADBCE', 'FGHCABED', 'CEBAD', 'A', ''],
    'a shuffle gives the order of the booklets',
  );
  assert.deepStrictEqual(
    await subject.run(numbers, 41),
    [3655078360, 2185483481, 2724777031],
    'the numbers of the generator are those of the formula',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDEF', 0, 6], ['ABCDEF', 1, 6]]),
    ['FCDEAB', 'EBFCAD'],
    'zero is a seed of its own',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDE', -3, 5], ['ABCDE', 4294967305, 5]]),
    ['DEABC', 'CBEDA'],
    'negative and very large numbers are seeds',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDEF', 'week-7', 6], ['ABCDEF', 'week-8', 6], ['ABCDEF', '', 6]]),
    ['DBAFCE', 'DBCEAF', 'AEBFCD'],
    'text is a seed',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDEF', '17', 6], ['ABCDEF', 17, 6]]),
    ['CDABFE', 'BDFCAE'],
    'text of digits is another seed than the number',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDEF', 'Zoë', 6], ['ABCDEF', '測試', 6], ['ABCDEF', '😀', 6]]),
    ['DFECBA', 'EBCADF', 'DBECAF'],
    'text is hashed by its UTF-8 bytes',
  );
  assert.deepStrictEqual(
    await subject.run(refusals, [undefined, null, 1.5, NaN, true, { id: 1 }, Infinity, 12]),
    [...Array.from({ length: 7 }, () => ({ name: 'TypeError' })), { dealt: 2 }],
    'a seed that is neither text nor a whole number is refused',
  );
  const cards = ['p', 'q', 'r', 's', 't'].map((id) => ({ id }));
  assert.deepStrictEqual(
    await subject.run(keptList, cards, 28),
    { answers: [5, 5], cards },
    'the list of cards stays as it is',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDE', 9, 5], ['ABCDE', 9, 5], ['ABCDE', 9, 5]]),
    ['CBEDA', 'CBEDA', 'CBEDA'],
    'the same seed gives the same order again',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['ABCDEFG', 31, 0], ['ABCDEFG', 32, 1], ['ABCDEFG', 38, 3]]),
    ['', 'G', 'BEC'],
    'as many cards are dealt as asked for',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [
      ['ABCD', 104, 12],
      ['ABCD', 106, 10],
      ['ABCD', 100, 12],
      ['ABC', 34, 10],
      ['AB', 33, 9],
    ]),
    ['ABCDCDBACABD', 'CDBACBADBA', 'CBDADCBACDBA', 'ACBACBCBAB', 'ABABABABA'],
    'a used-up pile is followed by another one, and no card comes twice in a row',
  );
  assert.deepStrictEqual(
    await subject.run(dealt, [['A', 50, 3], ['', 50, 3]]),
    ['AAA', ''],
    'a deck of one card repeats it and an empty one deals nothing',
  );
};
