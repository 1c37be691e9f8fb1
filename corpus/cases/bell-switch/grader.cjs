'use strict';

const USERS = [
  { id: 1, team: 'red', name: 'Nia', email: 'nia@x.example', city: 'Oslo', language: 'nb', password_hash: 'h1',
    links: '{"web":"nia.example"}',
    notification_settings: '{"mail":true,"push":false}' },
  { id: 2, team: 'red', name: 'Abe', email: 'abe@x.example', city: null, language: 'en', password_hash: 'h2', links: null,
    notification_settings: null },
  { id: 3, team: 'blue', name: 'Kim', email: 'kim@x.example', city: 'Bern', language: 'de', password_hash: 'h3', links: '{}',
    notification_settings: '{"mail":false}' },
];
const PEOPLE = [
  { id: 7, team: 'red', name: 'Vic', email: 'vic@demo.example', city: 'Lund', language: 'sv', links: { web: 'vic.example' },
    notification_settings: { push: true } },
  { id: 8, team: 'red', name: 'Ann', email: 'ann@demo.example', city: 'Gent', language: 'nl', links: null,
    notification_settings: null },
  { id: 9, team: 'blue', name: 'Sol', email: 'sol@demo.example', city: 'Vigo', language: 'es' },
];
const NIA = { id: 1, name: 'Nia', email: 'nia@x.example', city: 'Oslo', language: 'nb', links: { web: 'nia.example' },
  notification_settings: { mail: true, push: false } };
const ABE = { id: 2, name: 'Abe', email: 'abe@x.example', city: null, language: 'en', links: null, notification_settings: null };
const KIM = { id: 3, name: 'Kim', email: 'kim@x.example', city: 'Bern', language: 'de', links: {},
  notification_settings: { mail: false } };
const VIC = { id: 7, name: 'Vic', email: 'vic@demo.example', city: 'Lund', language: 'sv', links: { web: 'vic.example' },
  notification_settings: { push: true } };
const ANN = { id: 8, name: 'Ann', email: 'ann@demo.example', city: 'Gent', language: 'nl', links: null,
  notification_settings: null };
const SOL = { id: 9, name: 'Sol', email: 'sol@demo.example', city: 'Vigo', language: 'es', links: null,
  notification_settings: null };

