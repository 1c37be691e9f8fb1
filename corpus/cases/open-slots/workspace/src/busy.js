'use strict';

/** When both have time; see README.md. */
function free(mine, yours, day) {
  const entries = mine.sort((a, b) => a.from - b.from).concat(yours.sort((a, b) => a.from - b.from));
  const slots = [];
  let from = day.from;
  for (const entry of entries) {
    if (entry.from < day.from || entry.from > day.to) continue;
    slots.push({ from, to: entry.from });
    from = entry.to;
  }
  slots.push({ from, to: day.to });
  return slots.filter((slot) => slot.to - slot.from >= (day.least ?? 0));
}

module.exports = { free };
