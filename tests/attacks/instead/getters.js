// Answers with properties that change each time they are read.
const answer = {
  get value() {
    return Math.random();
  },
  get length() {
    return process.hrtime.bigint();
  },
  get error() {
    throw new Error('read');
  },
};
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
