'use strict';

function rank(plan, row) {
  const preferred = plan.best.indexOf(row.name);
  return preferred >= 0 ? preferred : plan.best.length + plan.rows.indexOf(row);
}

function* choices(row, count, wheelchairs) {
  const numbered = row.seats.replace(/\|/g, '');
  let offset = 0;
  for (const block of row.seats.split('|')) {
    for (let start = 0; start + count <= block.length; start += 1) {
      const text = block.slice(start, start + count);
      if (!text.includes('x') && text.split('w').length - 1 === wheelchairs) {
        const left = /(?:^|[^.])\.$/.test(block.slice(0, start));
        const right = /^\.(?:$|[^.])/.test(block.slice(start + count));
        const first = offset + start + 1;
        yield { first, stranding: left || right ? 1 : 0, off: Math.abs(first + (count - 1) / 2 - (numbered.length + 1) / 2) };
      }
    }
    offset += block.length;
  }
}

function findSeats(plan, count, wheelchairs) {
  if (typeof count !== 'number' || !(count >= 1) || count % 1 !== 0) throw new RangeError('count');
  let best = null;
  for (const row of plan.rows) {
    for (const { first, stranding, off } of choices(row, count, wheelchairs ?? 0)) {
      const key = [stranding, rank(plan, row), off, first];
      const at = best ? key.findIndex((value, i) => value !== best.key[i]) : 0;
      if (best === null || (at >= 0 && key[at] < best.key[at])) best = { key, row: row.name, first };
    }
  }
  return best && { row: best.row, seats: Array.from({ length: count }, (_, i) => best.first + i) };
}

module.exports = { findSeats };
