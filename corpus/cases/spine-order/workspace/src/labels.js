'use strict';

/** The books in the order of the shelf; see README.md. */
function shelfOrder(books) {
  return books.sort((a, b) => (a.title > b.title ? 1 : -1));
}

/** One label for each book, numbered along the shelf. */
function labels(books) {
  return shelfOrder(books).map((book, i) => ({ number: i + 1, text: book.title }));
}

module.exports = { shelfOrder, labels };
