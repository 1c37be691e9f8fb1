'use strict';

const SCALE = 1000000n;

function failure(code) {
  return Object.assign(new Error(code), { code });
}

function createVault({ token, address, now }) {
  const shares = new Map();
  let totalShares = 0n;
  // Own books: what sits at the address may have come past us.
  let totalAssets = 0n;
  let busy = false;

  const own = (user) => shares.get(user) || 0n;

  // One call at a time, and the lock opens again however the call ends.
  function guarded(work, nests = false) {
    return (...args) => {
      if (busy && !nests) throw failure('Busy');
      const before = busy;
      busy = true;
      try {
        return work(...args);
      } finally {
        busy = before;
      }
    };
  }

  function checkDeadline(deadline) {
    if (deadline !== undefined && now() > deadline) throw failure('Expired');
  }

  function receive(from, amount) {
    const before = token.balanceOf(address);
    token.transfer(from, address, amount);
    return token.balanceOf(address) - before;
  }

  function deposit(user, amount, { deadline } = {}) {
    checkDeadline(deadline);
    const received = receive(user, BigInt(amount));
    const minted = totalShares === 0n ? received : (received * totalShares) / totalAssets;
    totalAssets += received;
    totalShares += minted;
    shares.set(user, own(user) + minted);
    return String(minted);
  }

  function withdraw(user, count, { minAmount, deadline } = {}) {
    checkDeadline(deadline);
    const burned = BigInt(count);
    if (own(user) < burned) throw failure('Insufficient');
    const amount = (burned * totalAssets) / totalShares;
    if (minAmount !== undefined && amount < BigInt(minAmount)) throw failure('Slippage');
    token.transfer(address, user, amount);
    shares.set(user, own(user) - burned);
    totalShares -= burned;
    totalAssets -= amount;
    return String(amount);
  }

  function reward(from, amount) {
    totalAssets += receive(from, BigInt(amount));
  }

  function move(from, to, count) {
    const moved = BigInt(count);
    if (own(from) < moved) throw failure('Insufficient');
    shares.set(from, own(from) - moved);
    shares.set(to, own(to) + moved);
  }

  function sharePrice() {
    return String(totalShares === 0n ? SCALE : (totalAssets * SCALE) / totalShares);
  }

  return {
    deposit: guarded(deposit),
    withdraw: guarded(withdraw, true),
    reward: guarded(reward),
    move: guarded(move),
    sharePrice,
    sharesOf: (user) => String(own(user)),
  };
}

module.exports = { createVault };
