'use strict';

const cut = (slots, from, to) =>
  slots.flatMap((slot) => [
    { from: slot.from, to: Math.min(slot.to, from) },
    { from: Math.max(slot.from, to), to: slot.to },
  ]).filter((slot) => slot.from < slot.to);

exports.free = function free(mine, yours, { from, to, least = 0 }) {
  return mine
    .concat(yours)
    .reduce((slots, entry) => {
      if (entry.to < entry.from) throw new RangeError('ends before it begins');
      if (entry.reply === 'declined' || entry.to === entry.from) return slots;
      const travel = entry.travel ?? 0;
      return cut(slots, entry.from - travel, entry.to + travel);
    }, [{ from, to }])
    .filter((slot) => slot.to - slot.from >= least);
};
