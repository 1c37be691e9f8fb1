'use strict';

const { own } = require('./plans.json');
const { Ledger } = require('./ledger.js');

exports.createWebhook = ({ store, queue, accounts, now }) => {
  const ledger = new Ledger({ store, accounts });
  return async ({ account, repo, branch, head, author }) => {
    if (author === own.login || branch.indexOf(own.branches) === 0) return 'ignored';
    const job = { account, repo, branch, head, month: now().substring(0, 7) };
    if ((await ledger.open(job)) === false) return 'duplicate';
    if (!(await ledger.take(job))) {
      await ledger.close(job);
      return 'over-quota';
    }
    try {
      await queue.push(job);
    } catch (error) {
      await Promise.all([ledger.giveBack(job), ledger.close(job)]);
      throw error;
    }
    return 'queued';
  };
};
