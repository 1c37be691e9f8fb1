'use strict';

const { maxRowsHeld } = require('./limits.json');

// Each rung is a version of the application and the migrations that must have run before it.
function rungs({ table, from, to, type, indexed }) {
  const before = {
    expand: [{ op: 'addColumn', table, column: to, type, nullable: true }],
    read: [{ op: 'copy', table, from, to, where: [{ column: to, differsFrom: from }], limit: Math.ceil(maxRowsHeld / 2), repeat: true }],
    contract: [{ op: 'dropColumn', table, column: from }],
  };
  if (indexed) before.expand.push({ op: 'createIndex', table, column: to, concurrently: true });
  return [
    [before.expand, { reads: from, writes: [from, to] }],
    [before.read, { reads: to, writes: [to, from] }],
    [[], { reads: to, writes: [to] }],
    [before.contract, null],
  ];
}

exports.renamePlan = (change) => {
  const plan = [];
  for (const [statements, version] of rungs(change)) {
    for (const statement of statements) plan.push({ kind: 'migration', transactional: false, statements: [statement] });
    if (version) plan.push({ kind: 'deploy', ...version });
  }
  return plan;
};
