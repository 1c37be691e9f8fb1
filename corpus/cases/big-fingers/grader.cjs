'use strict';

module.exports = async ({ subject, assert }) => {
  const grow = async (controls, width = 400, height = 300) => {
    const { value, error } = await subject.attempt((load, bar) => load('./src/grow.js').grow(bar), { width, height, controls });
    return error ? error.name : value;
  };
  const button = (id, x, y, width = 24, height = width) => ({ id, x, y, width, height });
  /** Each control's reach as [top, right, bottom, left], rounded to a thousandth, in the order of the answer. */
  const reach = async (...given) => {
    const value = await grow(...given);
    if (!Array.isArray(value)) return value;
    const round = (number) => Math.round(number * 1000) / 1000 + 0;
    return value.map((each) => [each.top, each.right, each.bottom, each.left].map(round));
  };
  /** What two buttons of these widths get of the gap between them: [right of the left one, left of the right one]. */
  const between = async (left, right, gap) => {
    const [a, b] = await reach([button('l', 50, 100, left, 50), button('r', 50 + left + gap, 100, right, 50)]);
    return [a[1], b[3]];
  };

  const roomy = [button('only', 100, 100), button('tall', 300, 200, 31, 60), button('big', 100, 200, 80, 44)];
  const named = await grow(roomy);
  assert.deepStrictEqual([Array.isArray(named) && named.map((each) => each.id), await reach(roomy)],
    [['only', 'tall', 'big'], [[10, 10, 10, 10], [0, 6.5, 0, 6.5], [0, 0, 0, 0]]],
    'with room a button gets the ideal and a large one stays as it is');
  const widths = [[24, 24, 21], [24, 24, 20], [30, 20, 19], [24, 24, 18], [24, 24, 16], [24, 24, 6], [20, 20, 7]];
  const gaps = [];
  for (const [left, right, gap] of widths) gaps.push(await between(left, right, gap));
  assert.deepStrictEqual(gaps, [[10, 10], [10, 10], [7, 12], [9, 9], [8, 8], [3, 3], [3.5, 3.5]],
    'areas may touch, and a narrow gap is shared evenly');
  assert.deepStrictEqual([await between(24, 60, 10), await between(24, 60, 7), await between(52, 26, 8.5)],
    [[10, 0], [7, 0], [0, 8.5]], 'a large neighbour leaves the gap to the small one');
  assert.deepStrictEqual([await between(24, 40, 8), await between(40, 24, 9)], [[8, 0], [0.5, 8.5]],
    'the minimum of one goes before the ideal of the other');
  assert.deepStrictEqual([await between(38, 30, 4), await between(10, 36, 8)], [[1, 3], [6, 2]],
    'who wants less of the minimum leaves the rest');
  assert.deepStrictEqual([await between(24, 42, 10.5), await between(24, 42, 10)], [[9.5, 1], [9, 1]],
    'who wants less of the ideal leaves the rest');
  assert.deepStrictEqual(await reach([button('up', 100, 50, 50, 20), button('down', 100, 76, 50, 28)]),
    [[12, 0, 3, 0], [3, 0, 8, 0]], 'above each other as beside each other');
  assert.deepStrictEqual(await reach([button('a', 20, 60), button('b', 56, 60), button('c', 86, 60), button('d', 210, 60)]),
    [[10, 6, 10, 10], [10, 3, 10, 6], [10, 10, 10, 3], [10, 10, 10, 10]], 'every gap of a row for itself');
  assert.deepStrictEqual(await reach([button('r', 60, 60), button('l', 20, 60)]), [[10, 10, 10, 8], [10, 8, 10, 10]],
    'the order of the list decides nothing');
  assert.deepStrictEqual(
    await reach([button('corner', 0, 0, 20), button('rim', 173, 33, 24)], 200, 60),
    [[0, 12, 12, 0], [10, 3, 3, 10]], 'nothing reaches out of the bar');
  assert.deepStrictEqual(
    [await reach([button('a', 40, 40), button('b', 80, 74)]), await reach([button('d', 73, 36), button('c', 40, 74)]),
      await reach([button('e', 40, 40), button('f', 64, 84), button('g', 40, 124, 24, 16)])],
    [[[10, 8, 10, 10], [10, 10, 10, 8]], [[10, 10, 7, 10], [7, 10, 10, 10]], [[10, 10, 10, 10], [10, 10, 8, 10], [8, 10, 14, 10]]],
    'cornerwise the wider gap is shared');
  const line = { ...button('line', 66, 40, 1, 24), decoration: true };
  assert.deepStrictEqual(await reach([button('a', 40, 40), line, button('b', 68, 40)]),
    [[10, 2, 10, 10], [0, 0, 0, 0], [10, 10, 10, 2]], 'decoration takes no taps and no room');
};
