'use strict';

const { perMillionTokens } = require('../prices.json');

function costOf(row) {
  const price = perMillionTokens[row.model] || perMillionTokens['atlas-large'];
  return row.input_tokens * price.input + row.output_tokens * price.output;
}

function top(rows, column) {
  const sums = {};
  for (const row of rows) sums[row[column]] = (sums[row[column]] || 0) + costOf(row);
  return Object.entries(sums)
    .map(([name, usd]) => ({ name, usd }))
    .slice(0, 3);
}

/** Summarize what the recorder wrote, see README.md. */
function summarize(rows, now) {
  const list = rows || [];
  const day = new Date(now).toISOString().slice(0, 10);
  let today = 0;
  let total = 0;
  for (const row of list) {
    total += costOf(row);
    if (row.timestamp.slice(0, 10) === day) today += costOf(row);
  }
  return {
    today,
    total,
    calls: list.length,
    sessions: list.length,
    perSession: total / list.length,
    projects: top(list, 'project'),
    tools: top(list, 'tool_name'),
  };
}

function format(millionths) {
  return `$${(millionths / 1e6).toFixed(2)}`;
}

module.exports = { summarize, format };
