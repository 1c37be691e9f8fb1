'use strict';

const policy = require('./policy.json');
const { addDays, addMonths } = require('./dates.js');

const REFUSED = { outcome: 'refuse', refundCents: 0, method: null, queue: null };

function windowDays(category) {
  const known = Object.prototype.hasOwnProperty.call(policy.windowDays, category);
  return policy.windowDays[known ? category : 'default'];
}

// The last day on which a change of mind is accepted, or null if there is none.
function lastDay(item, purchase) {
  const days = windowDays(item.category);
  if (days === null) return null;
  const regular = addDays(purchase.deliveredOn, days);
  const holiday = policy.holidayExtension;
  const bought = purchase.orderedOn.slice(5);
  if (bought < holiday.boughtFrom || bought > holiday.boughtThrough) return regular;
  const extended = addDays(`${Number(purchase.orderedOn.slice(0, 4)) + 1}-${holiday.returnableThrough}`, -1);
  return extended > regular ? extended : regular;
}

function feePercent(item, reason) {
  if (reason !== 'changed-mind') return 0;
  if (item.specialOrder) return policy.restockingPercent.specialOrder;
  if (item.category === 'electronics' && item.opened) return policy.restockingPercent.openedElectronics;
  return 0;
}

function withoutProof(request, today) {
  const limit = policy.noReceipt;
  const since = addMonths(today, -limit.rollingMonths);
  const earlier = request.noReceiptReturns.filter((date) => date > since);
  if (earlier.length >= limit.returns) return { ...REFUSED };
  const refundCents = Math.min(request.item.lowestCents, limit.capCents);
  return { outcome: 'refund', refundCents, method: 'store-credit', queue: null };
}

function decide(request, today) {
  const { item, purchase, proof, reason } = request;
  if (item.recalled) return { outcome: 'recall', refundCents: 0, method: null, queue: 'recall-coordinator' };
  if (proof === 'none') return withoutProof(request, today);
  const last = lastDay(item, purchase);
  if (reason !== 'defective' && (last === null || today > last)) return { ...REFUSED };
  const paid = purchase.paidCents;
  const refundCents = paid - Math.round((paid * feePercent(item, reason)) / 100);
  const method = proof === 'gift-receipt' ? 'store-credit' : purchase.paidBy;
  if (paid > policy.approvalAboveItemValueCents) return { outcome: 'approval', refundCents, method, queue: 'supervisor' };
  return { outcome: 'refund', refundCents, method, queue: null };
}

module.exports = { decide };
