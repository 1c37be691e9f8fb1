'use strict';

// Two instances of the app over one store and one queue, with fakes for the rest. A step of the script is a list of events
// that come at once, 'drain', or { month, fail, premium, pull, suggestions } which changes the world.
async function play(load, script) {
  const { createApp } = load('./app.js');
  const world = { month: '2025-01-31T23:59:59.000Z', fail: {}, pull: null, suggestions: ['use const'] };
  const values = new Map();
  const jobs = [];
  const calls = [];
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  const step = async (name, ...details) => {
    await soon();
    calls.push([name, ...details].join(' '));
    const code = (world.fail[name] || []).shift();
    if (code) throw Object.assign(new Error(`${name} failed`), { code });
  };
  const store = {
    get: async (key) => (await soon(), values.get(key)),
    set: async (key, value) => (await soon(), void values.set(key, value)),
    increment: async (key, by = 1) => (await soon(), values.set(key, (values.get(key) || 0) + by).get(key)),
    add: async (key, value) => (await soon(), values.has(key) ? false : Boolean(values.set(key, value))),
    remove: async (key) => (await soon(), void values.delete(key)),
  };
  const queue = {
    push: async (job) => (await step('push'), void jobs.push(JSON.parse(JSON.stringify(job)))),
    shift: async () => (await soon(), jobs.shift()),
  };
  const analyser = (name) => async (repo, head) => (await step(name, repo, head), world.suggestions.slice());
  const analysers = { basic: analyser('basic'), premium: analyser('premium') };
  const github = {
    config: async (repo, head) => (await step('config', repo, head), {}),
    findPull: async (repo, branch) => (await step('findPull', repo, branch), world.pull),
    createPull: async (repo, branch, suggestions) => step('createPull', repo, branch, suggestions.length),
    updatePull: async (repo, number, suggestions) => step('updatePull', repo, number, suggestions.length),
  };
  const parts = { store, queue, accounts: { ada: 'free', pia: 'pro' }, analysers, github, now: () => world.month };
  const apps = [createApp(parts), createApp(parts)];
  const answers = [];
  for (const part of script) {
    if (part === 'drain') answers.push(await apps[0].drain());
    else if (Array.isArray(part)) {
      const handled = part.map((event, index) => apps[index % 2].handle(event).catch((error) => `rejected ${error.code}`));
      answers.push(await Promise.all(handled));
    } else {
      if (part.premium === false) delete analysers.premium;
      Object.assign(world, part);
    }
  }
  const usage = Object.fromEntries([...values].filter(([key, value]) => key.startsWith('usage:') && value !== 0).sort());
  return { answers, calls, usage };
}

function event(head, more = {}) {
  return { type: 'push', account: 'ada', repo: 'ada/shop', branch: 'main', head, sender: 'ada', ...more };
}
const heads = (count) => Array.from({ length: count }, (_, index) => event(`c${index + 1}`));
const tally = (answers) => answers.reduce((counts, answer) => ({ ...counts, [answer]: (counts[answer] || 0) + 1 }), {});

