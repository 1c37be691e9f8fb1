'use strict';

function renamePlan({ table, from, to }) {
  return [
    { kind: 'migration', transactional: true, statements: [{ op: 'renameColumn', table, column: from, to }] },
    { kind: 'deploy', reads: to, writes: [to] },
  ];
}

module.exports = { renamePlan };
