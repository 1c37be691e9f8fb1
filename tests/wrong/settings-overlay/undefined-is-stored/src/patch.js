'use strict';

const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

function isPlain(value) {
  return Object.prototype.toString.call(value) === '[object Object]';
}

const namedEntries = (object) => Object.entries(object).filter(([key]) => !REFUSED.has(key));

/** A copy that shares nothing; a list keeps its nulls. */
function copy(value) {
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(copy);
  if (isPlain(value)) return Object.fromEntries(namedEntries(value).map(([key, inner]) => [key, copy(inner)]));
  return value;
}

/** New settings: the old ones with a change applied; see README.md. */
function apply(settings, change) {
  if (!isPlain(change)) throw new TypeError('A change must be a plain object');
  const answer = copy(settings);
  for (const [key, value] of namedEntries(change)) {
    if (value === null) {
      delete answer[key];
    } else if (isPlain(value)) {
      const before = Object.hasOwn(settings, key) && isPlain(settings[key]) ? settings[key] : {};
      answer[key] = apply(before, value);
    } else {
      answer[key] = copy(value);
    }
  }
  return answer;
}

module.exports = { apply };
