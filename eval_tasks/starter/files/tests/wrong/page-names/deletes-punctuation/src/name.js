'use strict';

const LONGEST = 40;

/** Cut a name after its last word that fits whole, or inside its first. */
function cut(name, length) {
  if (name.length <= length) return name;
  const end = name.lastIndexOf('-', length);
  return name.slice(0, end > 0 ? end : length);
}

/** Under which name a new page is found; see README.md. */
function pageName(title, taken) {
  const plain = title.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const whole = plain.replace(/[^a-z0-9\s_-]+/g, '').replace(/[\s_-]+/g, '-').replace(/^-|-$/g, '') || 'untitled';
  let name = cut(whole, LONGEST);
  for (let number = 2; taken.includes(name); number += 1) {
    const ending = `-${number}`;
    name = cut(whole, LONGEST - ending.length) + ending;
  }
  return name;
}

module.exports = { pageName };
