'use strict';

const { label } = require('./training.json');

const DAY = 24 * 60 * 60 * 1000;

function labelAt(customer, at, outcomes) {
  const end = Date.parse(at) + label.windowDays * DAY;
  const left = outcomes.some((outcome) => outcome.customer === customer && outcome.occurredAt > at && Date.parse(outcome.occurredAt) < end);
  return left ? 1 : 0;
}

module.exports = { labelAt };
