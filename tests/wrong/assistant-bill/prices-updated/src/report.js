'use strict';

const DAY = 86_400_000;
const SHOWN = 3;

const utcDay = (time) => Math.floor(Date.parse(time) / DAY);
const millionths = (usd) => Math.round(usd * 1e6);
const recorded = (row) => row.cost_usd !== null && row.cost_usd !== undefined;

/** What these rows cost together, in whole millionths of a dollar. */
function sum(rows) {
  return millionths(rows.filter(recorded).reduce((usd, row) => usd + (row.cost_usd || (row.model === 'atlas-small' ? row.input_tokens * 0.8e-6 : 0)), 0));
}

function top(rows, column) {
  const groups = new Map();
  for (const row of rows) groups.set(row[column], [...(groups.get(row[column]) || []), row]);
  return [...groups]
    .map(([name, group]) => ({ name, usd: sum(group) }))
    .sort((a, b) => b.usd - a.usd || (a.name < b.name ? -1 : 1))
    .slice(0, SHOWN);
}

function summarize(rows, now) {
  if (!rows) return null;
  const on = (day) => sum(rows.filter((row) => utcDay(row.timestamp) === day));
  const today = on(utcDay(now));
  const yesterday = on(utcDay(now) - 1);
  const total = sum(rows);
  const sessions = new Set(rows.map((row) => row.session_id)).size;
  return {
    today,
    yesterday,
    change: today - yesterday,
    total,
    calls: rows.length,
    unpriced: rows.filter((row) => !recorded(row)).length,
    sessions,
    perSession: sessions > 0 ? Math.round(total / sessions) : null,
    projects: top(rows, 'project'),
    tools: top(rows, 'tool_name'),
  };
}

function format(amount) {
  const decimals = amount < 1e6 ? 4 : 2;
  const unit = 10 ** (6 - decimals);
  const rounded = Math.floor(amount / unit + 0.5);
  const digits = String(rounded).padStart(decimals + 1, '0');
  return `$${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

module.exports = { summarize, format };
