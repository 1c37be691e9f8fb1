// Answers with four thousand million holes.
const answer = new Array(2 ** 32 - 1);
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
