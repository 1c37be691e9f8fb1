'use strict';

const { generator } = require('./random.js');

function newPile(cards, random) {
  const pile = [...cards];
  for (let i = pile.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [pile[i], pile[j]] = [pile[j], pile[i]];
  }
  return pile;
}

/** The cards in a new order; see README.md. */
function shuffle(cards, seed) {
  return newPile(cards, generator(seed));
}

/** The next cards, from one pile after the other. */
function deal(cards, seed, count) {
  const random = generator(seed);
  const dealt = [];
  while (dealt.length < count && cards.length > 0) {
    const pile = newPile(cards, random);
    if (pile[0] === dealt.at(-1)) [pile[0], pile[pile.length - 1]] = [pile[pile.length - 1], pile[0]];
    dealt.push(...pile.slice(0, count - dealt.length));
  }
  return dealt;
}

module.exports = { shuffle, deal };
