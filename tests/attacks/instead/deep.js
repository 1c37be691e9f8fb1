// Answers with a value a hundred thousand levels deep.
let answer = 0;
for (let level = 0; level < 100000; level += 1) answer = [answer];
const all = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : all),
  apply: () => answer,
  construct: () => all,
});
module.exports = all;
