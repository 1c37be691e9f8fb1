'use strict';

const K = { id: '7d1f6a52-0b3e-4c1d-9a55-2f0c8e6b1a01', mrn: 'MRN-448812', clinic: 'leeds', name: 'Katherine Kowalska', born: '1961-04-09', phone: '0113 496 0172', diagnosis: 'sarcoidosis' };
const B = { id: '12c9e0aa-77d4-4b0f-8f1e-5b6d3a9c4e02', mrn: 'MRN-771203', clinic: 'leeds', name: 'Barnaby Achebe', born: '1988-11-30', phone: '0113 496 0555', diagnosis: 'asthma' };
const Y = { id: 'e3a7b6d0-91c2-4f5b-a6f0-8d2b7c1e5f03', mrn: 'MRN-900417', clinic: 'york', name: 'Yolanda Marchbanks', born: '1954-02-17', phone: '01904 496 0333', diagnosis: 'psoriasis' };
const MISSING = '00d4c1b2-5e6f-4a7b-8c9d-0e1f2a3b4c04';
const CHARTS = [K, B, Y];

const leeds = { user: { id: 'user-17', clinics: ['leeds'] }, ip: '10.1.4.7', session: 's-81' };
const both = { user: { id: 'user-30', clinics: ['leeds', 'york'] }, ip: '10.9.0.2', session: 's-99' };

// One chart service with fakes around it; the calls run in order and everything that came out is handed back.
async function play(load, { charts, calls, broken }) {
  const logs = [];
  const rows = [];
  const saved = [];
  const copy = (value) => JSON.parse(JSON.stringify(value));
  const told = (_, value) => (value instanceof Error ? { ...value, message: value.message, stack: value.stack } : value);
  const plain = (value) => JSON.stringify(value, told);
  const write = (...line) => logs.push(line.map(plain).join(' '));
  const fail = (what) => {
    if (broken === what) throw new Error(`${what}: constraint violated by (${Object.values(charts[0]).join(', ')})`);
  };
  const store = {
    get: async (id) => (fail('get'), copy(charts.find((chart) => chart.id === id) || null)),
    all: async () => copy(charts),
    save: async (chart) => (fail('save'), saved.push(copy(chart))),
  };
  const audit = { append: async (row) => (await new Promise(setImmediate), fail('append'), rows.push(copy(row))) };
  const logger = { info: write, error: write, warn: write, debug: write };
  const service = load('./charts.js').createCharts({ store, audit, logger, now: () => '2025-05-06T07:08:09.000Z' });
  const answers = [];
  for (const [name, ...args] of calls) {
    try {
      answers.push({ value: await service[name](...args) });
    } catch (error) {
      answers.push({ code: error.code, message: error.message, rest: plain(error) });
    }
  }
  return { answers, rows, logs, saved };
}

const identifying = CHARTS.flatMap(({ mrn, name, born, phone, diagnosis }) => [mrn, mrn.slice(4), ...name.split(' '), born, phone, diagnosis]);
const leaks = (texts) => identifying.filter((secret) => texts.some((text) => String(text).includes(secret)));

