// Rejects with undefined.
const answer = Promise.reject(undefined);
answer.catch(() => {});
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