module.exports = async ({ subject, assert }) => {
  async function run(...script) {
    const { value } = await subject.attempt(play, script);
    const result = { answers: [], calls: [], usage: {}, ...Object(value) };
    const called = (...names) => result.calls.filter((call) => names.includes(call.split(' ')[0])).length;
    const outcomes = result.answers.flat().map((answer) => (answer && answer.outcome) || answer);
    return { ...result, called, outcomes, analyses: called('basic', 'premium') };
  }
  const one = { 'usage:ada:2025-01': 1 };
  const pull = /^(create|update)Pull/;

  const plain = await run([event('c1', { branch: 'next' })], 'drain');
  assert.deepStrictEqual(
    [plain.answers, plain.analyses, plain.calls.filter((call) => pull.test(call)), plain.usage],
    [[['queued'], [{ repo: 'ada/shop', head: 'c1', outcome: 'done' }]], 1, ['createPull ada/shop tidy/next 1'], one],
    'a push is queued, analysed, counted and ends in a pull request',
  );

  const rush = await run(heads(10), 'drain');
  assert.deepStrictEqual([tally(rush.answers[0] || []), rush.analyses], [{ queued: 5, 'over-quota': 5 }, 5], 'of ten events at once five get through');
  const spread = await run(...['ada/shop', 'ada/blog', 'ada/shop', 'ada/cms', 'ada/shop', 'ada/blog'].map((repo, index) => [event(`c${index}`, { repo })]));
  assert.deepStrictEqual(spread.outcomes, ['queued', 'queued', 'queued', 'queued', 'queued', 'over-quota'], 'the limit is one for all repositories');
  const next = await run(heads(5), 'drain', [event('c9')], { month: '2025-02-01T00:00:00.000Z' }, [event('c9')], 'drain');
  assert.deepStrictEqual([...next.outcomes.slice(-3), next.usage['usage:ada:2025-02']], ['over-quota', 'queued', 'done', 1], 'a commit that was turned away is welcome in the next month');
  assert.deepStrictEqual(next.usage['usage:ada:2025-01'], 5, 'what was turned away is not counted');

  const twice = await run([event('c1'), event('c1', { type: 'pull_request', author: 'ada' }), event('c1', { type: 'comment', author: 'ada' })], 'drain');
  assert.deepStrictEqual([tally(twice.answers[0] || []), twice.analyses, twice.usage], [{ queued: 1, duplicate: 2 }, 1, one], 'several events of a commit are one analysis');
  const apart = await run([event('c1'), event('c1', { repo: 'ada/blog' })]);
  assert.deepStrictEqual(apart.outcomes, ['queued', 'queued'], 'the same commit in another repository is another job');
  const later = await run([event('c1')], 'drain', [event('c1', { type: 'comment', author: 'ada' })], 'drain');
  assert.deepStrictEqual(later.outcomes, ['queued', 'done', 'queued', 'done'], 'a closed job can be followed by another');

  const own = await run([
    event('c1', { branch: 'tidy/main', sender: 'tidy-app[bot]' }),
    event('c2', { branch: 'tidy/main' }),
    event('c3', { type: 'pull_request', branch: 'tidy/main', author: 'ada' }),
    event('c4', { type: 'pull_request', branch: 'patch-1', author: 'tidy-app[bot]' }),
    event('c5', { type: 'comment', branch: 'patch-1', author: 'tidy-app[bot]' }),
  ]);
  assert.deepStrictEqual([own.outcomes, own.usage], [Array(5).fill('ignored'), {}], 'what the app wrote is ignored, whoever touches it');
  const similar = await run([event('c1', { branch: 'tidy-up' }), event('c2', { type: 'pull_request', branch: 'fix/tidy/css', author: 'bob' })]);
  assert.deepStrictEqual(similar.outcomes, ['queued', 'queued'], 'a branch with a similar name is analysed');

  const paid = await run([event('c1', { account: 'pia', repo: 'pia/x' })], 'drain');
  assert.deepStrictEqual([paid.called('premium'), paid.called('basic')], [1, 0], 'a paying customer gets the expensive analyser');
  const free = await run([event('c1'), event('c2', { account: 'zoe', repo: 'zoe/x' })], 'drain');
  assert.deepStrictEqual([free.called('premium'), free.called('basic')], [0, 2], 'nobody else does, a key or not');
  const keyless = await run({ premium: false }, [event('c1', { account: 'pia', repo: 'pia/x' })], 'drain');
  assert.deepStrictEqual([keyless.called('basic'), keyless.outcomes], [1, ['queued', 'done']], 'without a key all get the simple one');

  const unreadable = { fail: { config: ['E_CONFIG', 'E_CONFIG', 'E_CONFIG'] } };
  const mended = { fail: {} };
  const broken = await run(unreadable, [event('c1')], 'drain');
  assert.deepStrictEqual([broken.called('config'), broken.analyses, broken.outcomes[1]], [1, 0, 'failed'], 'a broken config is tried once');
  assert.deepStrictEqual(broken.usage, {}, 'what never reached an analyser is not counted');
  const border = await run(unreadable, [event('c1')], { month: '2025-02-01T00:10:00.000Z' }, 'drain', [event('c2')]);
  assert.deepStrictEqual(border.usage['usage:ada:2025-02'], 1, 'a place is given back to the month it came from');
  const reopened = await run(unreadable, [event('c1')], 'drain', mended, [event('c1')], 'drain');
  assert.deepStrictEqual(reopened.outcomes, ['queued', 'failed', 'queued', 'done'], 'a failed job is closed, too');

  const busy = await run({ fail: { basic: ['E_BUSY', 'E_TIMEOUT'], config: ['E_TIMEOUT'] } }, [event('c1')], 'drain');
  assert.deepStrictEqual([busy.analyses, busy.outcomes[1]], [3, 'done'], 'a hiccup is tried again, of whatever kind');
  const stuck = await run({ fail: { basic: Array(9).fill('E_BUSY') } }, [event('c1')], 'drain');
  assert.deepStrictEqual([stuck.analyses, stuck.outcomes[1]], [3, 'failed'], 'nothing is tried more often than agreed');
  const refused = await run({ fail: { basic: ['E_TOO_LARGE'] } }, [event('c1')], 'drain');
  assert.deepStrictEqual([refused.analyses, refused.usage], [1, one], 'a final failure of the analyser is tried once and counted');
  const onward = await run({ fail: { basic: ['E_TOO_LARGE'] } }, [event('c1'), event('c2')], 'drain');
  assert.deepStrictEqual(onward.outcomes.slice(2), ['failed', 'done'], 'a failed job does not stop the next');

  const hiccup = await run({ fail: { createPull: ['E_BUSY', 'E_BUSY'] } }, [event('c1')], 'drain');
  assert.deepStrictEqual([hiccup.analyses, hiccup.called('createPull'), hiccup.outcomes[1]], [1, 3, 'done'], 'a hiccup of the pull request does not repeat the analysis');
  const denied = await run({ fail: { createPull: ['E_DENIED', 'E_DENIED'] } }, [event('c1')], 'drain');
  assert.deepStrictEqual([denied.called('createPull'), denied.outcomes[1], denied.usage], [1, 'failed', one], 'a refused pull request is final and the analysis counts');
  const again = await run({ pull: 41, fail: { updatePull: ['E_BUSY'] } }, [event('c1')], 'drain');
  assert.deepStrictEqual([again.calls.filter((call) => pull.test(call)), again.outcomes[1]], [Array(2).fill('updatePull ada/shop 41 1'), 'done'], 'an open pull request is used again');
  const clean = await run({ suggestions: [] }, [event('c1')], 'drain');
  assert.deepStrictEqual([clean.called('createPull'), clean.outcomes[1]], [0, 'done'], 'without suggestions there is no pull request');

  const full = await run({ fail: { push: ['E_FULL'] } }, [event('c1')], [event('c1')]);
  assert.deepStrictEqual([full.outcomes, full.usage], [['rejected E_FULL', 'queued'], one], 'what the queue refuses is neither counted nor open');
};
