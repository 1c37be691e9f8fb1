'use strict';

const ARTICLE = /^(?:the|an?|der|die|das) (?=.*[\p{L}\d])/iu;
const WORD = /\p{L}+|\d+/gu;

/** A letter without accents and case, as the alphabet of the shelf has it. */
function plain(title) {
  return title.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
}

function words(title) {
  const found = plain(title).replace(ARTICLE, '').match(WORD) ?? [];
  return found.map((word) => (/\d/.test(word) ? BigInt(word) : word));
}

function compareWords(a, b) {
  const kinds = Number(typeof a === 'string') - Number(typeof b === 'string');
  return kinds || Number(a > b) - Number(a < b);
}

function compareTitles(a, b) {
  const orders = a.slice(0, b.length).map((word, i) => compareWords(word, b[i]));
  return orders.find((order) => order !== 0) ?? a.length - b.length;
}

/** The books in the order of the shelf; see README.md. */
function shelfOrder(books) {
  return books
    .map((book) => ({ book, words: words(book.title) }))
    .sort((a, b) => compareTitles(a.words, b.words))
    .map(({ book }) => book);
}

/** One label for each book, numbered along the shelf. */
function labels(books) {
  return shelfOrder(books).map((book, i) => ({ number: i + 1, text: book.title }));
}

module.exports = { shelfOrder, labels };
