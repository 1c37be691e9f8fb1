'use strict';

/** Seats that are together; see README.md. */
function findSeats(plan, count, wheelchairs = 0) {
  for (const row of plan.rows) {
    const at = row.seats.replaceAll('|', '').indexOf('.'.repeat(count));
    if (at >= 0) return { row: row.name, seats: Array.from({ length: count }, (_, i) => at + i) };
  }
  return null;
}

module.exports = { findSeats };
