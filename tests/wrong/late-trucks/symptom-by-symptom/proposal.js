'use strict';

const z = require('./z.json');
const { mean, deviation } = require('./stats.js');

function propose(item, vendor) {
  const sold = item.weeks.filter((week) => !week.leaflet).map((week) => week.units);
  const weekly = mean(sold);
  const slowest = Math.max(vendor.promisedDays, ...vendor.arrivals);
  const coverWeeks = (slowest + (vendor.everyDays || 0)) / 7;
  const safetyStock = z[item.level] * deviation(sold) * Math.sqrt(coverWeeks);
  const trigger = weekly * coverWeeks + safetyStock;
  const target = trigger + item.lot;
  const onRoad = item.orders.reduce((sum, order) => sum + order.ordered - order.received, 0);
  const position = item.onHand + onRoad - item.waiting - item.allocated;
  let qty = 0;
  if (position <= trigger) {
    const units = Math.max(target - position, item.minimum);
    qty = Math.ceil(units / item.caseSize) * item.caseSize;
  }
  return { position, safetyStock, trigger: vendor.everyDays ? null : trigger, target, qty };
}

module.exports = { propose };
