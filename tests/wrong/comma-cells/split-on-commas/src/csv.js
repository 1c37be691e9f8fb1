'use strict';

function unquote(cell) {
  return cell.startsWith('"') && cell.endsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

function parse(text) {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) => line.split(',').map(unquote));
}

function format(rows) {
  const cell = (value) => {
    const text = String(value ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => (row.map(cell).join(',') || '""') + '\r\n').join('');
}

module.exports = { parse, format };
