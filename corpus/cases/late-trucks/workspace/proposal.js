'use strict';

const z = require('./z.json');
const { mean, deviation } = require('./stats.js');

function propose(item, vendor) {
  const sold = item.weeks.map((week) => week.units);
  const weekly = mean(sold);
  const leadWeeks = vendor.promisedDays / 7;
  const safetyStock = z[item.level] * deviation(sold) * Math.sqrt(leadWeeks);
  const trigger = weekly * leadWeeks + safetyStock;
  const target = trigger + item.lot;
  const position = item.onHand;
  let qty = 0;
  if (position < trigger) {
    const cases = Math.round((target - position) / item.caseSize);
    qty = Math.max(cases * item.caseSize, item.minimum);
  }
  return { position, safetyStock, trigger, target, qty };
}

module.exports = { propose };
