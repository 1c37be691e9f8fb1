'use strict';

const fail = (code, message) => {
  throw Object.assign(new Error(message), { code });
};

async function again(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error.code !== 'ER_LOCK_DEADLOCK') throw error;
    }
  }
}

async function transfer(pool, risk, order) {
  const db = await pool.connect();
  const { balance } = await db.read(order.from);
  return again(async () => {
    await db.begin();
    await db.lock(order.from);
    await risk.check(order);
    const to = await db.lock(order.to);
    if (balance < order.cents) fail('INSUFFICIENT_FUNDS', 'not enough money');
    await db.write(order.from, balance - order.cents);
    await db.write(order.to, to.balance + order.cents);
    await db.commit();
    db.release();
    return { reference: order.reference, balance: balance - order.cents };
  });
}

async function collect(pool, order) {
  const db = await pool.connect();
  await db.begin();
  let { balance } = await again(() => db.lock(order.to));
  for (const id of order.from) {
    const account = await again(() => db.lock(id));
    if (account.balance < order.cents) fail('INSUFFICIENT_FUNDS', 'not enough money');
    await db.write(id, account.balance - order.cents);
    balance += order.cents;
  }
  await db.write(order.to, balance);
  await db.commit();
  db.release();
  return { reference: order.reference, balance };
}

module.exports = { transfer, collect };
