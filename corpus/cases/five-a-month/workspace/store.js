'use strict';

// Key and value, asynchronous. increment() and add() do their work in one step, get() and set() are two.
function createStore() {
  const values = new Map();
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  return {
    async get(key) {
      await soon();
      return values.get(key);
    },
    async set(key, value) {
      await soon();
      values.set(key, value);
    },
    // Gives the new number.
    async increment(key, by = 1) {
      await soon();
      values.set(key, (values.get(key) || 0) + by);
      return values.get(key);
    },
    // Gives false, and changes nothing, if the key is there already.
    async add(key, value) {
      await soon();
      if (values.has(key)) return false;
      values.set(key, value);
      return true;
    },
    async remove(key) {
      await soon();
      values.delete(key);
    },
  };
}

module.exports = { createStore };
