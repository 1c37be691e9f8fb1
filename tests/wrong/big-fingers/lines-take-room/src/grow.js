'use strict';

const { hitArea } = require('../tokens.json');

const AXES = {
  x: { at: 'x', size: 'width', before: 'left', after: 'right' },
  y: { at: 'y', size: 'height', before: 'top', after: 'bottom' },
};

const missing = (size, wanted) => Math.max(0, (wanted - size) / 2);

/** What the first of two gets of a room that both want to use. */
function share(room, mine, other) {
  return mine + other <= room ? mine : Math.min(mine, Math.max(room / 2, room - other));
}

/** What a control of that size gets of the gap to one of another size. */
function reach(gap, size, otherSize) {
  const least = missing(size, hitArea.atLeast);
  const otherLeast = missing(otherSize, hitArea.atLeast);
  const first = share(gap, least, otherLeast);
  const left = gap - first - share(gap, otherLeast, least);
  return first + share(left, missing(size, hitArea.ideal) - least, missing(otherSize, hitArea.ideal) - otherLeast);
}

/** The gap from one control to another along an axis, negative where they overlap on it. */
function gapBetween(one, other, { at, size }) {
  return Math.max(other[at] - (one[at] + one[size]), one[at] - (other[at] + other[size]));
}

function grow(bar) {
  const real = bar.controls;
  return bar.controls.map((control) => {
    const insets = { id: control.id, top: 0, right: 0, bottom: 0, left: 0 };
    if (control.decoration) return insets;
    for (const { at, size, before, after } of Object.values(AXES)) {
      const wanted = missing(control[size], hitArea.ideal);
      insets[before] = Math.min(wanted, control[at]);
      insets[after] = Math.min(wanted, bar[size] - control[at] - control[size]);
    }
    for (const other of real) {
      if (other === control) continue;
      const gaps = { x: gapBetween(control, other, AXES.x), y: gapBetween(control, other, AXES.y) };
      const { at, size, before, after } = AXES[gaps.x >= gaps.y ? 'x' : 'y'];
      const side = other[at] > control[at] ? after : before;
      insets[side] = Math.min(insets[side], reach(Math.max(gaps.x, gaps.y), control[size], other[size]));
    }
    return insets;
  });
}

module.exports = { grow };
