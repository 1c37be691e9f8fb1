'use strict';

function parse(text) {
  const rows = [];
  let row = null;
  let cell = '';
  let state = 'start'; // start | plain | quoted | closed
  let line = 1;
  let began = 1;

  const fail = () => {
    throw Object.assign(new SyntaxError('broken quoting'), { line: began });
  };
  const endCell = () => {
    row = row ?? [];
    row.push(cell);
    cell = '';
    state = 'start';
  };
  const endRow = () => {
    if (row !== null || state !== 'start') endCell();
    if (row !== null) rows.push(row);
    row = null;
  };

  const characters = Array.from({ length: text.length }, (_, i) => text[i]);
  if (characters[0] === '\ufeff') characters.shift();
  characters.forEach((character, i) => {
    const pair = character + (characters[i + 1] ?? '');
    const before = (characters[i - 1] ?? '') + character;
    if (character === '\n') line += 1;
    if (state === 'quoted') {
      if (character === '"') state = 'closed';
      else cell += character;
    } else if (state === 'closed' && character === '"' && characters[i - 1] === '"') {
      cell += '"';
      state = 'quoted';
    } else if (character === ',') {
      endCell();
    } else if (character === '\n') {
      endRow();
    } else if (pair === '\r\n') {
      // the LF that follows ends the row
    } else if (state === 'closed') {
      fail();
    } else if (state === 'start' && character === '"') {
      began = line;
      state = 'quoted';
    } else {
      cell += character;
      state = 'plain';
    }
    return before;
  });
  if (state === 'quoted') fail();
  endRow();
  return rows;
}

function format(rows) {
  return rows.reduce((text, row) => {
    const cells = row.map((value) => (value == null ? '' : String(value)));
    if (cells.length === 1 && cells[0] === '') return text + '""\r\n';
    return text + cells.map((cell) => (cell.search(/[\n\r,"]/) < 0 ? cell : `"${cell.replace(/"/g, '""')}"`)).join(',') + '\r\n';
  }, '');
}

module.exports = { parse, format };
