'use strict';

const tariffs = require('./tariff.json');
const { parse } = require('./meter.js');

const HOURS_PER_MONTH = 730;

function monthlyBill(site, month, csv, history) {
  const tariff = tariffs[site];
  const rows = parse(csv).filter((row) => row.start.startsWith(month));
  const kwh = rows.reduce((sum, row) => sum + row.kwh, 0);
  const peakKw = Math.max(0, ...rows.map((row) => row.kwh));
  const last = history[history.length - 1];
  const floor = tariff.ratchet && last ? (last.billedKw * tariff.ratchet.percent) / 100 : 0;
  const billedKw = Math.max(peakKw, floor);
  const energyCents = Math.round(kwh * tariff.energyCentsPerKwh);
  const demandCents = Math.round(billedKw * tariff.demandCentsPerKw);
  return {
    peakKw,
    billedKw,
    energyCents,
    demandCents,
    totalCents: energyCents + demandCents,
    loadFactor: Math.round((kwh / (billedKw * HOURS_PER_MONTH)) * 10000) / 10000,
  };
}

module.exports = { monthlyBill };
