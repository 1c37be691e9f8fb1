'use strict';

const terms = require('./terms.json');

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

function deadlines(item) {
  const list = [];
  if (item.kind === 'lost') {
    list.push({ what: 'trace', due: new Date(Date.parse(item.openedAt) + terms.traceHours.ftl * HOUR).toISOString() });
  } else {
    const days = terms.surface.claimMonths * 30;
    list.push({ what: 'claim', due: new Date(Date.parse(item.deliveredOn) + days * DAY).toISOString().slice(0, 10) });
  }
  return list;
}

module.exports = { deadlines };
