'use strict';

const terms = require('./terms.json');

const plus = (date, change) => {
  const day = new Date(`${date}T00:00:00Z`);
  change(day);
  return day.toISOString().substring(0, 10);
};
const days = (date, count) => plus(date, (day) => day.setUTCDate(day.getUTCDate() + count));
const months = (date, count) =>
  plus(date, (day) => {
    const wanted = day.getUTCDate();
    day.setUTCMonth(day.getUTCMonth() + count);
    if (day.getUTCDate() !== wanted) day.setUTCDate(0);
  });

const RULES = [
  { modes: ['ftl', 'ltl'], kinds: ['lost'], what: 'trace', due: (item) => new Date(new Date(item.etaAt).valueOf() + terms.traceHours[item.mode] * 3600000).toISOString() },
  { modes: ['ftl', 'ltl'], kinds: ['concealed'], delivered: true, what: 'notice', due: (item) => days(item.deliveredOn, terms.surface.concealedNoticeDays) },
  { modes: ['ftl', 'ltl'], kinds: ['damage', 'concealed'], delivered: true, what: 'claim', due: (item) => months(item.deliveredOn, terms.surface.claimMonths) },
  { modes: ['air'], kinds: ['damage', 'concealed'], delivered: true, what: 'notice', due: (item) => days(item.deliveredOn, terms.air.damageNoticeDays) },
  { modes: ['air'], kinds: ['delay'], delivered: true, what: 'notice', due: (item) => days(item.deliveredOn, terms.air.delayNoticeDays) },
];

exports.deadlines = (item) => {
  const matching = RULES.filter((rule) => rule.modes.includes(item.mode) && rule.kinds.includes(item.kind) && (!rule.delivered || item.deliveredOn));
  return matching.map((rule) => ({ what: rule.what, due: rule.due(item) })).sort((a, b) => (a.due < b.due ? -1 : 1));
};
