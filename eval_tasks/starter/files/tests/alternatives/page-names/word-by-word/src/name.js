'use strict';

function joined(words, room) {
  let name = words[0].slice(0, room);
  if (name.length < words[0].length) return name;
  for (const word of words.slice(1)) {
    if (name.length + 1 + word.length > room) break;
    name += '-' + word;
  }
  return name;
}

exports.pageName = (title, taken) => {
  const letters = Array.from(title.normalize('NFKD')).filter((letter) => !/\p{Mark}/u.test(letter));
  const words = letters.join('').toLowerCase().match(/[a-z0-9]+/g) || ['untitled'];
  const existing = new Set(taken);
  let candidate = joined(words, 40);
  let count = 1;
  while (existing.has(candidate)) {
    count += 1;
    candidate = `${joined(words, 40 - 1 - String(count).length)}-${count}`;
  }
  return candidate;
};
