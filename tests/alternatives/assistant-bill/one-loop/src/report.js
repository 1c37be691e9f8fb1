'use strict';

/** Dollars as a count of trillionths, so that adding is exact for all that the recorder writes. */
const trillionths = (usd) => BigInt(Math.round(usd * 1e12));
const toMillionths = (amount) => Number((amount + 500_000n) / 1_000_000n);

class Ledger {
  constructor() {
    this.sums = new Map();
  }

  add(name, amount) {
    this.sums.set(name, (this.sums.get(name) ?? 0n) + amount);
  }

  get(name) {
    return toMillionths(this.sums.get(name) ?? 0n);
  }

  leaders() {
    const names = [...this.sums.keys()].sort();
    names.sort((a, b) => this.get(b) - this.get(a));
    return names.slice(0, 3).map((name) => ({ name, usd: this.get(name) }));
  }
}

function dayOf(time, shift = 0) {
  const date = new Date(time);
  date.setUTCDate(date.getUTCDate() - shift);
  return date.toISOString().slice(0, 10);
}

exports.summarize = function summarize(rows, now) {
  if (rows === null || rows === undefined) return null;
  const ledgers = { day: new Ledger(), project: new Ledger(), tool_name: new Ledger(), all: new Ledger() };
  const seen = new Set();
  let unpriced = 0;
  for (const row of rows) {
    const known = typeof row.cost_usd === 'number';
    if (!known) unpriced += 1;
    const amount = known ? trillionths(row.cost_usd) : 0n;
    ledgers.all.add('', amount);
    ledgers.day.add(dayOf(row.timestamp), amount);
    ledgers.project.add(row.project, amount);
    ledgers.tool_name.add(row.tool_name, amount);
    seen.add(row.session_id);
  }
  const summary = {
    today: ledgers.day.get(dayOf(now)),
    yesterday: ledgers.day.get(dayOf(now, 1)),
    total: ledgers.all.get(''),
    calls: rows.length,
    unpriced,
    sessions: seen.size,
    projects: ledgers.project.leaders(),
    tools: ledgers.tool_name.leaders(),
  };
  summary.change = summary.today - summary.yesterday;
  summary.perSession = seen.size === 0 ? null : Math.round(summary.total / seen.size);
  return summary;
};

exports.format = function format(millionths) {
  const [places, step] = millionths >= 1_000_000 ? [2, 10_000] : [4, 100];
  const steps = Math.trunc((millionths + step / 2) / step);
  const scale = 10 ** places;
  return `$${Math.trunc(steps / scale)}.${String(steps % scale).padStart(places, '0')}`;
};
