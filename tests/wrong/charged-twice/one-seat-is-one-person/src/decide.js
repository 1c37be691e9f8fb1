'use strict';

const isTeam = ({ quantity }) => quantity > 1;

/** Active subscriptions of one person for one plan beyond the first bought. */
function extrasOf(subscriptions) {
  const kept = new Set();
  const extras = [];
  for (const subscription of [...subscriptions].sort((a, b) => (a.started < b.started ? -1 : 1))) {
    if (isTeam(subscription)) continue;
    const purchase = JSON.stringify([subscription.plan, subscription.members]);
    if (kept.has(purchase)) extras.push(subscription.id);
    kept.add(purchase);
  }
  return extras;
}

function bucketOf({ says }, active, extras) {
  if (says === 'payment-fails') return 'failed';
  if (says === 'cannot-cancel') return 'self-service';
  if (says === 'does-not-work') return 'product';
  if (extras.length > 0) return 'duplicate';
  return active.length > 1 || active.some(isTeam) ? 'team' : 'failed';
}

function refundsOf(charges) {
  return charges
    .filter(({ status, disputed }) => status === 'succeeded' && !disputed)
    .map(({ id, amountCents, refundedCents }) => ({ charge: id, amountCents: amountCents - refundedCents }))
    .filter(({ amountCents }) => amountCents > 0);
}

function gapOf(bucket, portal) {
  if (bucket === 'failed' || bucket === 'self-service') return portal ? null : 'portal';
  return { duplicate: 'guard', team: 'seats', product: 'product' }[bucket];
}

function decide(account, complaint) {
  const current = account.subscriptions.filter(({ status }) => status !== 'canceled');
  const active = current.filter(({ status }) => status === 'active');
  const extras = extrasOf(active);
  const bucket = bucketOf(complaint, active, extras);
  const cancel = bucket === 'duplicate' ? extras : [];
  const affected = account.charges.filter(({ id, subscription }) =>
    bucket === 'product' ? complaint.incident !== null && id === complaint.charge : cancel.includes(subscription));
  const refunds = refundsOf(affected);
  const gap = gapOf(bucket, account.portal);
  const special = bucket === 'team' || current.some((each) => isTeam(each) || each.interval === 'year' || each.prorated);
  const steps = [
    special && 'verify-contract',
    (bucket === 'failed' || bucket === 'self-service') && 'offer-portal',
    cancel.length > 0 && 'cancel-extras',
    bucket === 'team' && 'explain-seats',
    refunds.length > 0 && 'refund',
    'note',
    'reply',
    gap && 'file-gap',
  ].filter(Boolean);
  return { bucket, cancel, refunds, gap, steps, note: `${account.customer.id}: ${bucket}` };
}

module.exports = { decide };
