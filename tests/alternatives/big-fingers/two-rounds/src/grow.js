'use strict';

const { hitArea: { atLeast, ideal } } = require('../tokens.json');

/** A control as a rectangle with edges; decorations are left out of everything. */
class Box {
  constructor(control) {
    this.id = control.id;
    this.edges = { left: control.x, right: control.x + control.width, top: control.y, bottom: control.y + control.height };
    this.needs = { horizontal: Box.needs(control.width), vertical: Box.needs(control.height) };
    this.grown = { top: 0, right: 0, bottom: 0, left: 0 };
  }

  /** Pixels a side wants: for the duty, and for the wish on top of it. */
  static needs(size) {
    const duty = Math.max(atLeast - size, 0) / 2;
    return [duty, Math.max(ideal - size, 0) / 2 - duty];
  }
}

/** Split `room` between two wishes: the smaller one is served first, up to half. */
function split(room, a, b) {
  if (a > b) return split(room, b, a).reverse();
  const first = Math.min(a, room / 2);
  return [first, Math.min(b, room - first)];
}

/** Give two boxes that face each other across a gap their parts of it. */
function settle(gap, near, far) {
  let room = gap;
  const parts = [0, 0];
  for (const round of [0, 1]) {
    const [a, b] = split(room, near[round], far[round]);
    parts[0] += a;
    parts[1] += b;
    room -= a + b;
  }
  return parts;
}

function facing(a, b) {
  const horizontal = Math.max(b.edges.left - a.edges.right, a.edges.left - b.edges.right);
  const vertical = Math.max(b.edges.top - a.edges.bottom, a.edges.top - b.edges.bottom);
  if (horizontal >= vertical) {
    const [first, second] = a.edges.left < b.edges.left ? [a, b] : [b, a];
    return { gap: horizontal, axis: 'horizontal', first, second, sides: ['right', 'left'] };
  }
  const [first, second] = a.edges.top < b.edges.top ? [a, b] : [b, a];
  return { gap: vertical, axis: 'vertical', first, second, sides: ['bottom', 'top'] };
}

function grow(bar) {
  const boxes = new Map(bar.controls.filter(({ decoration }) => !decoration).map((control) => [control.id, new Box(control)]));
  for (const box of boxes.values()) {
    const room = { top: box.edges.top, left: box.edges.left, right: bar.width - box.edges.right, bottom: bar.height - box.edges.bottom };
    for (const side of Object.keys(room)) {
      const [duty, wish] = box.needs[side === 'top' || side === 'bottom' ? 'vertical' : 'horizontal'];
      box.grown[side] = Math.min(duty + wish, room[side]);
    }
  }
  const list = [...boxes.values()];
  list.forEach((a, index) => {
    for (const b of list.slice(index + 1)) {
      const { gap, axis, first, second, sides } = facing(a, b);
      const parts = settle(gap, first.needs[axis], second.needs[axis]);
      [first, second].forEach((box, n) => {
        box.grown[sides[n]] = Math.min(box.grown[sides[n]], parts[n]);
      });
    }
  });
  const none = { top: 0, right: 0, bottom: 0, left: 0 };
  return bar.controls.map(({ id }) => ({ id, ...(boxes.has(id) ? boxes.get(id).grown : none) }));
}

module.exports = { grow };
