'use strict';

const LAST_YEAR = 9999;

const isLeap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

function lengthOf(year, month) {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function read(date) {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date);
  const [year, month, day] = (match ?? []).slice(1).map(Number);
  const exists = match && year >= 1 && month >= 1 && month <= 12 && day >= 1;
  if (!exists || day > lengthOf(year, month)) throw new RangeError(`Not a date: ${date}`);
  return { year, month, day };
}

function write(year, month, day) {
  return [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
}

function requireWhole(number) {
  if (!Number.isInteger(number)) throw new RangeError(`Not a whole number: ${number}`);
}

function addMonths(date, n) {
  requireWhole(n);
  const { year, month, day } = read(date);
  const months = year * 12 + month - 1 + n;
  const [newYear, newMonth] = [Math.floor(months / 12), months - Math.floor(months / 12) * 12 + 1];
  if (newYear < 1 || newYear > LAST_YEAR) throw new RangeError(`Outside the calendar: ${date} and ${n} months`);
  return write(newYear, newMonth, Math.min(day, lengthOf(newYear, newMonth)));
}

function billingDates(first, count, step = 1) {
  requireWhole(count);
  return Array.from({ length: count }, (_, i) => addMonths(first, i * step));
}

/** Days since the end of the year before year 1. */
function dayNumber(date) {
  const { year, month, day } = read(date);
  const before = year - 1;
  let number = before * 365 + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) + day;
  for (let earlier = 1; earlier < month; earlier += 1) number += lengthOf(year, earlier);
  return number;
}

function daysBetween(a, b) {
  const [from, to] = [a, b].map(read).map(({ year, month, day }) => Date.UTC(year, month - 1, day));
  return (to - from) / 86400000;
}

function monthsBetween(a, b) {
  if (daysBetween(a, b) < 0) return -monthsBetween(b, a);
  const [from, to] = [read(a), read(b)];
  const months = (to.year - from.year) * 12 + to.month - from.month;
  return addMonths(a, months) > b ? months - 1 : months;
}

module.exports = { addMonths, billingDates, daysBetween, monthsBetween };
