'use strict';

/** Decide what the desk does about a complaint, see README.md. */
function decide(account, complaint) {
  const { customer, charges } = account;
  const refunds = [];
  let bucket = 'self-service';
  if (complaint.says === 'charged-twice') {
    bucket = 'duplicate';
    const last = charges[charges.length - 1];
    refunds.push({ charge: last.id, amountCents: last.amountCents });
  }
  if (complaint.says === 'does-not-work') {
    bucket = 'product';
    for (const charge of charges) refunds.push({ charge: charge.id, amountCents: charge.amountCents });
  }
  if (complaint.says === 'payment-fails') bucket = 'failed';
  return {
    bucket,
    cancel: [],
    refunds,
    gap: null,
    steps: ['refund', 'reply', 'note'],
    note: `${customer.id} ${customer.name} <${customer.email}>, card ${customer.card}: ${bucket}`,
  };
}

module.exports = { decide };
