'use strict';

/** A database in memory that behaves as README.md says. `createDb([[9, 500], [10, 0]])` has two accounts. */
function createDb(accounts) {
  const balances = new Map(accounts);
  const owners = new Map();
  const waiting = [];

  function finish(tx) {
    for (const [id, owner] of owners) if (owner === tx) owners.delete(id);
    for (const each of [...waiting]) {
      if (owners.has(each.id)) continue;
      owners.set(each.id, each.tx);
      waiting.splice(waiting.indexOf(each), 1);
      each.go();
    }
  }

  function undo(tx) {
    for (const [id, balance] of tx.before) balances.set(id, balance);
    finish(tx);
  }

  function circle(tx, id) {
    for (let owner = owners.get(id); owner; ) {
      if (owner === tx) return true;
      const wait = waiting.find((each) => each.tx === owner);
      owner = wait && owners.get(wait.id);
    }
    return false;
  }

  async function take(tx, id) {
    if (!balances.has(id)) throw Object.assign(new Error(`no account ${id}`), { code: 'ER_NO_ROW' });
    if (!owners.has(id)) owners.set(id, tx);
    if (owners.get(id) === tx) return;
    if (circle(tx, id)) {
      undo(tx);
      tx.over = true;
      throw Object.assign(new Error('Deadlock found; try restarting transaction'), { code: 'ER_LOCK_DEADLOCK' });
    }
    await new Promise((go) => waiting.push({ tx, id, go }));
  }

  function connection() {
    let tx = null;
    const open = () => {
      if (!tx || tx.over) throw Object.assign(new Error('no open transaction'), { code: 'ER_NO_TRANSACTION' });
      return tx;
    };
    return {
      async begin() {
        await null;
        if (tx && !tx.over) finish(tx);
        tx = { before: new Map(), over: false };
      },
      async read(id) {
        await null;
        return { id, balance: balances.get(id) };
      },
      async lock(id) {
        await null;
        await take(open(), id);
        return { id, balance: balances.get(id) };
      },
      async write(id, balance) {
        await null;
        await take(open(), id);
        if (!tx.before.has(id)) tx.before.set(id, balances.get(id));
        balances.set(id, balance);
      },
      async commit() {
        await null;
        finish(open());
        tx.over = true;
      },
      async rollback() {
        await null;
        if (tx && !tx.over) undo(tx);
        tx = null;
      },
      release() {
        if (tx && !tx.over) undo(tx);
        tx = null;
      },
    };
  }

  return { balances, pool: { connect: async () => connection() } };
}

module.exports = { createDb };
