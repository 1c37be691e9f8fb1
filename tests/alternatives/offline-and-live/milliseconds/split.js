'use strict';

const { windowDays, delayDays } = require('./training.json').label;

exports.split = (rows, cut) => {
  const border = Date.parse(cut);
  const last = border - (windowDays + delayDays) * 86400000;
  const later = {};
  for (const { customer, at } of rows) if (Date.parse(at) >= border) later[customer] = true;
  const parts = { train: [], test: [] };
  for (const row of rows) {
    const time = Date.parse(row.at);
    if (time >= border) parts.test.push(row);
    else if (time <= last && !later[row.customer]) parts.train.push(row);
  }
  return parts;
};
