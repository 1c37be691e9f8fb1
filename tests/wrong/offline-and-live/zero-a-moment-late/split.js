'use strict';

const { labelKnownAt } = require('./labels.js');

function split(rows, cut) {
  const test = rows.filter((row) => row.at >= cut);
  const tested = new Set(test.map((row) => row.customer));
  const train = rows.filter((row) => labelKnownAt(row.at) <= Date.parse(cut) && !tested.has(row.customer));
  return { train, test };
}

module.exports = { split };
