'use strict';

const { labelKnownAt } = require('./labels.js');

function split(rows, cut) {
  const test = rows.filter((row) => row.at >= cut);
  const train = rows.filter((row) => labelKnownAt(row.at) <= Date.parse(cut));
  return { train, test };
}

module.exports = { split };
