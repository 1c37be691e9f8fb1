'use strict';

function parse(csv) {
  return csv
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => {
      const [start, kwh] = line.split(',');
      return { start, kwh: Number(kwh) };
    });
}

module.exports = { parse };
