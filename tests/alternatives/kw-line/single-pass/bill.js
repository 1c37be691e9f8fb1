'use strict';

const tariffs = require('./tariff.json');
const { parse } = require('./meter.js');

function previousMonths(month, count) {
  const [year, number] = month.split('-').map(Number);
  const names = new Set();
  for (let back = 1; back <= count; back += 1) {
    names.add(new Date(Date.UTC(year, number - 1 - back, 1)).toISOString().slice(0, 7));
  }
  return names;
}

exports.monthlyBill = (site, month, csv, history) => {
  const { energyCentsPerKwh, demandCentsPerKw, ratchet } = tariffs[site];
  let kwh = 0;
  let highest = 0;
  let quarters = 0;
  for (const row of parse(csv)) {
    if (row.start.slice(0, 7) !== month) continue;
    quarters += 1;
    kwh += row.kwh;
    if (row.kwh > highest) highest = row.kwh;
  }
  const peakKw = highest / 0.25;
  let billedKw = peakKw;
  if (ratchet) {
    const counted = previousMonths(month, ratchet.months);
    for (const past of history) {
      if (counted.has(past.month)) billedKw = Math.max(billedKw, (ratchet.percent * past.peakKw) / 100);
    }
  }
  const cents = (amount) => Number(amount.toFixed(0));
  const energyCents = cents(kwh * energyCentsPerKwh);
  const demandCents = cents(billedKw * demandCentsPerKw);
  const average = quarters && kwh / (quarters / 4);
  return {
    peakKw,
    billedKw,
    energyCents,
    demandCents,
    totalCents: energyCents + demandCents,
    loadFactor: peakKw ? Number((average / peakKw).toFixed(4)) : null,
  };
};
