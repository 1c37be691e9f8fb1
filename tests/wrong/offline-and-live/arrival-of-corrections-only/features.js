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
    const stored = history
      .filter((row) => row.customer === customer && row.name === name && row.availableAt !== null && row.occurredAt <= at)
      .sort((a, b) => (isNewer(a, b) ? 1 : -1));
    const newest = stored.filter((row) => row.occurredAt === stored[stored.length - 1].occurredAt);
    const last = [...newest.slice(0, 1), ...newest.slice(1).filter((row) => row.availableAt <= at)].pop() || null;
    const tooOld = last !== null && maxAgeDays !== null && Date.parse(at) - Date.parse(last.occurredAt) > maxAgeDays * DAY;
    result[name] = last === null || tooOld ? null : last.value;
  }
  return result;
}

module.exports = { featuresAt };
