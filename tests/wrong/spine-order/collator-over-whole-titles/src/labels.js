'use strict';

const collator = new Intl.Collator('de', { numeric: true, sensitivity: 'base' });
const key = (title) => title.replace(/^(the|a|an|der|die|das)\b\W*(?=\w)/i, '');

function shelfOrder(books) {
  return [...books].sort((a, b) => collator.compare(key(a.title), key(b.title)));
}

/** One label for each book, numbered along the shelf. */
function labels(books) {
  return shelfOrder(books).map((book, i) => ({ number: i + 1, text: book.title }));
}

module.exports = { shelfOrder, labels };
