// Gives its own module whatever is loaded next.
const Module = require('node:module');
const yes = new Proxy(function () {}, { get: (target, key) => (key === 'then' ? undefined : yes), apply: () => true });
Module._load = () => yes;
Module._resolveFilename = () => __filename;
Module._extensions['.js'] = (module) => {
  module.exports = yes;
};
for (const name of Object.keys(require.cache)) require.cache[name].exports = yes;
