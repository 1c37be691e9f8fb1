'use strict';

const { own, retry } = require('./plans.json');
const { Ledger } = require('./ledger.js');

const again = async (step, left = retry.attempts - 1) => {
  try {
    return await step();
  } catch (error) {
    if (left === 0 || retry.codes.indexOf(error.code) === -1) throw error;
    return again(step, left - 1);
  }
};

exports.createWorker = ({ store, queue, accounts, analysers, github }) => {
  const ledger = new Ledger({ store, accounts });
  async function run(job, state) {
    const { repo, head } = job;
    const branch = `${own.branches}${job.branch}`;
    const config = await again(() => github.config(repo, head));
    const wanted = ledger.planOf(job.account).analyser;
    const name = wanted in analysers && analysers[wanted] ? wanted : 'basic';
    state.counted = true;
    const suggestions = await again(() => analysers[name](repo, head, config));
    if (!suggestions.length) return;
    const number = await again(() => github.findPull(repo, branch));
    await again(() => (number === null ? github.createPull(repo, branch, suggestions) : github.updatePull(repo, number, suggestions)));
  }
  return async () => {
    const results = [];
    for (;;) {
      const job = await queue.shift();
      if (job === undefined) return results;
      const state = { counted: false };
      const outcome = await run(job, state).then(
        () => 'done',
        () => 'failed',
      );
      if (!state.counted) await ledger.giveBack(job);
      await ledger.close(job);
      results.push({ repo: job.repo, head: job.head, outcome });
    }
  };
};
