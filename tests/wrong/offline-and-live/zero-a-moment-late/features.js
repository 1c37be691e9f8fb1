'use strict';

const { features } = require('./training.json');

const DAY = 24 * 60 * 60 * 1000;

function isNewer(row, other) {
  if (row.occurredAt !== other.occurredAt) return row.occurredAt > other.occurredAt;
  return row.availableAt > other.availableAt;
}

function featuresAt(customer, at, history) {
  const result = {};
  for (const [name, { maxAgeDays }] of Object.entries(features)) {
    const seen = history.filter(
      (row) => row.customer === customer && row.name === name && row.availableAt !== null && row.availableAt <= at,
    );
    const last = seen.reduce((best, row) => (best === null || isNewer(row, best) ? row : best), null);
    const tooOld = last !== null && maxAgeDays !== null && Date.parse(at) - Date.parse(last.occurredAt) > maxAgeDays * DAY;
    result[name] = last === null || tooOld ? null : last.value;
  }
  return result;
}

module.exports = { featuresAt };
