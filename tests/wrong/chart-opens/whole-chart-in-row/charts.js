'use strict';

const MESSAGES = { 'not-found': 'Record not found', unavailable: 'Please try again later' };

function failure(code) {
  return Object.assign(new Error(MESSAGES[code]), { code });
}

function createCharts({ store, audit, logger, now }) {
  const mayOpen = (ctx, chart) => ctx.user.clinics.includes(chart.clinic);

  // What failed may quote a chart: neither the log nor the caller gets to see it.
  async function orUnavailable(id, work) {
    try {
      return await work();
    } catch {
      logger.error('chart unavailable', { recordId: id });
      throw failure('unavailable');
    }
  }

  async function record(ctx, id, action, outcome, changes = null) {
    const row = { at: now(), userId: ctx.user.id, recordId: id, action, outcome, changes, ip: ctx.ip, session: ctx.session };
    await orUnavailable(id, () => audit.append(row));
    logger.info(`chart ${action} ${outcome}`, { recordId: id, userId: ctx.user.id });
  }

  // Another clinic's chart and one that doesn't exist look the same from outside.
  async function find(ctx, id, action) {
    const chart = await orUnavailable(id, () => store.get(id));
    if (chart && mayOpen(ctx, chart)) return chart;
    await record(ctx, id, action, 'refused');
    throw failure('not-found');
  }

  async function open(ctx, id, action) {
    const chart = await find(ctx, id, action);
    await record(ctx, id, action, 'done');
    return chart;
  }

  async function update(ctx, id, changes) {
    const before = await find(ctx, id, 'update');
    const after = { ...before, ...changes };
    await orUnavailable(id, () => store.save(after));
    await record(ctx, id, 'update', 'done', { before, after });
    return after;
  }

  async function print(ctx, id) {
    const chart = await open(ctx, id, 'print');
    return `${chart.name} (${chart.mrn}), born ${chart.born}\n${chart.diagnosis}\n`;
  }

  async function list(ctx) {
    const charts = await store.all();
    return charts.filter((chart) => mayOpen(ctx, chart)).map(({ id, name }) => ({ id, name }));
  }

  return {
    read: (ctx, id) => open(ctx, id, 'read'),
    update,
    print,
    export: (ctx, id) => open(ctx, id, 'export'),
    list,
    link: (id) => `/charts/${id}`,
  };
}

module.exports = { createCharts };
