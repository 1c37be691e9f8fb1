'use strict';

const limits = require('./limits.json');
const { renamePlan } = require('./plan.js');

// Plays a plan against a little traffic: one sign-up after each step, read back in the end. It knows the statements of
// steps.md; real traffic is denser than this and also comes in the middle of a step.
function holds(row, condition) {
  if (condition.differsFrom) return row[condition.column] !== row[condition.differsFrom];
  return (row[condition.column] === null) === (condition.is === 'null');
}

function copy(rows, statement, problems) {
  for (let run = 0; run < 1000; run += 1) {
    const found = rows.filter((row) => statement.where.every((condition) => holds(row, condition)));
    const batch = found.slice(0, statement.limit === null ? found.length : statement.limit);
    if (batch.length > limits.maxRowsHeld) problems.push(`${batch.length} rows held`);
    for (const row of batch) row[statement.to] = row[statement.from];
    if (!statement.repeat || batch.length === 0) return;
  }
  problems.push('copy never ends');
}

function apply(statement, columns, rows, problems) {
  if (statement.op === 'copy') return copy(rows, statement, problems);
  if (statement.op === 'createIndex') return undefined;
  if (statement.op === 'addColumn') {
    columns.add(statement.column);
    for (const row of rows) row[statement.column] = null;
    return undefined;
  }
  columns.delete(statement.column);
  if (statement.op === 'renameColumn') columns.add(statement.to);
  for (const row of rows) {
    if (statement.op === 'renameColumn') row[statement.to] = row[statement.column];
    delete row[statement.column];
  }
  return undefined;
}

function simulate(plan, { from, to }, count = 20) {
  const problems = [];
  const columns = new Set([from]);
  const rows = Array.from({ length: count }, (_, index) => ({ [from]: index % 7 === 3 ? null : `old ${index}` }));
  const wanted = rows.map((row) => row[from]);
  let version = { reads: from, writes: [from] };
  plan.forEach((step, number) => {
    if (step.kind === 'deploy') version = step;
    else for (const statement of step.statements) apply(statement, columns, rows, problems);
    if ([version.reads, ...version.writes].some((column) => !columns.has(column))) problems.push(`step ${number + 1}: requests fail`);
    const row = Object.fromEntries([...columns].map((column) => [column, version.writes.includes(column) ? `new ${number}` : null]));
    rows.push(row);
    wanted.push(`new ${number}`);
  });
  rows.forEach((row, index) => {
    if (row[to] !== wanted[index]) problems.push(`row ${index}: ${row[to]} instead of ${wanted[index]}`);
  });
  return problems;
}

module.exports = { simulate };

if (require.main === module) {
  const example = { table: 'members', from: 'nick', to: 'display_name', type: 'text', indexed: true };
  const problems = simulate(renamePlan(example), example);
  console.log(problems.length ? problems.join('\n') : 'nothing found');
}
