'use strict';

function split(cents, shares) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  if (total === 0) throw new RangeError('There is no share to split by');
  return shares.map((share) => Math.round((cents * share) / total));
}

module.exports = { split };
