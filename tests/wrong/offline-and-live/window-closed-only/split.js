'use strict';

const { labelKnownAt } = require('./labels.js');

function split(rows, cut) {
  const test = rows.filter((row) => row.at >= cut);
  const tested = new Set(test.map((row) => row.customer));
  const train = rows.filter((row) => labelKnownAt(row.at) <= Date.parse(cut) + 7 * 24 * 60 * 60 * 1000 && !tested.has(row.customer));
  return { train, test };
}

module.exports = { split };
