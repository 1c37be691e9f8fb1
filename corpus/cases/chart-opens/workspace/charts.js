'use strict';

function failure(code, message) {
  return Object.assign(new Error(message), { code });
}

function createCharts({ store, audit, logger, now }) {
  async function find(ctx, id) {
    const chart = await store.get(id);
    logger.info('chart lookup', { user: ctx.user.id, chart });
    if (!chart) throw failure('not-found', `There is no chart ${id}`);
    if (!ctx.user.clinics.includes(chart.clinic)) {
      throw failure('forbidden', `${chart.name} is a patient of ${chart.clinic}`);
    }
    return chart;
  }

  async function read(ctx, id) {
    return find(ctx, id);
  }

  async function update(ctx, id, changes) {
    const before = await find(ctx, id);
    const after = { ...before, ...changes };
    try {
      await store.save(after);
    } catch (error) {
      logger.error(`could not save MRN ${before.mrn}`, error);
      throw failure('unavailable', `Could not save ${before.name}: ${error.message}`);
    }
    audit.append({
      at: now(),
      userId: ctx.user.id,
      recordId: id,
      action: 'update',
      outcome: 'done',
      changes: { before, after },
      ip: ctx.ip,
      session: ctx.session,
    });
    return after;
  }

  async function print(ctx, id) {
    const chart = await find(ctx, id);
    return `${chart.name} (${chart.mrn}), born ${chart.born}\n${chart.diagnosis}\n`;
  }

  async function exportChart(ctx, id) {
    return read(ctx, id);
  }

  async function list() {
    const charts = await store.all();
    return charts.map(({ id, name, clinic }) => ({ id, name, clinic }));
  }

  function link(chart) {
    return `/charts?mrn=${chart.mrn}&name=${encodeURIComponent(chart.name)}&born=${chart.born}`;
  }

  return { read, update, print, export: exportChart, list, link };
}

module.exports = { createCharts };
