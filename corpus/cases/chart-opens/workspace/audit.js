'use strict';

// audit_log, insert only; readable for the data protection officer
//   at        timestamp   not null
//   userId    uuid        not null
//   recordId  uuid        not null   the chart that was asked for
//   action    enum        not null   read | update | print | export
//   outcome   enum        not null   done | refused (refused: the user got nothing because he may not, or there is nothing)
//   changes   json        null       update that was done: { before, after }, the fields that changed and no others
//   ip        inet        not null
//   session   text        not null
const COLUMNS = ['at', 'userId', 'recordId', 'action', 'outcome', 'changes', 'ip', 'session'];

function createAudit(insert) {
  return {
    async append(row) {
      const unknown = Object.keys(row).filter((column) => !COLUMNS.includes(column));
      if (unknown.length) throw new Error(`audit_log has no column ${unknown[0]}`);
      await insert(row);
    },
  };
}

module.exports = { createAudit };
