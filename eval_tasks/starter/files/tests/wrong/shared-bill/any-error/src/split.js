'use strict';

/** What each person pays; see README.md. */
function split(cents, shares) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  if (!(total > 0)) throw new Error('There is no share to split by');
  const sign = cents < 0 ? -1 : 1;
  const amount = Math.abs(cents);
  const parts = shares.map((share) => ({
    lost: (amount * share) % total,
    paid: Math.floor((amount * share) / total),
  }));
  const missing = amount - parts.reduce((sum, part) => sum + part.paid, 0);
  // Sorting keeps the order of those who lost the same.
  const first = [...parts].sort((a, b) => b.lost - a.lost);
  for (const part of first.slice(0, missing)) part.paid += 1;
  return parts.map((part) => sign * part.paid);
}

module.exports = { split };
