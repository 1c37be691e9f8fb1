// Answers with fifty million characters.
const answer = 'x'.repeat(5e7);
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
