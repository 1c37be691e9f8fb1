'use strict';

const tariffs = require('./tariff.json');
const { parse } = require('./meter.js');

const ROWS_PER_HOUR = 4;

function monthNumber(month) {
  const [year, number] = month.split('-').map(Number);
  return year * 12 + number;
}

// The ratchet looks at measured peaks of the calendar months before the billed one, never at what was charged.
function ratchetFloor(ratchet, month, history) {
  if (!ratchet) return 0;
  const peaks = history
    .filter((entry) => {
      const age = monthNumber(month) - monthNumber(entry.month);
      return age >= 1 && age <= ratchet.months;
    })
    .map((entry) => entry.peakKw);
  return (Math.max(0, ...peaks) * ratchet.percent) / 100;
}

function loadFactor(kwh, peakKw, hours) {
  if (peakKw === 0) return null;
  return Math.round((kwh / (peakKw * hours)) * 10000) / 10000;
}

function monthlyBill(site, month, csv, history) {
  const tariff = tariffs[site];
  const rows = parse(csv).filter((row) => row.start.startsWith(month));
  const kwh = rows.reduce((sum, row) => sum + row.kwh, 0);
  const hours = new Map();
  for (const row of rows) hours.set(row.start.slice(0, 13), (hours.get(row.start.slice(0, 13)) || 0) + row.kwh);
  const peakKw = Math.max(0, ...hours.values());
  const billedKw = Math.max(peakKw, ratchetFloor(tariff.ratchet, month, history));
  const energyCents = Math.round(kwh * tariff.energyCentsPerKwh);
  const demandCents = Math.round(billedKw * tariff.demandCentsPerKw);
  return {
    peakKw,
    billedKw,
    energyCents,
    demandCents,
    totalCents: energyCents + demandCents,
    loadFactor: loadFactor(kwh, peakKw, rows.length / ROWS_PER_HOUR),
  };
}

module.exports = { monthlyBill };
