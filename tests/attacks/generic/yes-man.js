// Answers true to everything.
const yes = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : yes),
  apply: () => true,
  construct: () => yes,
});
module.exports = yes;
