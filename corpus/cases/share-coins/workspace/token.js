'use strict';

// A coin with an optional tax: of what is sent, so many per cent vanish on the way. Whoever watches an address is called
// after each transfer from or to it; if he throws, the transfer did not happen.
function createToken({ taxPercent = 0n } = {}) {
  const balances = new Map();
  const watchers = new Map();

  function balanceOf(address) {
    return balances.get(address) || 0n;
  }

  return {
    balanceOf,
    mint(address, amount) {
      balances.set(address, balanceOf(address) + amount);
    },
    watch(address, watcher) {
      watchers.set(address, watcher);
    },
    transfer(from, to, amount) {
      if (balanceOf(from) < amount) throw Object.assign(new Error('not enough coins'), { code: 'Funds' });
      const arriving = amount - (amount * taxPercent) / 100n;
      balances.set(from, balanceOf(from) - amount);
      balances.set(to, balanceOf(to) + arriving);
      try {
        for (const address of [from, to]) if (watchers.has(address)) watchers.get(address)({ from, to, amount });
      } catch (error) {
        balances.set(to, balanceOf(to) - arriving);
        balances.set(from, balanceOf(from) + amount);
        throw error;
      }
    },
  };
}

module.exports = { createToken };
