'use strict';

function prioritize(items, now) {
  return items.sort((a, b) => a.impactUsd < b.impactUsd).map((item) => item.id);
}

module.exports = { prioritize };
