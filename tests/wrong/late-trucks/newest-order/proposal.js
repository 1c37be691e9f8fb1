'use strict';

const z = require('./z.json');
const { mean, deviation } = require('./stats.js');

const DAYS_PER_WEEK = 7;

// Sales are counted by the week, so the time on the road is too.
function roadWeeks(vendor) {
  const days = vendor.arrivals.length > 0 ? vendor.arrivals : [vendor.promisedDays];
  const weeks = days.map((count) => count / DAYS_PER_WEEK);
  return { usual: mean(weeks), spread: deviation(weeks) };
}

function positionOf(item) {
  const expected = item.orders.slice(-1).reduce((sum, order) => sum + order.ordered - order.received, 0);
  return item.onHand + expected - item.waiting - item.allocated;
}

function wholeCases(units, item) {
  return Math.ceil(Math.max(units, item.minimum) / item.caseSize) * item.caseSize;
}

function propose(item, vendor) {
  const sold = item.weeks.filter((week) => !week.leaflet).map((week) => week.units);
  const weekly = mean(sold);
  const road = roadWeeks(vendor);
  const fixedDays = vendor.everyDays !== null;
  // On a fixed day we are blind until the truck of the next one; otherwise only until the next truck.
  const blindWeeks = road.usual + (fixedDays ? vendor.everyDays / DAYS_PER_WEEK : 0);
  const variance = blindWeeks * deviation(sold) ** 2 + weekly ** 2 * road.spread ** 2;
  const safetyStock = z[item.level] * Math.sqrt(variance);
  const enough = weekly * blindWeeks + safetyStock;
  const trigger = fixedDays ? null : enough;
  const target = fixedDays ? enough : enough + item.lot;
  const position = positionOf(item);
  const due = fixedDays ? position < target : position <= trigger;
  return { position, safetyStock, trigger, target, qty: due ? wholeCases(target - position, item) : 0 };
}

module.exports = { propose };
