'use strict';

// One token: a cell (quoted or not) and what ends it.
const TOKEN = /(?:"((?:[^"]|"")*)"|((?!")(?:(?!\r\n)[^,\n])*))(,|\r\n|\n|$)/y;

const lineAt = (text, at) => text.slice(0, at).split('\n').length;

function parse(text) {
  const source = text.replace(/^\ufeff/, '');
  const rows = [];
  let row = [];
  TOKEN.lastIndex = 0;
  for (let more = source !== ''; more; ) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(source);
    if (token === null) {
      const error = new SyntaxError('A quoted cell is broken');
      error.line = lineAt(source, at);
      throw error;
    }
    const [, quoted, plain, end] = token;
    const emptyLine = row.length === 0 && plain === '' && end !== ',';
    if (!emptyLine) row.push(quoted === undefined ? plain : quoted.replace(/""/g, '"'));
    if (end !== ',') {
      if (row.length > 0) rows.push(row);
      row = [];
      more = TOKEN.lastIndex < source.length;
    }
  }
  return rows;
}

function quote(cell) {
  return '"' + cell.split('"').join('""') + '"';
}

function format(rows) {
  let text = '';
  for (const row of rows) {
    const cells = [];
    for (const value of row) {
      const cell = value === null || value === undefined ? '' : `${value}`;
      const needed = [',', '"', '\r', '\n'].some((mark) => cell.includes(mark));
      cells.push(needed || (cell === '' && row.length === 1) ? quote(cell) : cell);
    }
    text += cells.join(',') + '\r\n';
  }
  return text;
}

module.exports = { parse, format };
