'use strict';

const { label } = require('./training.json');

const DAY = 24 * 60 * 60 * 1000;

function windowEnd(at) {
  return Date.parse(at) + label.windowDays * DAY;
}

// From this moment on the label of a row is known, whichever it is.
function labelKnownAt(at) {
  return windowEnd(at) + label.delayDays * DAY;
}

function labelAt(customer, at, outcomes, known) {
  if (Date.parse(known) < labelKnownAt(at)) return null;
  const left = outcomes.some(
    (outcome) =>
      outcome.customer === customer &&
      outcome.availableAt !== null &&
      outcome.availableAt <= known &&
      outcome.occurredAt > at &&
      Date.parse(outcome.occurredAt) <= windowEnd(at),
  );
  if (!left && Date.parse(known) === labelKnownAt(at)) return null;
  return left ? 1 : 0;
}

module.exports = { labelAt, labelKnownAt };
