// Answers with its first argument.
const echo = new Proxy(function () {}, {
  get: (target, key) => (key === 'prototype' ? target.prototype : key === 'then' || typeof key === 'symbol' ? undefined : echo),
  apply: (target, self, [first]) => first,
  construct: () => echo,
});
module.exports = echo;
