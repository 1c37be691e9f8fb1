'use strict';

const { plans } = require('./plans.json');

// Places of an account in a month, and the commits that have a job.
class Ledger {
  constructor({ store, accounts }) {
    this.store = store;
    this.accounts = accounts;
  }

  planOf(account) {
    return plans[Object.keys(plans).includes(this.accounts[account]) ? this.accounts[account] : 'free'];
  }

  async take({ account, month }) {
    const place = await this.store.increment(`usage:${account}:${month}`, 1);
    if (place <= this.planOf(account).monthly) return true;
    await this.giveBack({ account, month });
    return false;
  }

  giveBack({ account, month }) {
    return this.store.increment(`usage:${account}:${month}`, -1);
  }

  open({ repo, head }) {
    return this.store.add(`job ${repo} ${head}`, 1);
  }

  close({ repo, head }) {
    return this.store.remove(`job ${repo} ${head}`);
  }
}

module.exports = { Ledger };
