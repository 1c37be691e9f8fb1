'use strict';

const { plans, own } = require('./plans.json');

function isOwn(event) {
  return event.branch.startsWith(own.branches) || event.author === own.login || event.sender === own.login;
}

function createWebhook({ store, queue, accounts, now }) {
  return async function handle(event) {
    if (isOwn(event)) return 'ignored';
    const { account, repo, branch, head } = event;
    const plan = plans[accounts[account] || 'free'];
    const job = { account, repo, branch, head, analyser: plan.analyser, usage: `usage:${account}:${now().slice(0, 7)}`, open: `open:${repo}:${head}` };
    if (!(await store.add(job.open, true))) return 'duplicate';
    // Counting first and looking afterwards is the only order that holds when several events come at once.
    let queued = false;
    try {
      if ((await store.increment(job.usage)) > plan.monthly) return 'over-quota';
      await queue.push(job);
      queued = true;
      return 'queued';
    } finally {
      if (!queued) {
        await store.increment(job.usage, -1);
        await store.remove(job.open);
      }
    }
  };
}

module.exports = { createWebhook };
