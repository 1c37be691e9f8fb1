'use strict';

const { traceHours, surface, air } = require('./terms.json');

const HOUR = 60 * 60 * 1000;

function addDays(date, days) {
  const [year, month, day] = date.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day + days)).toISOString().slice(0, 10);
}

// A month that is too short ends the term with its last day.
function addMonths(date, months) {
  const [year, month, day] = date.split('-').map(Number);
  const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(day, lastDay))).toISOString().slice(0, 10);
}

function noticeDays({ mode, kind }) {
  if (mode !== 'air') return kind === 'concealed' ? surface.concealedNoticeDays : null;
  return kind === 'delay' ? air.delayNoticeDays : air.damageNoticeDays;
}

function deadlines(item) {
  const onSurface = item.mode !== 'air';
  if (item.kind === 'lost') {
    if (!onSurface) return [];
    return [{ what: 'trace', due: new Date(Date.parse(item.etaAt) + traceHours[item.mode] * HOUR).toISOString() }];
  }
  if (item.deliveredOn === null) return [];
  const list = [];
  const days = noticeDays(item);
  if (days !== null) list.push({ what: 'notice', due: addDays(item.deliveredOn, days) });
  if (onSurface && item.kind !== 'delay') list.push({ what: 'claim', due: addMonths(item.deliveredOn, surface.claimMonths) });
  return list;
}

module.exports = { deadlines };
