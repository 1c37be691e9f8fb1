// Answers with ten million items.
const answer = new Array(1e7).fill(0);
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
