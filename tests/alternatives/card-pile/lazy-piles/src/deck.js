'use strict';

const { generator } = require('./random.js');

function swap(list, a, b) {
  const kept = list[a];
  list[a] = list[b];
  list[b] = kept;
}

function* piles(cards, next) {
  let last;
  for (;;) {
    const pile = cards.slice();
    let left = pile.length;
    while (left > 1) {
      const place = Math.trunc(next() * left);
      left -= 1;
      swap(pile, left, place);
    }
    if (last !== undefined && pile[0] === last) swap(pile, 0, pile.length - 1);
    last = pile[pile.length - 1];
    yield* pile;
  }
}

exports.deal = (cards, seed, count) => {
  const source = piles(cards, generator(seed));
  const hand = [];
  while (cards.length && hand.length < count) hand.push(source.next().value);
  return hand;
};

exports.shuffle = (cards, seed) => exports.deal(cards, seed, cards.length);
