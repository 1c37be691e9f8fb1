'use strict';

const policy = require('./policy.json');

const DAY = 86400000;
const utc = (iso) => Date.parse(`${iso}T00:00:00Z`);

function answer(outcome, refundCents = 0, method = null, queue = null) {
  return { outcome, refundCents, method, queue };
}

function deadline({ item, purchase }) {
  const days = item.category in policy.windowDays ? policy.windowDays[item.category] : policy.windowDays.default;
  if (days === null) return -Infinity;
  const ends = [utc(purchase.deliveredOn) + days * DAY];
  const { boughtFrom, boughtThrough, returnableThrough } = policy.holidayExtension;
  const year = purchase.orderedOn.slice(0, 4);
  if (purchase.orderedOn >= `${year}-${boughtFrom}` && purchase.orderedOn <= `${year}-${boughtThrough}`) {
    ends.push(utc(`${+year + 1}-${returnableThrough}`));
  }
  return Math.max(...ends);
}

function monthsBetween(from, to) {
  const [y1, m1, d1] = from.split('-').map(Number);
  const [y2, m2, d2] = to.split('-').map(Number);
  return (y2 - y1) * 12 + (m2 - m1) - (d2 < d1 ? 1 : 0);
}

const fee = ({ item, reason }) => {
  if (reason === 'defective' || reason === 'wrong-item') return 0;
  const rates = policy.restockingPercent;
  return item.specialOrder ? rates.specialOrder : item.opened && item.category === 'electronics' ? rates.openedElectronics : 0;
};

// The first rule that applies decides.
const rules = [
  [(r) => r.item.recalled, () => answer('recall', 0, null, 'recall-coordinator')],
  [
    (r, today) => !r.purchase && r.noReceiptReturns.filter((d) => monthsBetween(d, today) < policy.noReceipt.rollingMonths).length >= policy.noReceipt.returns,
    () => answer('refuse'),
  ],
  [(r) => !r.purchase, (r) => answer('refund', Math.min(r.item.lowestCents, policy.noReceipt.capCents), 'store-credit')],
  [(r, today) => r.reason !== 'defective' && utc(today) > deadline(r), () => answer('refuse')],
  [
    () => true,
    (r) => {
      const net = (r.purchase.paidCents * (100 - fee(r))) / 100;
      const held = r.purchase.paidCents > policy.approvalAboveItemValueCents;
      return answer(held ? 'approval' : 'refund', net, r.proof === 'gift-receipt' ? 'store-credit' : r.purchase.paidBy, held ? 'supervisor' : null);
    },
  ],
];

exports.decide = (request, today) => rules.find(([applies]) => applies(request, today))[1](request);
