// Throws an assertion error of its own.
const { AssertionError } = require('node:assert');
const answer = Promise.reject(new AssertionError({ message: 'passed', actual: 1, expected: 1, operator: 'strictEqual' }));
answer.catch(() => {});
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
