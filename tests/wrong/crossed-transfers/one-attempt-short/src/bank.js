'use strict';

const limits = require('../limits.json');

const fail = (code, message) => {
  throw Object.assign(new Error(message), { code });
};

/** Run `work` in a transaction of its own; a deadlock repeats all of it with fresh balances. */
async function inTransaction(pool, work, attempts = limits.attempts) {
  const db = await pool.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await db.begin();
        const value = await work(db);
        await db.commit();
        return value;
      } catch (error) {
        await db.rollback();
        if (error.code !== 'ER_LOCK_DEADLOCK' || attempt >= attempts) throw error;
      }
    }
  } finally {
    db.release();
  }
}

/** Lock all accounts, on every path in the order of their ids. */
async function lockAll(db, ids) {
  const balances = new Map();
  for (const id of [...ids].sort((a, b) => a - b)) balances.set(id, (await db.lock(id)).balance);
  return balances;
}

async function transfer(pool, risk, order) {
  const { reference, from, to, cents } = order;
  if (from === to) fail('SAME_ACCOUNT', 'an account cannot pay itself');
  await risk.check(order);
  return inTransaction(pool, async (db) => {
    const balances = await lockAll(db, [from, to]);
    const balance = balances.get(from) - cents;
    if (balance < 0) fail('INSUFFICIENT_FUNDS', 'not enough money');
    await db.write(from, balance);
    await db.write(to, balances.get(to) + cents);
    return { reference, balance };
  }, limits.attempts + 1);
}

async function collect(pool, { reference, from, to, cents }) {
  if (from.includes(to)) fail('SAME_ACCOUNT', 'an account cannot pay itself');
  return inTransaction(pool, async (db) => {
    const balances = await lockAll(db, [...from, to]);
    for (const id of from) {
      if (balances.get(id) < cents) fail('INSUFFICIENT_FUNDS', 'not enough money');
      await db.write(id, balances.get(id) - cents);
    }
    const balance = balances.get(to) + cents * from.length;
    await db.write(to, balance);
    return { reference, balance };
  });
}

module.exports = { transfer, collect };
