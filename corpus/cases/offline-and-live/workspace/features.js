'use strict';

const { features } = require('./training.json');

function featuresAt(customer, at, history) {
  const result = {};
  for (const name of Object.keys(features)) {
    const found = history.filter((row) => row.customer === customer && row.name === name && row.occurredAt <= at);
    const last = found[found.length - 1];
    result[name] = last ? last.value : null;
  }
  return result;
}

module.exports = { featuresAt };
