'use strict';

/** What each person pays; see README.md. */
function split(cents, shares) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => (cents * share) / total);
}

module.exports = { split };
