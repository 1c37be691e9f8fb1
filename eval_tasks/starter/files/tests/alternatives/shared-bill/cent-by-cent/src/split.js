'use strict';

exports.split = function split(cents, shares) {
  let total = 0;
  for (const share of shares) total += share;
  if (total === 0) throw new RangeError('nobody has a share');
  if (cents < 0) return split(-cents, shares).map((part) => -part);

  const parts = [];
  const lost = [];
  let missing = cents;
  for (const share of shares) {
    const rest = (cents * share) % total;
    parts.push((cents * share - rest) / total);
    lost.push(rest);
    missing -= parts[parts.length - 1];
  }
  while (missing > 0) {
    const most = lost.indexOf(Math.max(...lost));
    parts[most] += 1;
    lost[most] = -1;
    missing -= 1;
  }
  return parts;
};
