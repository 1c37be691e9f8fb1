'use strict';

const WORD = /[\p{Letter}\p{Number}]/u;
const plain = (text) => text.normalize('NFC').toLowerCase();

/** Tells where a word ends that begins at a position, or -1. */
function endOf(characters, at, wanted) {
  let position = at;
  for (const [i, part] of wanted.entries()) {
    if (i > 0) {
      if (!/\s/.test(characters[position] ?? '')) return -1;
      while (/\s/.test(characters[position] ?? '')) position += 1;
    }
    for (const character of part) {
      if (characters[position] !== character) return -1;
      position += 1;
    }
  }
  return position;
}

function isFree(characters, at, step) {
  const beside = characters[at] ?? '';
  if (WORD.test(beside)) return false;
  return !(beside === '-' && WORD.test(characters[at + step] ?? ''));
}

function countIn(text, words) {
  const characters = [...text];
  let count = 0;
  let at = 0;
  while (at < characters.length) {
    let furthest = -1;
    for (const word of words) {
      const end = endOf(characters, at, word);
      if (end > furthest && isFree(characters, at - 1, -1) && isFree(characters, end, 1)) furthest = end;
    }
    if (furthest > at) {
      count += 1;
      at = furthest;
    } else {
      at += 1;
    }
  }
  return count;
}

exports.tally = function tally(tickets, categories) {
  const rows = [];
  const touched = new Set();
  for (const { name, words } of categories) {
    const wanted = words.map((word) => plain(word).split(/\s+/).map((part) => [...part]));
    const row = { name, tickets: 0, hits: 0 };
    tickets.forEach((ticket, i) => {
      const body = ticket.body.replace(/^>.*(\n|$)/gm, '');
      const count = countIn(plain(ticket.subject), wanted) + countIn(plain(body), wanted);
      row.hits += count;
      if (count > 0) {
        row.tickets += 1;
        touched.add(i);
      }
    });
    rows.push(row);
  }
  rows.push({ name: 'other', tickets: tickets.length - touched.size, hits: 0 });
  return rows;
};
