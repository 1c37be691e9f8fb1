'use strict';

const policy = require('./policy.json');
const { addDays } = require('./dates.js');

function windowEnd(item, purchase) {
  const days = item.category in policy.windowDays ? policy.windowDays[item.category] : policy.windowDays.default;
  const regular = addDays(purchase.deliveredOn, days);
  const holiday = policy.holidayExtension;
  const bought = purchase.orderedOn.slice(5);
  if (bought >= holiday.boughtFrom && bought <= holiday.boughtThrough) {
    const end = `${Number(purchase.orderedOn.slice(0, 4)) + 1}-${holiday.returnableThrough}`;
    return end > regular ? end : regular;
  }
  return regular;
}

function feePercent(item) {
  if (item.specialOrder) return policy.restockingPercent.specialOrder;
  if (item.category === 'electronics') return policy.restockingPercent.openedElectronics;
  return 0;
}

function decide(request, today) {
  const { item, purchase, proof, reason } = request;
  if (item.recalled) return { outcome: 'recall', refundCents: 0, method: null, queue: 'recall-coordinator' };
  if (!purchase) return { outcome: 'refund', refundCents: item.shelfCents, method: 'store-credit', queue: null };
  if (reason !== 'defective' && today > windowEnd(item, purchase)) {
    return { outcome: 'refuse', refundCents: 0, method: null, queue: null };
  }
  const refundCents = purchase.paidCents - (purchase.paidCents * feePercent(item)) / 100;
  const method = proof === 'gift-receipt' ? 'store-credit' : purchase.paidBy;
  if (refundCents >= policy.approvalAboveItemValueCents) return { outcome: 'approval', refundCents, method, queue: 'supervisor' };
  return { outcome: 'refund', refundCents, method, queue: null };
}

module.exports = { decide };
