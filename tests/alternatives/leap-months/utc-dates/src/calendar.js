'use strict';

const DAY = 24 * 60 * 60 * 1000;

function utc(year, monthIndex, day) {
  const date = new Date(0);
  date.setUTCFullYear(year, monthIndex, day);
  return date;
}

function toText(date) {
  return date.toISOString().slice(0, 10);
}

function toDate(text) {
  if (typeof text !== 'string' || text.length !== 10 || !/^\d{4}-\d{2}-\d{2}/.test(text)) throw new RangeError('no date');
  const date = utc(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, Number(text.slice(8)));
  if (date.getUTCFullYear() < 1 || toText(date) !== text) throw new RangeError('no such date');
  return date;
}

exports.addMonths = (text, n) => {
  const date = toDate(text);
  if (typeof n !== 'number' || n % 1 !== 0) throw new RangeError('whole months only');
  const last = utc(date.getUTCFullYear(), date.getUTCMonth() + n + 1, 0);
  const year = last.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) throw new RangeError('out of range');
  return toText(utc(year, last.getUTCMonth(), Math.min(date.getUTCDate(), last.getUTCDate())));
};

exports.billingDates = (first, count, step = 1) => {
  if (![count, step].every(Number.isInteger)) throw new RangeError('whole numbers only');
  const dates = [];
  for (let i = 0; i < count; i += 1) dates.push(exports.addMonths(first, step * i));
  return dates;
};

exports.daysBetween = (a, b) => (toDate(b) - toDate(a)) / DAY;

exports.monthsBetween = (a, b) => {
  if (a > b) return 0 - exports.monthsBetween(b, a);
  let n = Math.max(0, Math.floor(exports.daysBetween(a, b) / 31) - 1);
  while (addable(a, n + 1) && exports.addMonths(a, n + 1) <= b) n += 1;
  return n;
};

function addable(text, n) {
  return Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) + n <= 9999 * 12 + 12;
}
