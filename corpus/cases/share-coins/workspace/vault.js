'use strict';

function failure(code) {
  return Object.assign(new Error(code), { code });
}

function createVault({ token, address, now }) {
  const shares = new Map();
  let totalShares = 0n;

  const own = (user) => shares.get(user) || 0n;

  function sharePrice() {
    if (totalShares === 0n) return '1000000';
    return String(Math.floor((Number(token.balanceOf(address)) / Number(totalShares)) * 1000000));
  }

  function deposit(user, amountText, { deadline = Infinity } = {}) {
    if (now() >= deadline) throw failure('Expired');
    const amount = BigInt(amountText);
    const before = token.balanceOf(address);
    const minted = totalShares === 0n ? amount : BigInt(Math.floor(Number(amount) / (Number(before) / Number(totalShares))));
    token.transfer(user, address, amount);
    shares.set(user, own(user) + minted);
    totalShares += minted;
    return String(minted);
  }

  function withdraw(user, sharesText, { minAmount = '-1', deadline = Infinity } = {}) {
    if (now() >= deadline) throw failure('Expired');
    const burned = BigInt(sharesText);
    if (own(user) < burned) throw failure('Insufficient');
    const amount = BigInt(Math.floor(Number(burned) * (Number(token.balanceOf(address)) / Number(totalShares))));
    if (amount <= BigInt(minAmount)) throw failure('Slippage');
    totalShares -= burned;
    token.transfer(address, user, amount);
    shares.set(user, own(user) - burned);
    return String(amount);
  }

  function reward(from, amountText) {
    token.transfer(from, address, BigInt(amountText));
  }

  function move(from, to, sharesText) {
    const count = BigInt(sharesText);
    if (own(from) < count) throw failure('Insufficient');
    shares.set(from, own(from) - count);
    shares.set(to, own(to) + count);
  }

  return { deposit, withdraw, reward, move, sharePrice, sharesOf: (user) => String(own(user)) };
}

module.exports = { createVault };
