'use strict';

function holds(value, { atLeast, atMost }) {
  if (typeof value !== 'number' || Number.isNaN(value)) return false;
  if (atLeast !== undefined && value < atLeast * 0.98) return false;
  return atMost === undefined || value <= atMost * 1.02;
}

function ready(metrics, gates) {
  const failures = Object.keys(gates)
    .filter((name) => !holds(metrics[name], gates[name]))
    .sort();
  return { ready: failures.length === 0, failures };
}

module.exports = { ready };
