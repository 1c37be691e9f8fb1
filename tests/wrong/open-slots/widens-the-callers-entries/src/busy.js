'use strict';

/** The time that one entry takes, or null if it takes none. */
function taken(entry) {
  const { from, to, travel = 0, reply } = entry;
  if (to < from) throw new RangeError(`An entry ends at ${to}, before it begins at ${from}`);
  if (from === to || reply === 'declined') return null;
  entry.from -= travel;
  entry.to += travel;
  return entry;
}

/** When both have time; see README.md. */
function free(mine, yours, day) {
  const busy = [...mine, ...yours]
    .map(taken)
    .filter((span) => span !== null)
    .sort((a, b) => a.from - b.from);
  const slots = [];
  let at = day.from;
  for (const span of [...busy, { from: day.to, to: day.to }]) {
    const to = Math.min(span.from, day.to);
    if (to - at >= (day.least || 1)) slots.push({ from: at, to });
    at = Math.max(at, span.to);
  }
  return slots;
}

module.exports = { free };
