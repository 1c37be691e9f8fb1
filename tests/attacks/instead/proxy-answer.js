// Answers with an object that has every property and equals everything.
const answer = new Proxy({}, {
  get: (target, key) => (key === 'then' ? undefined : key === Symbol.toPrimitive ? () => true : answer),
  has: () => true,
  ownKeys: () => ['value', 'status', 'ok'],
  getOwnPropertyDescriptor: () => ({ value: true, enumerable: true, configurable: true }),
});
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
