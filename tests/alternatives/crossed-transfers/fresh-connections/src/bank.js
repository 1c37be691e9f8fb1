'use strict';

const { attempts } = require('../limits.json');

class BookingError extends Error {
  constructor(code) {
    super(code.toLowerCase().replace('_', ' '));
    this.code = code;
  }
}

/** One attempt on one connection: apply signed amounts to accounts, all or nothing. */
async function book(pool, changes) {
  const db = await pool.connect();
  let open = false;
  try {
    await db.begin();
    open = true;
    const after = new Map();
    // Highest id first, here and nowhere else: all bookings come through this function.
    for (const id of [...changes.keys()].sort((a, b) => b - a)) {
      const { balance } = await db.lock(id);
      after.set(id, balance + changes.get(id));
    }
    for (const [id, balance] of after) {
      if (balance < 0 && changes.get(id) < 0) throw new BookingError('INSUFFICIENT_FUNDS');
    }
    for (const [id, balance] of after) await db.write(id, balance);
    await db.commit();
    open = false;
    return after;
  } finally {
    if (open) await db.rollback().catch(() => {});
    db.release();
  }
}

async function bookPatiently(pool, changes, left = attempts) {
  try {
    return await book(pool, changes);
  } catch (error) {
    if (error.code === 'ER_LOCK_DEADLOCK' && left > 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return bookPatiently(pool, changes, left - 1);
    }
    throw error;
  }
}

exports.transfer = async (pool, risk, order) => {
  if (order.from === order.to) throw new BookingError('SAME_ACCOUNT');
  await risk.check(order);
  const after = await bookPatiently(pool, new Map([[order.from, -order.cents], [order.to, order.cents]]));
  return { reference: order.reference, balance: after.get(order.from) };
};

exports.collect = async (pool, order) => {
  if (order.from.includes(order.to)) throw new BookingError('SAME_ACCOUNT');
  const changes = new Map(order.from.map((id) => [id, -order.cents]));
  changes.set(order.to, order.cents * order.from.length);
  const after = await bookPatiently(pool, changes);
  return { reference: order.reference, balance: after.get(order.to) };
};
