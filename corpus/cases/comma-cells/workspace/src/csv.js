'use strict';

function parse(text) {
  return text
    .trim()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.replace(/^"|"$/g, '').trim()));
}

function format(rows) {
  return rows.map((row) => row.map((cell) => `"${cell}"`).join(',')).join('\n');
}

module.exports = { parse, format };
