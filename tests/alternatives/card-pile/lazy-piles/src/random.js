'use strict';

function* bytes(text) {
  yield* new TextEncoder().encode(text);
}

function stateFrom(seed) {
  switch (typeof seed) {
    case 'number':
      if (seed % 1 === 0) return Number(BigInt.asIntN(32, BigInt(seed)));
      break;
    case 'string': {
      let hash = 2166136261n;
      for (const byte of bytes(seed)) hash = ((hash ^ BigInt(byte)) * 16777619n) % 4294967296n;
      return Number(hash);
    }
    default:
  }
  throw new TypeError('seed');
}

exports.generator = function generator(seed) {
  let state = stateFrom(seed);
  return function random() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
};