module.exports = async ({ subject, assert }) => {
  async function run(calls, broken = null) {
    const { value } = await subject.attempt(play, { charts: CHARTS, calls, broken });
    return { answers: [], rows: [], logs: [], saved: [], ...Object(value) };
  }
  const row = (ctx, id, action, outcome, changes = null) => ({ at: '2025-05-06T07:08:09.000Z', userId: ctx.user.id, recordId: id, action, outcome, changes, ip: ctx.ip, session: ctx.session });
  const logs = [];
  const messages = [];
  const keep = (result) => {
    logs.push(...result.logs);
    messages.push(...result.answers.flatMap(({ message, rest }) => (rest === undefined ? [] : [message, rest])));
    return result;
  };

  const opened = keep(await run([['read', leeds, K.id]]));
  assert.deepStrictEqual(opened.answers, [{ value: K }], 'a chart of the own clinic can be read');
  assert.deepStrictEqual(opened.rows, [row(leeds, K.id, 'read', 'done')], 'reading leaves a row');
  const printed = keep(await run([['print', leeds, B.id]]));
  const sheet = String(Object(printed.answers[0]).value);
  assert.deepStrictEqual([B.name, B.mrn, B.diagnosis].filter((word) => !sheet.includes(word)), [], 'the sheet still holds the chart');
  assert.deepStrictEqual(printed.rows, [row(leeds, B.id, 'print', 'done')], 'printing leaves a row of its own kind');
  const exported = keep(await run([['export', both, Y.id]]));
  assert.deepStrictEqual([exported.answers, exported.rows], [[{ value: Y }], [row(both, Y.id, 'export', 'done')]], 'exporting leaves a row of its own kind');

  const updated = keep(await run([['update', leeds, K.id, { phone: '0113 496 0199', diagnosis: K.diagnosis }]]));
  assert.deepStrictEqual([updated.answers, updated.saved], [[{ value: { ...K, phone: '0113 496 0199' } }], [{ ...K, phone: '0113 496 0199' }]], 'an update is saved and returned');
  assert.deepStrictEqual(updated.rows, [row(leeds, K.id, 'update', 'done', { before: { phone: K.phone }, after: { phone: '0113 496 0199' } })], 'an update leaves what changed and no more');

  const calls = (id) => [['read', leeds, id], ['print', leeds, id], ['export', leeds, id], ['update', leeds, id, { phone: '1' }]];
  const refusals = (id) => ['read', 'print', 'export', 'update'].map((action) => row(leeds, id, action, 'refused'));
  const foreign = keep(await run(calls(Y.id)));
  const missing = keep(await run(calls(MISSING)));
  assert.deepStrictEqual([foreign.answers.filter((answer) => 'value' in answer), foreign.saved], [[], []], 'a chart of another clinic stays closed');
  assert.deepStrictEqual(foreign.rows, refusals(Y.id), 'an attempt on another clinic leaves a row');
  assert.deepStrictEqual(missing.rows, refusals(MISSING), 'an attempt on nothing leaves a row');
  const outside = (result, id) => result.answers.map(({ code, message }) => [code, String(message).split(id).join('…')]);
  assert.deepStrictEqual(missing.answers.map(({ code }) => code), Array(4).fill('not-found'), 'a missing chart is not found');
  assert.deepStrictEqual(outside(foreign, Y.id), outside(missing, MISSING), 'another clinic looks like nothing at all');

  const listed = await run([['list', leeds], ['list', both]]);
  assert.deepStrictEqual(listed.answers[0], { value: [K, B].map(({ id, name }) => ({ id, name })) }, 'the list holds the own clinic only');
  assert.deepStrictEqual(listed.answers[1], { value: [K, B, Y].map(({ id, name }) => ({ id, name })) }, 'who works in two clinics sees both');
  const links = await run([['link', K.id], ['link', Y.id]]);
  assert.deepStrictEqual(links.answers, [{ value: `/charts/${K.id}` }, { value: `/charts/${Y.id}` }], 'the address holds the id and nothing else');

  const lost = keep(await run([['read', leeds, K.id], ['update', leeds, K.id, { phone: '2' }]], 'get'));
  const unsaved = keep(await run([['update', leeds, K.id, { phone: '0113 496 0199' }]], 'save'));
  assert.deepStrictEqual([...lost.answers, ...unsaved.answers].map(({ code }) => code), Array(3).fill('unavailable'), 'a store that fails is reported as unavailable');
  const unrecorded = keep(await run([['read', leeds, K.id], ['print', leeds, B.id], ['export', both, Y.id]], 'append'));
  assert.deepStrictEqual(unrecorded.answers.map(({ code }) => code), Array(3).fill('unavailable'), 'without a row there is no data');

  assert.deepStrictEqual(leaks(messages), [], 'errors tell nothing about a patient');
  assert.deepStrictEqual(leaks(logs), [], 'the log tells nothing about a patient');
  const silent = [[opened, K.id], [printed, B.id], [exported, Y.id], [updated, K.id], [foreign, Y.id], [missing, MISSING], [lost, K.id], [unsaved, K.id], [unrecorded, K.id]];
  assert.deepStrictEqual(silent.filter(([result, id]) => !result.logs.some((line) => line.includes(id))).map(([, id]) => id), [], 'every call is in the log by its id');
};
