'use strict';

const oops = (code) => Object.assign(new Error(`vault: ${code}`), { code });

class Vault {
  constructor({ token, address, now }) {
    Object.assign(this, { token, address, now, holders: {}, issued: 0n, assets: 0n, calls: 0 });
  }

  // The coins move first and the books follow, which is safe because nothing else can run meanwhile.
  only(work) {
    if (this.calls > 0) throw oops('Reentrant');
    this.calls += 1;
    try {
      return work();
    } finally {
      this.calls -= 1;
    }
  }

  own(user) {
    return Object.hasOwn(this.holders, user) ? this.holders[user] : 0n;
  }

  arrived(from, amount) {
    const earlier = this.token.balanceOf(this.address);
    this.token.transfer(from, this.address, BigInt(amount));
    return this.token.balanceOf(this.address) - earlier;
  }

  inTime(deadline = Number.POSITIVE_INFINITY) {
    if (!(this.now() <= deadline)) throw oops('Expired');
  }

  deposit(user, amount, options = {}) {
    return this.only(() => {
      this.inTime(options.deadline);
      const coins = this.arrived(user, amount);
      const fresh = this.issued > 0n ? (coins * this.issued) / this.assets : coins;
      this.issued += fresh;
      this.assets += coins;
      this.holders[user] = this.own(user) + fresh;
      return fresh.toString();
    });
  }

  withdraw(user, count, options = {}) {
    return this.only(() => {
      this.inTime(options.deadline);
      const shares = BigInt(count);
      if (shares > this.own(user)) throw oops('Insufficient');
      const coins = (shares * this.assets) / this.issued;
      if (coins < BigInt(options.minAmount || 0)) throw oops('Slippage');
      this.token.transfer(this.address, user, coins);
      this.holders[user] = this.own(user) - shares;
      this.issued -= shares;
      this.assets -= coins;
      return coins.toString();
    });
  }

  reward(from, amount) {
    this.only(() => {
      this.assets += this.arrived(from, amount);
    });
  }

  move(from, to, count) {
    this.only(() => {
      const shares = BigInt(count);
      if (shares > this.own(from)) throw oops('Insufficient');
      this.holders[from] = this.own(from) - shares;
      this.holders[to] = this.own(to) + shares;
    });
  }

  sharesOf(user) {
    return this.own(user).toString();
  }

  sharePrice() {
    return (this.issued ? (this.assets * 1000000n) / this.issued : 1000000n).toString();
  }
}

exports.createVault = (parts) => new Vault(parts);
