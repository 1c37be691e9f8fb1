'use strict';

function free(mine, yours, day) {
  const length = day.to - day.from;
  const taken = new Uint8Array(length + 1);
  taken[length] = 1; // closes the last slot
  for (const calendar of [mine, yours]) {
    for (const entry of calendar) {
      if (entry.from > entry.to) throw new RangeError('an entry ends before it begins');
      if (entry.from === entry.to || entry.reply === 'declined') continue;
      const travel = entry.travel || 0;
      for (let minute = entry.from - travel; minute < entry.to + travel; minute += 1) {
        if (minute >= day.from && minute < day.to) taken[minute - day.from] = 1;
      }
    }
  }
  const slots = [];
  let start = 0;
  taken.forEach((isTaken, i) => {
    if (!isTaken) return;
    if (i > start) slots.push({ from: day.from + start, to: day.from + i });
    start = i + 1;
  });
  return slots.filter((slot) => day.least === undefined || slot.to - slot.from >= day.least);
}

module.exports = { free };
