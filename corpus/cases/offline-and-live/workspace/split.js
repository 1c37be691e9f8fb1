'use strict';

function split(rows) {
  const shuffled = rows.slice().sort(() => Math.random() - 0.5);
  const border = Math.floor(shuffled.length * 0.8);
  return { train: shuffled.slice(0, border), test: shuffled.slice(border) };
}

module.exports = { split };
