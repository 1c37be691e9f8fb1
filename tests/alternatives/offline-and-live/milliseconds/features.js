'use strict';

const training = require('./training.json');

const ms = (iso) => (iso === null || iso === undefined ? Infinity : Date.parse(iso));

exports.featuresAt = (customer, at, history) => {
  const now = ms(at);
  const newestFirst = history
    .filter((row) => row.customer === customer && ms(row.availableAt) <= now)
    .sort((a, b) => ms(b.occurredAt) - ms(a.occurredAt) || ms(b.availableAt) - ms(a.availableAt));
  const values = {};
  for (const name in training.features) {
    const { maxAgeDays } = training.features[name];
    const row = newestFirst.find((candidate) => candidate.name === name);
    const oldest = maxAgeDays === null ? -Infinity : now - maxAgeDays * 86400000;
    values[name] = row && ms(row.occurredAt) >= oldest ? row.value : null;
  }
  return values;
};
