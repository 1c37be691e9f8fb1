// Answers undefined to everything.
const silent = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : silent),
  apply: () => undefined,
  construct: () => silent,
});
module.exports = silent;
