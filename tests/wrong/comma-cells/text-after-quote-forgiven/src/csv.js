'use strict';

const BYTE_ORDER_MARK = '\ufeff';

function broken(message, line) {
  return Object.assign(new SyntaxError(`${message} (line ${line})`), { line });
}

/** Length of the row's end at a position: 2, 1, or 0 where there is none. */
function rowEnd(text, at) {
  if (text.startsWith('\r\n', at)) return 2;
  return text[at] === '\n' ? 1 : 0;
}

function parse(text) {
  const rows = [];
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  let line = 1;

  function quotedCell() {
    const began = line;
    let cell = '';
    for (at += 1; text[at] !== undefined; at += 1) {
      if (text[at] === '"') {
        if (text[at + 1] !== '"') {
          at += 1;
          if (at < text.length && text[at] !== ',' && rowEnd(text, at) === 0) {
            return cell + plainCell();
          }
          return cell;
        }
        at += 1;
      } else if (text[at] === '\n') {
        line += 1;
      }
      cell += text[at];
    }
    throw broken('A quoted cell is never closed', began);
  }

  function plainCell() {
    const from = at;
    while (text[at] !== undefined && text[at] !== ',' && rowEnd(text, at) === 0) at += 1;
    return text.slice(from, at);
  }

  while (at < text.length) {
    if (rowEnd(text, at) === 0) {
      const row = [];
      rows.push(row);
      row.push(text[at] === '"' ? quotedCell() : plainCell());
      while (text[at] === ',') {
        at += 1;
        row.push(text[at] === '"' ? quotedCell() : plainCell());
      }
    }
    at += rowEnd(text, at);
    line += 1;
  }
  return rows;
}

function formatCell(value) {
  const cell = String(value ?? '');
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function formatRow(row) {
  const line = row.map(formatCell).join(',');
  return row.length === 1 && line === '' ? '""' : line;
}

function format(rows) {
  return rows.map((row) => `${formatRow(row)}\r\n`).join('');
}

module.exports = { parse, format };
