'use strict';

const { retry } = require('./plans.json');

function createWorker({ store, queue, analysers, github, now }) {
  async function work({ account, repo, branch, head }) {
    const config = await github.config(repo, head);
    const analyse = analysers.premium || analysers.basic;
    const suggestions = await analyse(repo, head, config);
    const key = `usage:${account}:${now().slice(0, 7)}`;
    await store.set(key, ((await store.get(key)) || 0) + 1);
    await github.createPull(repo, `tidy/${branch}`, suggestions);
  }

  return async function drain() {
    const outcomes = [];
    for (let job = await queue.shift(); job; job = await queue.shift()) {
      let outcome = 'failed';
      for (let attempt = 1; attempt <= retry.attempts && outcome === 'failed'; attempt += 1) {
        try {
          await work(job);
          outcome = 'done';
        } catch (error) {
          if (attempt === retry.attempts) outcome = 'failed';
        }
      }
      outcomes.push({ repo: job.repo, head: job.head, outcome });
    }
    return outcomes;
  };
}

module.exports = { createWorker };
