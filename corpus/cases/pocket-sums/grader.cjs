'use strict';

const sums = (load, texts, values) =>
  texts.map((text) => {
    try {
      // By way of JSON, so that what is no number can cross as well.
      return JSON.parse(JSON.stringify({ is: load('./src/calc.js').evaluate(text, values) })).is;
    } catch (error) {
      return { name: error.name, position: error.position };
    }
  });

const syntax = (...positions) => positions.map((position) => ({ name: 'SyntaxError', position }));

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(sums, ['2+3*4', '(2+3)*4', '10-4-3', '96/4/2*3', '7-(2-(4-9))', '1 - 8 / 4 + 5'], {}),
    [14, 20, 3, 36, 0, 4],
    'the four basic operations, from left to right, and parentheses',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['-2^2', '(-2)^2', '3*-2^2', '5-3^2', '-(1+2)^2', '2*3^2'], {}),
    [-4, 4, -12, -4, -9, 18],
    'a power is stronger than the minus in front',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['2^3^2', '(2^3)^2', '4^1^5', '2^2^0^3'], {}),
    [512, 64, 4, 2],
    'powers go from right to left',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['2^-1', '4^-1*8', '2^-2^1'], {}),
    [0.5, 2, 0.25],
    'an exponent may have a minus in front',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['--3', '2--3', '1---4', '6*--2', '- - 5'], {}),
    [3, 5, -3, 12, 5],
    'minus signs may be repeated',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['0.1+0.2', '3.50*2', '12.25', '1.75-1.5'], {}),
    [0.30000000000000004, 7, 12.25, 0.25],
    'numbers may have a fraction',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['.5', '5.', '1+.5', '5.+1', '1..2', '1.2.3'], {}),
    syntax(0, 1, 2, 1, 1, 3),
    'a point needs digits on both sides',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['a^2+ab', 'net*vat19', 'a*a', '7+none', '-b'], { a: -3, ab: 4, net: 200, vat19: 2, none: 0, b: -6 }),
    [13, 400, 9, 7, 6],
    'names stand for their values, zero and negative ones too',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['1 + gross', 'constructor', '2*(constructor)', 'a+ab', 'hasown^2'], { a: 1 }),
    [
      { name: 'ReferenceError', position: 4 },
      { name: 'ReferenceError', position: 0 },
      { name: 'ReferenceError', position: 3 },
      { name: 'ReferenceError', position: 2 },
      { name: 'ReferenceError', position: 0 },
    ],
    'only what values itself holds is known',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['1 & 2', '1.299,00', '3 + 4;', 'a.b', '2 ** 3', 'Net', '+4'], { a: 1, b: 2 }),
    syntax(2, 5, 5, 1, 3, 0, 0),
    'a sign without a meaning is refused where it stands',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['1 2', '2(3)', '2a', '(1)(2)', 'a a', '(2)3', '1 - 2  3', '4 5 & 6'], { a: 1 }),
    syntax(2, 1, 1, 3, 2, 3, 7, 2),
    'two values in a row are refused at the second',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['1 + * 2', '*2', '1+', '', '   ', '()', '2 ^ ', '-', '3*(4-)'], {}),
    syntax(4, 0, 2, 0, 3, 1, 4, 1, 5),
    'a missing value is reported where it should stand',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['(1+2', '((1)', '1+2)', ')', '(1))*2', '(3'], {}),
    syntax(4, 4, 3, 0, 3, 2),
    'parentheses must match',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['1/0', '8 / (3-3)', '0/0', '4*2/a', '1+6/2/0', '0/5'], { a: 0 }),
    [
      { name: 'RangeError', position: 1 },
      { name: 'RangeError', position: 2 },
      { name: 'RangeError', position: 1 },
      { name: 'RangeError', position: 3 },
      { name: 'RangeError', position: 5 },
      0,
    ],
    'dividing by zero is reported at its sign',
  );
  assert.deepStrictEqual(
    await subject.run(sums, ['nope + (1', '1/0 a', 'x y', '3/(1-1) +'], {}),
    syntax(9, 4, 2, 9),
    'the text is read to its end before anything is computed',
  );
};
