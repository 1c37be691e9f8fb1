'use strict';

const z = require('./z.json');
const { mean, deviation } = require('./stats.js');

function daily(weeks) {
  const plain = [];
  for (const { units, leaflet } of weeks) {
    if (!leaflet) plain.push(units);
  }
  return { rate: mean(plain) / 7, variance: deviation(plain) ** 2 / 7 };
}

function surprises(demand, days, daysVariance, level) {
  return z[level] * Math.sqrt(days * demand.variance + demand.rate ** 2 * daysVariance);
}

function available({ onHand, orders, waiting, allocated }) {
  let units = onHand - (waiting + allocated);
  for (const order of orders) units += Math.max(0, order.ordered - order.received);
  return units;
}

function inCases(missing, { caseSize, minimum }) {
  let cases = Math.floor(missing / caseSize);
  while (cases * caseSize < missing || cases * caseSize < minimum) cases += 1;
  return cases * caseSize;
}

exports.propose = (item, vendor) => {
  const demand = daily(item.weeks);
  const known = vendor.arrivals.length ? mean(vendor.arrivals) : vendor.promisedDays;
  const daysVariance = deviation(vendor.arrivals) ** 2;
  const position = available(item);
  if (vendor.everyDays) {
    const days = known + vendor.everyDays;
    const safetyStock = surprises(demand, days, daysVariance, item.level);
    const target = demand.rate * days + safetyStock;
    const qty = target > position ? inCases(target - position, item) : 0;
    return { position, safetyStock, trigger: null, target, qty };
  }
  const safetyStock = surprises(demand, known, daysVariance, item.level);
  const trigger = demand.rate * known + safetyStock;
  const target = trigger + item.lot;
  const qty = position > trigger ? 0 : inCases(target - position, item);
  return { position, safetyStock, trigger, target, qty };
};
