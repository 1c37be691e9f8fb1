'use strict';

/** Runs inside the subject: the database of README.md with faults on demand, and everything worth knowing afterwards. */
const simulate = async (load, { accounts, jobs, faults = [], meanwhile = [], refuse = null }) => {
  const later = globalThis.setTimeout; // pauses between attempts cost no time here
  globalThis.setTimeout = (work, ms, ...rest) => setImmediate(work, ...rest);
  const balances = new Map(accounts);
  const owners = new Map();
  const waiting = [];
  const seen = { begins: 0, deadlocks: 0, lost: 0, risk: 0, openAtRisk: 0, openAtRelease: 0, usedAfterRelease: 0 };
  const calls = {};
  let openCount = 0;

  const finish = (tx) => {
    tx.over = true;
    openCount -= 1;
    for (const [id, owner] of owners) if (owner === tx) owners.delete(id);
    for (const each of [...waiting]) {
      if (owners.has(each.id)) continue;
      owners.set(each.id, each.tx);
      waiting.splice(waiting.indexOf(each), 1);
      each.go();
    }
  };
  const undo = (tx) => {
    for (const [id, balance] of tx.before) balances.set(id, balance);
    finish(tx);
  };
  const problem = (code) => Object.assign(new Error(`database: ${code}`), { code });
  const deadlock = (tx) => {
    seen.deadlocks += 1;
    undo(tx);
    return problem('ER_LOCK_DEADLOCK');
  };
  const take = async (tx, id) => {
    if (!owners.has(id)) owners.set(id, tx);
    if (owners.get(id) === tx) return;
    for (let owner = owners.get(id); owner; ) {
      if (owner === tx) throw deadlock(tx);
      const wait = waiting.find((each) => each.tx === owner);
      owner = wait && owners.get(wait.id);
    }
    await new Promise((go) => waiting.push({ tx, id, go }));
  };
  const connect = async () => {
    await null;
    let tx = null;
    let gone = false;
    seen.lost += 1;
    const step = async (name) => {
      for (let turn = 3; turn; turn--) await null;
      if (gone) seen.usedAfterRelease += 1;
      calls[name] = (calls[name] || 0) + 1;
      const fault = faults.find((each) => each.call === name && (each.nth || [calls[name]]).includes(calls[name]));
      if (!fault) return;
      const error = fault.code ? problem(fault.code) : deadlock(tx);
      for (const [id, balance] of meanwhile.splice(0)) balances.set(id, balance);
      throw error;
    };
    const open = () => {
      if (!tx || tx.over) throw problem('ER_NO_TRANSACTION');
      return tx;
    };
    return {
      async begin() {
        await step('begin');
        if (tx && !tx.over) finish(tx);
        tx = { before: new Map(), over: false };
        openCount += 1;
        seen.begins += 1;
      },
      async read(id) {
        await step('read');
        return { id, balance: balances.get(id) };
      },
      async lock(id) {
        await step('lock');
        await take(open(), id);
        return { id, balance: balances.get(id) };
      },
      async write(id, balance) {
        await step('write');
        await take(open(), id);
        if (!tx.before.has(id)) tx.before.set(id, balances.get(id));
        balances.set(id, balance);
      },
      async commit() {
        await step('commit');
        finish(open());
      },
      async rollback() {
        await step('rollback');
        if (tx && !tx.over) undo(tx);
        tx = null;
      },
      release() {
        seen.lost -= 1;
        gone = true;
        if (!tx || tx.over) return;
        seen.openAtRelease += 1;
        undo(tx);
      },
    };
  };
  const pool = { connect };
  const risk = {
    check: async () => {
      seen.risk += 1;
      seen.openAtRisk += openCount;
      for (let turn = 9; turn; turn--) await null;
      if (refuse) throw Object.assign(new Error('refused'), { code: refuse });
      return { ok: true };
    },
  };
  const bank = load('./src/bank.js');
  const run = async ({ kind, ...order }) => {
    try {
      return await (kind === 'collect' ? bank.collect(pool, order) : bank.transfer(pool, risk, order));
    } catch (error) {
      return { code: error && error.code };
    }
  };
  const stuck = new Promise((resolve) => later(resolve, 3000, 'stuck'));
  const outcomes = await Promise.race([Promise.all(jobs.map(run)), stuck]);
  for (let turn = 5; turn; turn--) await new Promise((resolve) => setImmediate(resolve));
  globalThis.setTimeout = later;
  return { outcomes, balances: [...balances], ...seen };
};

