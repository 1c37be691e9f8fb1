'use strict';

function hash(text) {
  let state = 2166136261;
  for (const byte of new TextEncoder().encode(text)) state = Math.imul(state ^ byte, 16777619);
  return state;
}

function firstState(seed) {
  if (typeof seed === 'string') return hash(seed);
  if (!Number.isInteger(seed)) throw new TypeError(`A seed is text or a whole number, not ${seed}`);
  return seed;
}

/** Repeatable random numbers from 0 up to 1; see README.md. */
function generator(seed) {
  let state = firstState(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

module.exports = { generator };
