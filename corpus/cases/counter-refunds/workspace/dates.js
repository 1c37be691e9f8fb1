'use strict';

// Calendar arithmetic on YYYY-MM-DD strings; no clock and no time zone is involved.
function parts(iso) {
  return iso.split('-').map(Number);
}

function addDays(iso, days) {
  const [year, month, day] = parts(iso);
  return new Date(Date.UTC(year, month - 1, day + days)).toISOString().slice(0, 10);
}

function addMonths(iso, months) {
  const [year, month, day] = parts(iso);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(day, last))).toISOString().slice(0, 10);
}

module.exports = { addDays, addMonths };
