'use strict';

// Each word becomes text that sorts right as it is: numbers get their length in front, words are closed by \u0001.
function key(title) {
  let text = title.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').replace(/ß/g, 'ss').toLowerCase();
  const article = text.match(/^(the|a|an|der|die|das) /);
  if (article && /[a-z0-9]/.test(text.slice(article[0].length))) text = text.slice(article[0].length);
  let sorted = '';
  for (const [word] of text.matchAll(/[a-z]+|[0-9]+/g)) {
    if (/[0-9]/.test(word)) {
      const digits = word.replace(/^0+(?=.)/, '');
      sorted += '0' + String(digits.length).padStart(6, '0') + digits + '\u0001';
    } else {
      sorted += word + '\u0001';
    }
  }
  return sorted;
}

function shelfOrder(books) {
  const keys = new Map(books.map((book) => [book, key(book.title)]));
  return books.slice().sort((a, b) => {
    if (keys.get(a) === keys.get(b)) return 0;
    return keys.get(a) > keys.get(b) ? 1 : -1;
  });
}

/** One label for each book, numbered along the shelf. */
function labels(books) {
  return shelfOrder(books).map((book, i) => ({ number: i + 1, text: book.title }));
}

module.exports = { shelfOrder, labels };
