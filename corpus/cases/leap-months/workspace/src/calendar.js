'use strict';

function read(date) {
  const [year, month, day] = date.split('-').map(Number);
  return new Date(year, month - 1, day);
}

function write(date) {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, '0')).join('-');
}

function addMonths(date, n) {
  const moved = read(date);
  moved.setMonth(moved.getMonth() + n);
  return write(moved);
}

function billingDates(first, count, step = 1) {
  const dates = [first];
  while (dates.length < count) dates.push(addMonths(dates.at(-1), step));
  return dates;
}

function daysBetween(a, b) {
  return Math.floor((read(b) - read(a)) / 86400000);
}

function monthsBetween(a, b) {
  return Math.floor(daysBetween(a, b) / 30);
}

module.exports = { addMonths, billingDates, daysBetween, monthsBetween };
