'use strict';

const terms = require('./terms.json');

const HOUR = 60 * 60 * 1000;

// Smaller is more urgent.
function urgency(item, now) {
  if (item.regulated && item.shelfLifeEndsAt !== null) return 0;
  if (item.stopsProduction) return 1;
  const spoils = item.shelfLifeEndsAt !== null && Date.parse(item.shelfLifeEndsAt) - Date.parse(now) < terms.perishableBelowHours * HOUR;
  return spoils ? 2 : 3;
}

const weight = (item) => item.impactUsd * terms.tiers[item.tier];

function prioritize(items, now) {
  return items
    .filter((item) => !item.closed)
    .sort(
      (a, b) =>
        urgency(a, now) - urgency(b, now) ||
        weight(b) - weight(a) ||
        Date.parse(a.openedAt) - Date.parse(b.openedAt),
    )
    .map((item) => item.id);
}

module.exports = { prioritize };
