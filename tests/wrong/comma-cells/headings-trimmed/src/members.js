'use strict';

const { parse, format } = require('./csv.js');

/** Reads members as objects, one key per heading; a missing cell is an empty string. */
function readMembers(text) {
  const [headings = [], ...rows] = parse(text);
  return rows.map((row) => Object.fromEntries(headings.map((heading, i) => [heading.trim(), row[i] ?? ''])));
}

/** Writes members under the given headings. */
function writeMembers(headings, members) {
  return format([headings, ...members.map((member) => headings.map((heading) => member[heading]))]);
}

module.exports = { readMembers, writeMembers };
