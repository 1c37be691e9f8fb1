'use strict';

function ready(metrics, gates) {
  for (const [name, value] of Object.entries(metrics)) {
    const gate = gates[name];
    if (gate && value < gate.atLeast) return { ready: false, failures: [name] };
    if (gate && value > gate.atMost) return { ready: false, failures: [name] };
  }
  return { ready: true, failures: [] };
}

module.exports = { ready };
