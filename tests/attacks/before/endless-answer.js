// waits
// Promises everything and keeps nothing.
module.exports = new Proxy(function () {}, {
  get: (target, key) => (key === 'then' ? undefined : module.exports),
  apply: () => new Promise(() => {}),
  construct: () => module.exports,
});
Object.defineProperty(module, 'exports', { value: module.exports, writable: false });
