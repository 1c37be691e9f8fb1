'use strict';

const at = (date) => {
  const time = new Date(`${date}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || !(time.toISOString().slice(0, 10) === date)) throw new RangeError('no date');
  return time;
};

function addMonths(date, n) {
  const moved = at(date);
  moved.setUTCMonth(moved.getUTCMonth() + n);
  return moved.toISOString().slice(0, 10);
}

function billingDates(first, count, step = 1) {
  return Array.from({ length: count }, (_, i) => addMonths(first, i * step));
}

function daysBetween(a, b) {
  return (at(b) - at(a)) / 86400000;
}

function monthsBetween(a, b) {
  if (b < a) return -monthsBetween(b, a);
  let n = 0;
  while (addMonths(a, n + 1) <= b) n += 1;
  return n;
}

module.exports = { addMonths, billingDates, daysBetween, monthsBetween };
