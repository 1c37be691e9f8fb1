'use strict';

const { plans, own } = require('./plans.json');

function createWebhook({ store, queue, accounts, now }) {
  return async function handle(event) {
    if (event.sender === own.login) return 'ignored';
    const plan = plans[accounts[event.account]];
    const used = (await store.get(`usage:${event.account}:${now().slice(0, 7)}`)) || 0;
    if (used >= plan.monthly) return 'over-quota';
    const { account, repo, branch, head } = event;
    await queue.push({ account, repo, branch, head });
    return 'queued';
  };
}

module.exports = { createWebhook };
