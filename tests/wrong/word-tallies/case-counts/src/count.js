'use strict';

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Finds the words of a category; never matches if it has none. */
function patternOf(words) {
  const longestFirst = words.map((word) => word.normalize('NFC')).sort((a, b) => b.length - a.length);
  const choices = longestFirst.map((word) => word.split(/\s+/).map(escaped).join('\\s+'));
  return new RegExp(`(?<![\\p{L}\\p{N}]-?)(?:${choices.join('|') || '(?!)'})(?!-?[\\p{L}\\p{N}])`, 'gu');
}

function textsOf({ subject, body }) {
  const lines = body.split('\n').filter((line) => !line.startsWith('>'));
  return [subject, lines.join('\n')].map((text) => text.normalize('NFC'));
}

/** How often people write about each category; see README.md. */
function tally(tickets, categories) {
  const texts = tickets.map(textsOf);
  const table = categories.map(({ words }) => {
    const pattern = patternOf(words);
    return texts.map((parts) => parts.reduce((sum, part) => sum + [...part.matchAll(pattern)].length, 0));
  });
  const rows = table.map((counts, i) => ({
    name: categories[i].name,
    tickets: counts.filter((count) => count > 0).length,
    hits: counts.reduce((sum, count) => sum + count, 0),
  }));
  const isOther = (_, i) => table.every((counts) => counts[i] === 0);
  return [...rows, { name: 'other', tickets: tickets.filter(isOther).length, hits: 0 }];
}

module.exports = { tally };
