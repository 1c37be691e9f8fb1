'use strict';

const { generator } = require('./random.js');

/** The cards in a new order; see README.md. */
function shuffle(cards, seed) {
  const random = generator(seed);
  return cards.sort(() => random() - 0.5);
}

/** The next cards, from one pile after the other. */
function deal(cards, seed, count) {
  return shuffle(cards, seed).slice(0, count);
}

module.exports = { shuffle, deal };
