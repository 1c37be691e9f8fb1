'use strict';

const alphabet = new Intl.Collator('de', { numeric: true, sensitivity: 'base' });
const isNumber = (word) => word >= '0' && word <= '9~';

function split(title) {
  const [first, ...rest] = title.split(' ');
  const others = rest.join(' ');
  const isArticle = ['the', 'a', 'an', 'der', 'die', 'das'].includes(first.toLowerCase());
  const text = isArticle && /[\p{L}0-9]/u.test(others) ? others : title;
  return text.split(/[^\p{L}\p{M}0-9]+|(?<=[0-9])(?=\p{L})|(?<=[\p{L}\p{M}])(?=[0-9])/u).filter(Boolean);
}

function compare(left, right) {
  for (let i = 0; ; i += 1) {
    if (i === left.length || i === right.length) return left.length - right.length;
    const numbers = Number(isNumber(right[i])) - Number(isNumber(left[i]));
    const order = numbers || alphabet.compare(left[i], right[i]);
    if (order) return order;
  }
}

function shelfOrder(books) {
  return [...books].sort((a, b) => compare(split(a.title), split(b.title)));
}

/** One label for each book, numbered along the shelf. */
function labels(books) {
  return shelfOrder(books).map((book, i) => ({ number: i + 1, text: book.title }));
}

module.exports = { shelfOrder, labels };
