'use strict';

const { labelKnownAt } = require('./labels.js');

function split(rows, cut) {
  const later = rows.filter((row) => row.at >= cut);
  const known = new Set(rows.filter((row) => row.at < cut).map((row) => row.customer));
  const tested = new Set(later.map((row) => row.customer));
  const test = later.filter((row) => !known.has(row.customer));
  const train = rows.filter((row) => labelKnownAt(row.at) <= Date.parse(cut) && !tested.has(row.customer));
  return { train, test };
}

module.exports = { split };
