'use strict';

const limits = require('./limits.json');

const migration = (transactional, statement) => ({ kind: 'migration', transactional, statements: [statement] });
const deploy = (reads, ...writes) => ({ kind: 'deploy', reads, writes });

function renamePlan({ table, from, to, type, indexed }) {
  const missing = [{ column: to, is: 'null' }, { column: from, is: 'not-null' }];
  const plan = [
    migration(true, { op: 'addColumn', table, column: to, type, nullable: true }),
    deploy(from, from, to),
    // Only now: every server fills both columns, so no row can slip in behind the copy.
    migration(false, { op: 'copy', table, from, to, where: missing, limit: limits.maxRowsHeld, repeat: true }),
  ];
  if (indexed) plan.push(migration(false, { op: 'createIndex', table, column: to, concurrently: true }));
  plan.push(
    deploy(to, from, to),
    migration(true, { op: 'dropColumn', table, column: from }),
    deploy(to, to),
  );
  return plan;
}

module.exports = { renamePlan };
