'use strict';

function renamePlan({ table, from, to, type, indexed }) {
  const steps = [];
  if (indexed) steps.push({ kind: 'migration', transactional: false, statements: [{ op: 'createIndex', table, column: from, concurrently: true }] });
  steps.push({ kind: 'migration', transactional: true, statements: [{ op: 'renameColumn', table, column: from, to }] });
  steps.push({ kind: 'deploy', reads: to, writes: [to] });
  return steps;
}

module.exports = { renamePlan };
