'use strict';

// One item at the counter; every scenario changes a few fields of it.
function request({ item, purchase, ...rest } = {}) {
  const found = purchase === null ? null : { orderedOn: '2025-03-01', deliveredOn: '2025-03-01', paidCents: 4500, paidBy: 'card', ...purchase };
  const shelfCents = found ? found.paidCents : 3900;
  return {
    item: { category: 'default', opened: false, specialOrder: false, recalled: false, shelfCents, lowestCents: 3900, ...item },
    proof: 'receipt',
    purchase: found,
    reason: 'changed-mind',
    noReceiptReturns: [],
    ...rest,
  };
}

const bought = (date, delivered = date) => ({ orderedOn: date, deliveredOn: delivered });
const unproven = (item, noReceiptReturns = []) => request({ item, purchase: null, proof: 'none', noReceiptReturns });
const refund = (refundCents, method = 'card') => ({ outcome: 'refund', refundCents, method, queue: null });
const approval = (refundCents, method = 'card') => ({ outcome: 'approval', refundCents, method, queue: 'supervisor' });
const refused = { outcome: 'refuse', refundCents: 0, method: null, queue: null };
const recall = { outcome: 'recall', refundCents: 0, method: null, queue: 'recall-coordinator' };

const scenarios = [
  ['the last day of the window is refunded', request(), '2025-03-31', refund(4500)],
  ['the day after the window is refused', request(), '2025-04-01', refused],
  ['the window of a parcel runs from delivery', request({ purchase: { ...bought('2025-04-01', '2025-04-20'), paidBy: 'cash' } }), '2025-05-12', refund(4500, 'cash')],
  ['electronics have their own window', request({ item: { category: 'electronics' }, purchase: bought('2025-06-02') }), '2025-06-25', refused],
  ['an online price that was lower than the shelf is what we pay', request({ item: { shelfCents: 7900 }, purchase: { ...bought('2025-05-02', '2025-05-05'), paidCents: 6100 } }), '2025-05-20', refund(6100)],
  ['a price that was higher than the shelf is what we pay', request({ item: { shelfCents: 5200 }, purchase: { paidCents: 6600 } }), '2025-03-09', refund(6600)],
  ['a gift receipt gives store credit at the price paid', request({ item: { shelfCents: 12900 }, purchase: { paidCents: 9900, paidBy: 'cash' }, proof: 'gift-receipt' }), '2025-03-20', refund(9900, 'store-credit')],
  ['a broken gift is store credit too', request({ purchase: { paidCents: 3300, paidBy: 'cash' }, proof: 'gift-receipt', reason: 'defective' }), '2025-10-20', refund(3300, 'store-credit')],
  ['a recalled item after the window goes to the recall coordinator', request({ item: { recalled: true }, reason: 'defective' }), '2025-04-01', recall],
  ['a recalled item inside the window is not refunded', request({ item: { recalled: true } }), '2025-03-05', recall],
  ['a recalled item above the approval limit is still a recall', request({ item: { recalled: true }, purchase: { paidCents: 640000 } }), '2025-03-05', recall],
  ['a recalled item without proof is still a recall', request({ item: { recalled: true }, purchase: null, proof: 'none', noReceiptReturns: ['2025-01-04', '2025-01-05', '2025-02-06'] }), '2025-03-05', recall],
  ['a defective item is taken back after the window', request({ purchase: { paidCents: 2400 }, reason: 'defective' }), '2025-09-17', refund(2400)],
  ['an unlisted category has the default window', request({ item: { category: 'garden' } }), '2025-03-30', refund(4500)],
  ['opened electronics lose the restocking fee', request({ item: { category: 'electronics', opened: true }, purchase: { paidCents: 20000 } }), '2025-03-10', refund(17000)],
  ['sealed electronics lose nothing', request({ item: { category: 'electronics' }, purchase: { paidCents: 20000 } }), '2025-03-12', refund(20000)],
  ['an opened lamp loses nothing', request({ item: { opened: true } }), '2025-03-10', refund(4500)],
  ['a special order loses its fee on the price paid', request({ item: { specialOrder: true, shelfCents: 15000 }, purchase: { paidCents: 12500, paidBy: 'cash' } }), '2025-03-08', refund(10000, 'cash')],
  ['no fee on defective electronics', request({ item: { category: 'electronics', opened: true }, purchase: { paidCents: 20000 }, reason: 'defective' }), '2025-03-10', refund(20000)],
  ['no fee when we delivered the wrong thing', request({ item: { specialOrder: true }, purchase: { paidCents: 12500 }, reason: 'wrong-item' }), '2025-03-08', refund(12500)],
  ['a Christmas purchase is refunded on the last day of January', request({ purchase: bought('2024-12-24', '2024-12-27') }), '2025-01-31', refund(4500)],
  ['a Christmas purchase is refused on the first of February', request({ purchase: bought('2024-12-24', '2024-12-27') }), '2025-02-01', refused],
  ['the extension never shortens a longer window', request({ item: { category: 'furniture' }, purchase: bought('2024-11-20') }), '2025-02-11', refund(4500)],
  ['a purchase on the last of December is extended', request({ item: { category: 'electronics' }, purchase: bought('2024-12-31'), reason: 'wrong-item' }), '2025-01-28', refund(4500)],
  ['a purchase on the first of November is extended', request({ purchase: bought('2024-11-01') }), '2025-01-15', refund(4500)],
  ['a purchase on the last of October is not extended', request({ purchase: bought('2024-10-31', '2024-11-02') }), '2025-01-15', refused],
  ['fresh food is not returnable, holidays or not', request({ item: { category: 'perishable' }, purchase: bought('2024-12-23') }), '2024-12-24', refused],
  ['spoiled food is refunded', request({ item: { category: 'perishable' }, purchase: { paidCents: 1800 }, reason: 'defective' }), '2025-03-02', refund(1800)],
  ['without proof the lowest recent price counts', unproven({ shelfCents: 4500, lowestCents: 3900 }), '2025-03-05', refund(3900, 'store-credit')],
  ['without proof the cap holds', unproven({ shelfCents: 9900, lowestCents: 9900 }), '2025-03-05', refund(7500, 'store-credit')],
  ['the third item without proof is accepted', unproven({}, ['2024-09-01', '2025-01-07']), '2025-03-05', refund(3900, 'store-credit')],
  ['the fourth item without proof is refused', unproven({}, ['2024-09-01', '2024-12-30', '2025-01-07']), '2025-03-05', refused],
  ['what is older than the rolling months does not count', unproven({}, ['2023-11-02', '2023-11-09', '2024-02-20', '2025-01-09']), '2025-03-05', refund(3900, 'store-credit')],
  ['an item of exactly the approval limit needs no supervisor', request({ purchase: { paidCents: 500000 } }), '2025-03-08', refund(500000)],
  ['the value counts for the approval, not what is left after the fee', request({ item: { specialOrder: true }, purchase: { paidCents: 600000 } }), '2025-03-08', approval(480000)],
  ['a dear item that is too late is refused, not sent to the supervisor', request({ purchase: { paidCents: 900000 } }), '2025-06-08', refused],
];

module.exports = async ({ subject, assert }) => {
  for (const [label, input, today, want] of scenarios) {
    const { value } = await subject.attempt((load, input, today) => load('./returns.js').decide(input, today), input, today);
    const { outcome, refundCents, method, queue } = Object(value);
    assert.deepStrictEqual({ outcome, refundCents, method, queue }, want, label);
  }
};
