'use strict';

const apply = (load, settings, change) => load('./src/patch.js').apply(settings, change);
const applyAll = (load, pairs) => pairs.map(([settings, change]) => load('./src/patch.js').apply(settings, change));
const applyAndKeep = (load, settings, change) => {
  const answer = load('./src/patch.js').apply(settings, change);
  return { answer, settings, change };
};
const changeTheAnswer = (load, settings, change) => {
  const answer = load('./src/patch.js').apply(settings, change);
  answer.mail.folders.push('spam');
  answer.mail.sent.at.setTime(1);
  answer.look.grid.rows = 9;
  answer.tags[1].name = 'late';
  answer.due.setTime(2);
  return { settings, change };
};
const attempts = (load, changes) =>
  changes.map((change) => {
    try {
      return { answer: load('./src/patch.js').apply({ a: 1 }, change) };
    } catch (error) {
      return { name: error.name };
    }
  });
const applyOrName = (load, settings, change) => {
  try {
    return { answer: load('./src/patch.js').apply(settings, change) };
  } catch (error) {
    return { name: error.name };
  }
};
const hostileKeys = (load, settings, texts) => {
  const answers = texts.map((text) => {
    const answer = load('./src/patch.js').apply(settings, JSON.parse(text));
    return { json: JSON.stringify(answer), rank: answer.rank };
  });
  const { admin, role } = {};
  delete Object.prototype.admin;
  delete Object.prototype.role;
  return { answers, admin, role };
};

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(applyAll, [
      [{ a: { b: { c: { d: 1, e: 2 }, f: 3 } }, g: 'h' }, { a: { b: { c: { e: 5, i: 6 } } } }],
      [{ look: { font: { size: 14 } } }, { look: { font: { face: { bold: true } } }, n: 'new' }],
    ]),
    [
      { a: { b: { c: { d: 1, e: 5, i: 6 }, f: 3 } }, g: 'h' },
      { look: { font: { size: 14, face: { bold: true } } }, n: 'new' },
    ],
    'a change reaches any depth and leaves the rest',
  );
  assert.deepStrictEqual(
    await subject.run(apply, { a: 1, b: { c: 2, d: 3 }, e: { f: 4 } }, { a: null, b: { c: null, x: null }, y: null }),
    { b: { d: 3 }, e: { f: 4 } },
    'null takes a key away, on every level',
  );
  assert.deepStrictEqual(
    await subject.run(applyAll, [
      [{ a: 1 }, { b: { c: null, d: { e: null, f: 2 }, g: { h: null } } }],
      [{ a: 7 }, { a: { b: null, c: 'd' } }],
    ]),
    [{ a: 1, b: { d: { f: 2 }, g: {} } }, { a: { c: 'd' } }],
    'an object that is new comes without its nulls',
  );
  assert.deepStrictEqual(
    await subject.run(apply, { a: ['one', 'two', 'three'], b: ['x'] }, { a: ['four'], b: [] }),
    { a: ['four'], b: [] },
    'a list replaces as a whole',
  );
  assert.deepStrictEqual(
    await subject.run(apply, { a: 'b' }, { a: [null, { x: null, y: [null] }], n: [{ z: null }] }),
    { a: [null, { x: null, y: [null] }], n: [{ z: null }] },
    'a null in a list stays',
  );
  assert.deepStrictEqual(
    await subject.run(apply, { a: 'text', b: ['p', 'q'], c: 7 }, { a: { k: 1 }, b: { k: 2 }, c: { k: 3 } }),
    { a: { k: 1 }, b: { k: 2 }, c: { k: 3 } },
    'an object takes the place of what is no object',
  );
  assert.deepStrictEqual(
    await subject.run(applyOrName, { a: new Date(86400000), b: { c: new Date(0) }, e: { f: 1 }, g: new Date(50) }, { a: new Date(172800000), b: { d: new Date(3) }, e: new Date(4), g: { k: 3 } }),
    { answer: { a: new Date(172800000), b: { c: new Date(0), d: new Date(3) }, e: new Date(4), g: { k: 3 } } },
    'a date is a value',
  );
  assert.deepStrictEqual(
    await subject.run(apply, { a: 5, b: 'text', c: true, d: { e: 6 } }, { a: 0, b: '', c: false, d: { e: 0 } }),
    { a: 0, b: '', c: false, d: { e: 0 } },
    'zero, empty text and false are values',
  );
  assert.deepStrictEqual(
    await subject.run(apply, { a: 1, b: { c: 2 } }, { a: undefined, b: { c: undefined, d: undefined, e: 3 } }),
    { a: 1, b: { c: 2, e: 3 } },
    'undefined says nothing',
  );
  assert.deepStrictEqual(
    await subject.run(applyOrName, { hasOwnProperty: 1, valueOf: { p: 2 } }, { toString: { deep: 'x' }, hasOwnProperty: true, valueOf: null, isPrototypeOf: 8 }),
    { answer: { hasOwnProperty: true, toString: { deep: 'x' }, isPrototypeOf: 8 } },
    'names of built-in methods are ordinary keys',
  );
  const settings = { a: { b: 1, c: { d: 2 } }, e: [3], z: 5 };
  const change = { a: { c: { d: 4 } }, e: ['f'], z: null };
  assert.deepStrictEqual(
    await subject.run(applyAndKeep, settings, change),
    { answer: { a: { b: 1, c: { d: 4 } }, e: ['f'] }, settings, change },
    'settings and change stay as they were',
  );
  const old = { mail: { folders: ['in'], sent: { at: new Date(70) } }, look: { grid: { rows: 2 } } };
  const news = { tags: ['soon', { name: 'now' }], due: new Date(80) };
  assert.deepStrictEqual(
    await subject.run(changeTheAnswer, old, news),
    { settings: old, change: news },
    'the answer shares nothing with settings or change',
  );
  assert.deepStrictEqual(
    await subject.run(attempts, [null, ['a'], 'a', 7, undefined, new Date(90), {}]),
    [...Array.from({ length: 6 }, () => ({ name: 'TypeError' })), { answer: { a: 1 } }],
    'a change that is no plain object is refused',
  );
  assert.deepStrictEqual(
    await subject.run(hostileKeys, { a: { b: 1 } }, [
      '{"__proto__": {"admin": 1, "rank": 2}, "a": {"__proto__": {"role": 3}, "c": 4}}',
      '{"constructor": {"prototype": {"admin": 5}}, "a": {"prototype": {"x": 6}, "b": 7}}',
      '{"l": [{"__proto__": {"rank": 8}, "k": 9}], "n": {"constructor": "x", "m": [[{"prototype": 1}]]}}',
    ]),
    {
      answers: [
        { json: '{"a":{"b":1,"c":4}}', rank: undefined },
        { json: '{"a":{"b":7}}', rank: undefined },
        { json: '{"a":{"b":1},"l":[{"k":9}],"n":{"m":[[{}]]}}', rank: undefined },
      ],
      admin: undefined,
      role: undefined,
    },
    'keys that reach a prototype are never taken over',
  );
};