module.exports = async ({ subject, assert }) => {
  /** Call a route live (people from USERS) or in demo mode (from PEOPLE). */
  const call = async (mode, file, route, userId, ...given) => {
    const { value, error } = await subject.attempt(async (load, mode, file, route, userId, given, users, people) => {
      const columns = new Set(Object.keys(users[0]));
      const selected = [];
      const matches = (row, where) => Object.entries(where).every(([name, value]) => row[name] === value);
      const check = (table, names) => {
        const strange = names.filter((name) => !columns.has(name)).concat(table === 'users' ? [] : [`in ${table}`]);
        if (strange.length) throw Object.assign(new Error(`unknown column ${strange}`), { code: 'ER_BAD_FIELD' });
      };
      const db = {
        select: async (table, names, where) => {
          check(table, [...names, ...Object.keys(where)]);
          selected.push(...names);
          return users.filter((row) => matches(row, where)).map((row) => Object.fromEntries(names.map((name) => [name,
            row[name]])));
        },
        update: async (table, where, values) => {
          check(table, [...Object.keys(where), ...Object.keys(values)]);
          for (let turn = 5; turn; turn--) await null;
          const objects = Object.entries(values).filter(([, value]) => typeof value === 'object' && value);
          if (objects.length) throw Object.assign(new Error(`no text in ${objects[0][0]}`), { code: 'ER_BAD_VALUE' });
          users.filter((row) => matches(row, where)).forEach((row) => Object.assign(row, values));
        },
      };
      const ctx = mode === 'demo' ? { userId, demo: { people } } : { userId, db };
      const { status, body } = await load(file)[route](ctx, ...given);
      return { status, data: body.data, secrets: selected.filter((name) => name === 'password_hash').length, people };
    }, mode, file, route, userId, given, USERS, PEOPLE);
    return error ? { error: error.code || error.name } : value;
  };
  const profile = (mode, userId) => call(mode, './src/profile.js', 'getProfile', userId);
  const change = (mode, userId, changes) => call(mode, './src/profile.js', 'updateProfile', userId, changes);
  const members = (mode, team) => call(mode, './src/members.js', 'listMembers', 1, team);

  /** Flip switches; `plan` lists [kind, number of its turn to be settled, saved?]. Shows the settings after each event. */
  const flips = async (settings, plan) => {
    const { value, error } = await subject.attempt(async (load, settings, plan) => {
      const given = { id: 1, notification_settings: settings };
      const asked = [];
      const ends = [];
      const save = (kind, on) => new Promise((done, fail) => {
        asked.push([kind, on]);
        ends.push({ done, fail });
      });
      const toggle = load('./src/toggle.js').createToggle(given, save);
      const shown = [];
      const results = plan.map(([kind]) => {
        const result = toggle.flip(kind);
        shown.push(toggle.settings());
        return result;
      });
      const order = plan.map((each, index) => [...each, index]).sort((a, b) => a[1] - b[1]);
      for (const [, , saved, index] of order) {
        if (saved) ends[index].done();
        else ends[index].fail(new Error('offline'));
        await results[index].catch(() => {});
        shown.push(toggle.settings());
      }
      const saved = (await Promise.allSettled(results)).map((each) => (each.status === 'fulfilled' ? each.value : 'rejected'));
      return { asked, shown, saved, given: given.notification_settings };
    }, settings, plan);
    return error ? { error: error.name } : value;
  };

  assert.deepStrictEqual((await profile('live', 1)).data, NIA, 'the own profile, live');
  assert.deepStrictEqual((await profile('live', 2)).data, ABE, 'live, without settings it is null');
  assert.deepStrictEqual([(await profile('demo', 7)).data, (await profile('demo', 8)).data, (await profile('demo', 9)).data], [VIC,
    ANN, SOL],
    'the own profile, in the demo, null where left out');
  assert.deepStrictEqual([(await members('live', 'blue')).data, (await members('live', 'red')).data], [[KIM], [ABE, NIA]],
    'the team, live');
  assert.deepStrictEqual([(await members('demo', 'red')).data, (await members('demo', 'blue')).data], [[ANN, VIC], [SOL]],
    'the team, in the demo');
  assert.deepStrictEqual(
    [(await change('live', 1, { notification_settings: { mail: false, push: true }, links: { blog: 'b' }, name: 'Nina',
      id: 5 })).data, (await change('live', 3, { city: 'Graz' })).data],
    [{ ...NIA, name: 'Nina', links: { blog: 'b' }, notification_settings: { mail: false, push: true } }, { ...KIM, city: 'Graz' }],
      'after a change, live');
  const played = await change('demo', 7, { notification_settings: { push: false }, language: 'da' });
  assert.deepStrictEqual([played.data, played.people, (await change('demo', 9, { city: 'Nice' })).data],
    [{ ...VIC, language: 'da', notification_settings: { push: false } }, PEOPLE, { ...SOL, city: 'Nice' }],
      'after a change, in the demo');
  assert.deepStrictEqual(
    [(await profile('live', 44)).status, (await profile('demo', 44)).status, (await change('demo', 44, {})).status,
      (await members('live', 'green')).data],
    [404, 404, 404, []], 'nobody is still nobody');
  assert.deepStrictEqual(
    [(await profile('live', 1)).status, (await profile('demo', 7)).status, (await change('live', 3, { city: 'Ulm' })).status,
      (await members('demo', 'red')).status],
    [200, 200, 200, 200], 'everybody else is found');
  assert.deepStrictEqual([(await profile('live', 1)).secrets, (await members('live', 'red')).secrets, (await change('live', 3,
    {})).secrets],
    [0, 0, 0], 'no secret is fetched');

  assert.deepStrictEqual(await flips({ mail: true, push: false }, [['mail', 1, true]]),
    { asked: [['mail', false]], shown: [{ mail: false, push: false }, { mail: false, push: false }], saved: [true],
      given: { mail: true, push: false } },
    'a flip shows at once and stays when saved');
  const { given, ...back } = await flips({ mail: true, push: false }, [['push', 1, false]]);
  assert.deepStrictEqual(back,
    { asked: [['push', true]], shown: [{ mail: true, push: true }, { mail: true, push: false }], saved: [false] },
    'a flip that was not saved jumps back');
  assert.deepStrictEqual((await flips(null, [['mail', 1, false]])).shown, [{ mail: true }, null],
    'no settings are no settings again');
  assert.deepStrictEqual(
    [(await flips({ mail: true, push: false }, [['mail', 2, false], ['push', 1, true]])).shown,
      (await flips({ mail: true, push: false }, [['mail', 1, false], ['push', 2, true]])).shown],
    [[{ mail: false, push: false }, { mail: false, push: true }, { mail: false, push: true }, { mail: true, push: true }],
      [{ mail: false, push: false }, { mail: false, push: true }, { mail: true, push: true }, { mail: true, push: true }]],
    'another switch keeps its new position');
  assert.deepStrictEqual(
    [(await flips({ mail: false }, [['mail', 1, false], ['mail', 2, false]])).shown, (await flips({ mail: false }, [['mail', 1,
      true], ['mail', 2, false]])).shown.pop(),
      (await flips({ mail: false }, [['mail', 1, true], ['mail', 2, true]])).shown],
    [[{ mail: true }, { mail: false }, { mail: false }, { mail: false }], { mail: true }, [{ mail: true }, { mail: false },
      { mail: false }, { mail: false }]], 'the same switch twice ends at what is saved');
};
