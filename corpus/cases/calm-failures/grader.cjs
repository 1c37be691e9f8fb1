'use strict';

module.exports = async ({ subject, assert }) => {
  /** What the client gets and what the log saw when this was thrown; `make` builds it inside the subject. */
  const respond = (kind, ...values) =>
    subject.run((load, kind, values) => {
      const errors = load('./src/errors.js');
      class Conflict extends errors.AppError {}
      const makers = {
        missing: (what, id) => new errors.NotFoundError(what, id),
        invalid: (message, details) => new errors.ValidationError(message, details),
        upstream: (service) => new errors.UpstreamError(service, new Error('stock-2.internal timed out')),
        conflict: (message, code, status) => new Conflict(message, { code, status }),
        foreign: (message, more) => Object.assign(new Error(message), more),
        bug: (message) => new TypeError(message),
        raw: (value) => value,
      };
      const logged = [];
      const quiet = () => {};
      const error = (text, what) => logged.push([typeof text, String((what && what.message) || what)]);
      const log = { error, warn: quiet, info: quiet, debug: quiet };
      try {
        const { status, body } = load('./src/respond.js').toResponse(makers[kind](...values), log);
        return { status, body, keys: Object.keys((body && body.error) || {}).sort(), logged };
      } catch (error) {
        return { thrown: String(error && error.name) };
      }
    }, kind, values);
  const answer = async (...thrown) => {
    const { status, body, keys, thrown: crash } = await respond(...thrown);
    return { status, body, keys, crash };
  };

  /** Run `withRetry`; `plan` names what each attempt does, the last entry goes on for ever. */
  const retry = (plan, options, chance) =>
    subject.run(async (load, plan, options, chance) => {
      const errors = load('./src/errors.js');
      const pauses = [];
      let tries = 0;
      let asleep = false;
      const work = () => {
        if (asleep) pauses.push('not waited for');
        const step = plan[Math.min(tries, plan.length - 1)];
        tries += 1;
        const marked = (error) => Object.assign(error, { mark: `${step} ${tries}` });
        const steps = {
          ok: () => Promise.resolve(`value ${tries}`),
          down: () => Promise.reject(marked(new Error('socket closed'))),
          upstream: () => Promise.reject(marked(new errors.UpstreamError('stock', new Error('timeout')))),
          ours: () => Promise.reject(marked(new errors.AppError('disk full', { code: 'DISK', status: 500 }))),
          invalid: () => Promise.reject(marked(new errors.ValidationError('no', []))),
          missing: () => Promise.reject(marked(new errors.NotFoundError('Order', tries))),
          blunt: () => { throw marked(new RangeError('at once')); },
        };
        return steps[step]();
      };
      const sleep = async (ms) => {
        asleep = true;
        pauses.push(ms);
        for (let turn = 9; turn; turn--) await null;
        asleep = false;
      };
      try {
        const value = await load('./src/retry.js').withRetry(work, { ...options, sleep, random: () => chance });
        return { value, tries, pauses };
      } catch (error) {
        return { name: error && error.name, mark: error && error.mark, tries, pauses };
      }
    }, plan, options, chance);

  const deliver = (mail, refusals) =>
    subject.run(async (load, mail, refusals) => {
      const sent = [];
      const transport = {
        send: async (given) => {
          const responseCode = refusals[sent.length];
          sent.push(given.to);
          if (responseCode) throw Object.assign(new Error(`${responseCode} from smtp-3.internal`), { responseCode });
          return `id ${sent.length}`;
        },
      };
      const timing = { sleep: () => Promise.resolve(), random: () => 0 };
      try {
        return { id: await load('./src/mailer.js').deliver(mail, transport, timing), sent };
      } catch (error) {
        const { name, message, details } = Object(error);
        return { name, message, fields: (details || []).map((each) => each.field), sent };
      }
    }, mail, refusals);

  const plain = (status, code, message) =>
    ({ status, body: { error: { code, message } }, keys: ['code', 'message'], crash: undefined });

  const unexpected = plain(500, 'INTERNAL_ERROR', 'Something went wrong on our side');

  assert.deepStrictEqual([await answer('missing', 'Order', 17), await answer('upstream', 'stock')],
    [plain(404, 'NOT_FOUND', 'Order not found: 17'), plain(503, 'UPSTREAM', 'The stock service does not answer')],
    'an error of ours keeps code, status and words');
  assert.deepStrictEqual(await answer('conflict', 'Already booked', 'BOOKED', 409), plain(409, 'BOOKED', 'Already booked'),
    'a class derived elsewhere is ours too');
  assert.deepStrictEqual(
    [(await answer('invalid', 'Check it', [
      { field: 'password', message: 'too short', value: 'hunter2' },
      { field: 'age', message: 'not a number', value: 'x' },
    ])).body, (await answer('invalid', 'One', [{ field: 'to', message: 'unknown', value: 'x@y' }])).body],
    [{ error: { code: 'VALIDATION_ERROR', message: 'Check it',
      details: [{ field: 'password', message: 'too short' }, { field: 'age', message: 'not a number' }] } },
    { error: { code: 'VALIDATION_ERROR', message: 'One', details: [{ field: 'to', message: 'unknown' }] } }],
    'details have field and message only');
  assert.deepStrictEqual((await answer('invalid', 'Check it all', [])).keys, ['code', 'message'],
    'no details, no such key');
  assert.deepStrictEqual(await answer('bug', 'connect ECONNREFUSED db-7.internal:5432'), unexpected,
    'nothing of an unexpected error gets out');
  assert.deepStrictEqual(
    await answer('foreign', 'relation users does not exist', { status: 404, code: '42P01', details: [{ field: 'sql',
      message: 'x' }] }),
    unexpected, 'a foreign error with a status is unexpected');
  assert.deepStrictEqual([await answer('raw', 'host db-7 down'), await answer('raw', null), await answer('raw', undefined)],
    [unexpected, unexpected, unexpected], 'whatever is thrown gets an answer');
  assert.deepStrictEqual([(await respond('bug', 'lost pool db-7')).logged, (await respond('raw', 'plain text')).logged],
    [[['string', 'lost pool db-7']], [['string', 'plain text']]], 'the log gets the unexpected error itself');
  assert.deepStrictEqual([(await respond('missing', 'Order', 3)).logged, (await respond('invalid', 'No', [])).logged],
    [[], []], 'a client mistake wakes nobody');

  assert.deepStrictEqual(await retry(['down', 'down', 'down', 'ok'], { attempts: 4 }, 0),
    { value: 'value 4', tries: 4, pauses: [500, 1000, 2000] }, 'pauses double between tries');
  assert.deepStrictEqual(await retry(['down', 'down', 'ok'], { baseMs: 200 }, 0.5),
    { value: 'value 3', tries: 3, pauses: [300, 500] }, 'chance adds up to one base');
  const capped = await retry(['down', 'down', 'down', 'ok'], { attempts: 4, baseMs: 8000 }, 0.5);
  const lower = await retry(['down', 'down', 'ok'], { baseMs: 900, capMs: 1000 }, 0.9);
  assert.deepStrictEqual([capped.pauses, lower.pauses], [[10000, 10000, 10000], [1000, 1000]],
    'no pause is above the cap, chance included');
  const spent = await retry(['down', 'down', 'blunt', 'down'], {}, 0);
  assert.deepStrictEqual([spent.name, spent.mark], ['RangeError', 'blunt 3'], 'the last error itself comes out');
  assert.deepStrictEqual([spent.tries, spent.pauses, await retry(['down'], { attempts: 1 }, 0.9)],
    [3, [500, 1000], { name: 'Error', mark: 'down 1', tries: 1, pauses: [] }], 'no pause after the last try');
  assert.deepStrictEqual([await retry(['invalid', 'ok'], {}, 0), await retry(['down', 'missing', 'ok'], {}, 0)],
    [{ name: 'ValidationError', mark: 'invalid 1', tries: 1, pauses: [] },
      { name: 'NotFoundError', mark: 'missing 2', tries: 2, pauses: [500] }],
    'a wrong call is not repeated');
  assert.deepStrictEqual(await retry(['upstream', 'ours', 'ok'], {}, 0), { value: 'value 3', tries: 3, pauses: [500, 1000] },
    'a service in trouble is asked again');

  assert.deepStrictEqual(
    [await deliver({ to: 'a@exmaple.org', text: 'hi' }, [550, 550, 550]), await deliver({ to: 'nobody', text: '' }, [500, 500])]
      .map(({ message: ofTheirOwn, ...refusal }) => refusal),
    [{ name: 'ValidationError', fields: ['to'], sent: ['a@exmaple.org'] },
      { name: 'ValidationError', fields: ['to'], sent: ['nobody'] }],
    'a mistyped address is offered once');
  assert.deepStrictEqual([await deliver({ to: 'b@example.org', text: 'hi' }, [450, 421]), await deliver({ to: 'c@example.org',
    text: '' }, [450, 450, 451])],
    [{ id: 'id 3', sent: ['b@example.org', 'b@example.org', 'b@example.org'] },
      { name: 'UpstreamError', message: 'The mail service does not answer', fields: [], sent: ['c@example.org', 'c@example.org', 'c@example.org'] }],
    'a busy mail server is asked again');
};
