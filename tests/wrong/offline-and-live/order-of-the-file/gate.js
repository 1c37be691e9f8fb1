'use strict';

function holds(value, { atLeast, atMost }) {
  if (typeof value !== 'number' || Number.isNaN(value)) return false;
  if (atLeast !== undefined && value < atLeast) return false;
  return atMost === undefined || value <= atMost;
}

function ready(metrics, gates) {
  const failures = Object.keys(metrics)
    .concat(Object.keys(gates).filter((name) => !(name in metrics)))
    .filter((name) => name in gates)
    .filter((name) => !holds(metrics[name], gates[name]));
  return { ready: failures.length === 0, failures };
}

module.exports = { ready };
