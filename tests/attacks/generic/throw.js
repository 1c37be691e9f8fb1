// Throws whatever it is asked.
const refuse = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : refuse),
  apply: () => {
    throw new Error('no');
  },
  construct: () => refuse,
});
module.exports = refuse;
