'use strict';

const { windowDays, delayDays } = require('./training.json').label;

const plusDays = (iso, days) => new Date(Date.parse(iso) + days * 86400000).toISOString();

exports.labelAt = (customer, at, outcomes, known) => {
  if (known < plusDays(at, windowDays + delayDays)) return null;
  const until = plusDays(at, windowDays);
  for (const { customer: who, occurredAt, availableAt } of outcomes) {
    if (who === customer && occurredAt > at && occurredAt <= until && availableAt && availableAt <= known) return 1;
  }
  return 0;
};
