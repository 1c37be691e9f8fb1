'use strict';

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// Standard deviation of a sample; nothing to go by counts as steady.
function deviation(values) {
  if (values.length < 2) return 0;
  const middle = mean(values);
  const squares = values.map((value) => (value - middle) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / (values.length - 1));
}

module.exports = { mean, deviation };
