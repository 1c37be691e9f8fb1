'use strict';

const { tiers, perishableBelowHours } = require('./terms.json');

exports.prioritize = (items, now) => {
  const soon = new Date(now).getTime() + perishableBelowHours * 3600 * 1000;
  const tests = [
    (item) => item.regulated,
    (item) => item.stopsProduction,
    (item) => Boolean(item.shelfLifeEndsAt) && new Date(item.shelfLifeEndsAt).getTime() < soon,
    () => true,
  ];
  const buckets = tests.map(() => []);
  for (const item of items) {
    if (item.closed) continue;
    buckets[tests.findIndex((test) => test(item))].push({ id: item.id, weight: tiers[item.tier] * item.impactUsd, since: item.openedAt });
  }
  const order = (a, b) => {
    if (a.weight !== b.weight) return a.weight > b.weight ? -1 : 1;
    return a.since.localeCompare(b.since);
  };
  return buckets.flatMap((bucket) => bucket.sort(order).map(({ id }) => id));
};
