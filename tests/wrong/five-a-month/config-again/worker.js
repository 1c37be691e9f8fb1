'use strict';

const { own, retry } = require('./plans.json');

async function attempts(step) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await step();
    } catch (error) {
      if (attempt >= retry.attempts || !retry.codes.includes(error.code)) throw error;
    }
  }
}

function createWorker({ store, queue, analysers, github }) {
  async function publish(repo, branch, suggestions) {
    const number = await github.findPull(repo, branch);
    if (number === null) await github.createPull(repo, branch, suggestions);
    else await github.updatePull(repo, number, suggestions);
  }

  async function work(job) {
    const { repo, branch, head } = job;
    const analyse = analysers[job.analyser] || analysers.basic;
    let called = false;
    try {
      const config = await attempts(() => github.config(repo, head).catch((error) => Promise.reject(Object.assign(error, { code: 'E_BUSY' }))));
      const suggestions = await attempts(() => {
        called = true;
        return analyse(repo, head, config);
      });
      if (suggestions.length > 0) await attempts(() => publish(repo, own.branches + branch, suggestions));
      return 'done';
    } catch {
      if (!called) await store.increment(job.usage, -1);
      return 'failed';
    } finally {
      await store.remove(job.open);
    }
  }

  return async function drain() {
    const outcomes = [];
    for (let job = await queue.shift(); job; job = await queue.shift()) {
      outcomes.push({ repo: job.repo, head: job.head, outcome: await work(job) });
    }
    return outcomes;
  };
}

module.exports = { createWorker };
