'use strict';

function holds(value, { atLeast, atMost }) {
  if (typeof value !== 'number' || Number.isNaN(value)) return false;
  if (atLeast !== undefined && value < atLeast) return false;
  return atMost === undefined || value <= atMost;
}

function ready(metrics, gates) {
  const failures = Object.keys(gates)
    .filter((name) => !holds(metrics[name], gates[name]))
    .sort();
  return { ready: failures.length === 0, failures };
}

module.exports = { ready };
