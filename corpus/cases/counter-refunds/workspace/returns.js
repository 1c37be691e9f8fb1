'use strict';

const policy = require('./policy.json');
const { addDays } = require('./dates.js');

function windowEnd(item, purchase) {
  const days = policy.windowDays[item.category] || policy.windowDays.default;
  const holiday = policy.holidayExtension;
  const bought = purchase.orderedOn.slice(5);
  if (bought >= holiday.boughtFrom && bought <= holiday.boughtThrough) {
    const nextYear = Number(purchase.orderedOn.slice(0, 4)) + 1;
    return `${nextYear}-${holiday.returnableThrough}`;
  }
  return addDays(purchase.orderedOn, days);
}

function feePercent(item) {
  if (item.specialOrder) return policy.restockingPercent.specialOrder;
  if (item.category === 'electronics') return policy.restockingPercent.openedElectronics;
  return 0;
}

function decide(request, today) {
  const { item, purchase } = request;
  if (!purchase) {
    return { outcome: 'refund', refundCents: item.shelfCents, method: 'cash', queue: null };
  }
  if (today > windowEnd(item, purchase)) {
    return { outcome: 'refuse', refundCents: 0, method: null, queue: null };
  }
  const refundCents = item.shelfCents - (item.shelfCents * feePercent(item)) / 100;
  if (refundCents >= policy.approvalAboveItemValueCents) {
    return { outcome: 'approval', refundCents, method: purchase.paidBy, queue: 'supervisor' };
  }
  return { outcome: 'refund', refundCents, method: purchase.paidBy, queue: null };
}

module.exports = { decide };