module.exports = async ({ subject, assert }) => {
  const book = async (scenario, ...names) => {
    const { value, error } = await subject.attempt(simulate, scenario);
    if (error) return error.name;
    return names.map((name) => value[name]);
  };
  const pay = (from, to, cents) => ({ kind: 'transfer', reference: `${from}-${to}`, from, to, cents });
  const fee = (to, cents, ...from) => ({ kind: 'collect', reference: `fee ${to}`, from, to, cents });
  const two = [[9, 500], [10, 200]];
  const four = [[3, 900], [9, 900], [10, 900], [100, 0]];

  assert.deepStrictEqual(
    [await book({ accounts: two, jobs: [pay(9, 10, 120)] }, 'outcomes', 'balances', 'begins', 'lost'),
      await book({ accounts: four, jobs: [fee(100, 25, 10, 3, 9)] }, 'outcomes', 'balances', 'begins', 'lost')],
    [[[{ reference: '9-10', balance: 380 }], [[9, 380], [10, 320]], 1, 0],
      [[{ reference: 'fee 100', balance: 75 }], [[3, 875], [9, 875], [10, 875], [100, 75]], 1, 0]],
        'each booking needs one transaction');
  assert.deepStrictEqual(
    [await book({ accounts: two, jobs: [pay(9, 10, 50), pay(10, 9, 30)] }, 'deadlocks', 'begins'),
      await book({ accounts: four, jobs: [pay(9, 10, 1), pay(10, 3, 5), pay(3, 9, 7), pay(10, 9, 2), pay(9, 100, 8)] },
        'deadlocks', 'begins')],
    [[0, 2], [0, 5]], 'transfers do not cross, in pairs or in a ring');
  assert.deepStrictEqual(
    await book({ accounts: four, jobs: [pay(9, 10, 40), fee(3, 1, 10, 9), pay(10, 100, 10), fee(9, 5, 10)] }, 'deadlocks',
      'begins'),
    [0, 4], 'collections keep the order of transfers');
  assert.deepStrictEqual(
    await book({ accounts: four, jobs: [fee(100, 5, 10, 9), fee(100, 5, 9, 3, 10), fee(3, 5, 9, 10), fee(10, 5, 9, 3)] },
      'deadlocks', 'begins'),
    [0, 4], 'collections do not cross each other');
  assert.deepStrictEqual(
    await book({ accounts: [[1, 100], [2, 0], [3, 0]], jobs: [pay(1, 2, 40), pay(1, 3, 40), pay(1, 2, 40)] }, 'outcomes',
      'balances'),
    [[{ reference: '1-2', balance: 60 }, { reference: '1-3', balance: 20 }, { code: 'INSUFFICIENT_FUNDS' }], [[1, 20], [2, 40], [3,
      40]]],
    'transfers at once cannot spend twice');

  assert.deepStrictEqual(await book({ accounts: two, jobs: [pay(9, 10, 50)] }, 'risk', 'openAtRisk'), [1, 0],
    'the risk service is asked outside the transaction');
  assert.deepStrictEqual(
    await book({ accounts: two, jobs: [pay(10, 9, 50)], faults: [{ call: 'lock', nth: [2] }] }, 'outcomes', 'balances', 'risk',
      'begins'),
    [[{ reference: '10-9', balance: 150 }], [[9, 550], [10, 150]], 1, 2], 'a broken tie repeats all but the question');
  assert.deepStrictEqual(
    [await book({ accounts: two, jobs: [pay(9, 10, 50)], faults: [{ call: 'write', nth: [2] }], meanwhile: [[9, 300], [10, 777]] },
      'outcomes', 'balances'),
      await book({ accounts: two, jobs: [pay(9, 10, 400)], faults: [{ call: 'lock', nth: [2] }], meanwhile: [[9, 399]] },
        'outcomes', 'balances')],
    [[[{ reference: '9-10', balance: 250 }], [[9, 250], [10, 827]]], [[{ code: 'INSUFFICIENT_FUNDS' }], [[9, 399], [10, 200]]]],
    'a repetition reads the balances again');
  assert.deepStrictEqual(
    [await book({ accounts: four, jobs: [fee(100, 25, 9, 10)], faults: [{ call: 'lock', nth: [3] }], meanwhile: [[100, 60], [10,
      45]] },
      'outcomes', 'balances', 'begins'),
    await book({ accounts: four, jobs: [fee(100, 5, 9, 3)], faults: [{ call: 'write', nth: [2] }] }, 'outcomes', 'balances',
      'begins'),
    await book({ accounts: two, jobs: [fee(9, 5, 10)], faults: [{ call: 'commit' }] }, 'outcomes', 'balances', 'begins', 'lost')],
    [[[{ reference: 'fee 100', balance: 110 }], [[3, 900], [9, 875], [10, 20], [100, 110]], 2],
      [[{ reference: 'fee 100', balance: 10 }], [[3, 895], [9, 895], [10, 900], [100, 10]], 2],
      [[{ code: 'ER_LOCK_DEADLOCK' }], two, 4, 0]], 'a collection is repeated as a whole');
  assert.deepStrictEqual(
    await book({ accounts: two, jobs: [pay(9, 10, 50)], faults: [{ call: 'commit', nth: [1] }] }, 'outcomes', 'balances', 'begins'),
    [[{ reference: '9-10', balance: 450 }], [[9, 450], [10, 250]], 2], 'a tie broken at commit is repeated');
  assert.deepStrictEqual(
    [await book({ accounts: two, jobs: [pay(9, 10, 50)], faults: [{ call: 'write', nth: [1, 2, 3] }] }, 'outcomes', 'begins'),
      await book({ accounts: two, jobs: [pay(9, 10, 50)], faults: [{ call: 'lock' }] }, 'outcomes', 'balances', 'begins', 'lost')],
    [[[{ reference: '9-10', balance: 450 }], 4], [[{ code: 'ER_LOCK_DEADLOCK' }], two, 4, 0]],
      'attempts are counted and the error comes out');

  assert.deepStrictEqual(
    await book({ accounts: two, jobs: [pay(9, 10, 50)], faults: [{ call: 'write', nth: [2], code: 'ER_DISK_FULL' }] },
      'outcomes', 'balances', 'begins', 'openAtRelease', 'lost', 'usedAfterRelease'),
    [[{ code: 'ER_DISK_FULL' }], two, 1, 0, 0, 0], 'another error is rolled back and not repeated');
  assert.deepStrictEqual(
    [await book({ accounts: two, jobs: [pay(10, 9, 201)] }, 'outcomes', 'balances', 'begins', 'openAtRelease', 'lost', 'risk'),
      await book({ accounts: two, jobs: [pay(10, 9, 200)] }, 'outcomes', 'balances')],
    [[[{ code: 'INSUFFICIENT_FUNDS' }], two, 1, 0, 0, 1], [[{ reference: '10-9', balance: 0 }], [[9, 700], [10, 0]]]],
    'the whole balance and no cent more');
  assert.deepStrictEqual(
    [await book({ accounts: four, jobs: [fee(3, 10, 9, 100, 10)] }, 'outcomes', 'balances', 'openAtRelease', 'lost'),
      await book({ accounts: four, jobs: [fee(3, 900, 9, 10)] }, 'outcomes', 'balances')],
    [[[{ code: 'INSUFFICIENT_FUNDS' }], four, 0, 0], [[{ reference: 'fee 3', balance: 2700 }], [[3, 2700], [9, 0], [10, 0], [100,
      0]]]],
    'a collection takes from all or none');
  assert.deepStrictEqual(await book({ accounts: two, jobs: [pay(9, 10, 50)], refuse: 'RISK_REFUSED' }, 'outcomes', 'balances',
    'lost', 'risk'),
    [[{ code: 'RISK_REFUSED' }], two, 0, 1], 'a refusal books nothing and keeps no connection');
  assert.deepStrictEqual(
    await book({ accounts: two, jobs: [pay(9, 9, 50), fee(10, 5, 9, 10)] }, 'outcomes', 'balances', 'risk', 'lost'),
    [[{ code: 'SAME_ACCOUNT' }, { code: 'SAME_ACCOUNT' }], two, 0, 0], 'an account does not pay itself');
};
