'use strict';

class ChartError extends Error {
  constructor(code) {
    super(code === 'not-found' ? 'No such chart.' : 'The charts cannot be reached.');
    this.name = 'ChartError';
    this.code = code;
  }
}

exports.createCharts = ({ store, audit, logger, now }) => {
  // Runs one call: finds the chart, does the work, leaves exactly one row and one line behind.
  function call(action, work) {
    return async (ctx, id, ...rest) => {
      const row = { at: now(), userId: ctx.user.id, recordId: id, action, outcome: 'refused', changes: null, ip: ctx.ip, session: ctx.session };
      let answer = null;
      let problem = null;
      try {
        const chart = await store.get(id);
        if (chart !== null && ctx.user.clinics.indexOf(chart.clinic) >= 0) {
          [answer, row.changes] = await work(chart, ...rest);
          row.outcome = 'done';
        } else {
          problem = new ChartError('not-found');
        }
        await audit.append(row);
      } catch {
        problem = new ChartError('unavailable');
      }
      logger[problem ? 'error' : 'info']('chart call', { id, action, by: ctx.user.id, code: problem && problem.code });
      if (problem) throw problem;
      return answer;
    };
  }

  return {
    read: call('read', (chart) => [chart, null]),
    export: call('export', (chart) => [chart, null]),
    print: call('print', ({ name, mrn, born, diagnosis }) => [`${name} (${mrn}), born ${born}\n${diagnosis}\n`, null]),
    update: call('update', async (chart, changes) => {
      const before = {};
      const after = {};
      for (const [field, value] of Object.entries(changes)) {
        if (chart[field] === value) continue;
        before[field] = chart[field];
        after[field] = value;
      }
      const saved = Object.assign({}, chart, after);
      await store.save(saved);
      return [saved, { before, after }];
    }),
    async list({ user }) {
      const mine = [];
      for (const chart of await store.all()) if (user.clinics.includes(chart.clinic)) mine.push({ id: chart.id, name: chart.name });
      return mine;
    },
    link: (id) => '/charts/' + encodeURIComponent(id),
  };
};
