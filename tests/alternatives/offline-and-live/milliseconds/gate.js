'use strict';

exports.ready = (metrics, gates) => {
  const failures = [];
  for (const name of Object.keys(gates).sort()) {
    const { atLeast = -Infinity, atMost = Infinity } = gates[name];
    const value = Number.isFinite(metrics[name]) ? metrics[name] : NaN;
    if (!(value >= atLeast && value <= atMost)) failures.push(name);
  }
  return { ready: !failures.length, failures };
};
