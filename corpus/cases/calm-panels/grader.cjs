'use strict';

const REST = { opacity: 1, x: 0, y: 0, rotate: 0, scale: 1, scaleX: 1, scaleY: 1 };
const MOVING = ['modal', 'toast', 'page', 'drawer', 'list', 'tabs'];
const KINDS = [...MOVING, 'carousel'];

// Everything but the fade that isn't where it belongs; what is no transform counts wherever it is.
const moved = (state) => Object.entries(Object(state)).filter(([key, value]) => key !== 'opacity' && value !== REST[key]).map(([key]) => key);
const layout = (got) => [got.initial, got.animate, got.exit].flatMap((state) => Object.keys(Object(state))).filter((key) => !(key in REST));
const fade = (got) => [got.initial, got.animate, got.exit].map((state) => Object(state).opacity);

module.exports = async ({ subject, assert }) => {
  async function entrance(kind, env, options) {
    const { value } = await subject.attempt((load, kind, env, options) => load('./motion.js').entrance(kind, env, options), kind, env, options);
    return { initial: {}, animate: {}, exit: {}, transition: {}, ...Object(value) };
  }
  const each = async (kinds, env) => Promise.all(kinds.map((kind) => entrance(kind, env)));
  const table = (kinds, values) => Object.fromEntries(kinds.map((kind, index) => [kind, values[index]]));
  const duration = async (env) => (await entrance('page', env)).transition.duration;

  const calm = await each(KINDS, { reducedMotion: true, deviceMemory: 8, hardwareConcurrency: 8 });
  const still = (part) => table(KINDS, calm.map((got) => moved(got[part])));
  const nothing = table(KINDS, KINDS.map(() => []));
  assert.deepStrictEqual(still('initial'), nothing, 'less movement: nothing comes from elsewhere');
  assert.deepStrictEqual(still('exit'), nothing, 'less movement: nothing goes elsewhere');
  assert.deepStrictEqual(still('animate'), nothing, 'less movement: everything rests in its place');
  assert.deepStrictEqual(table(KINDS, calm.map(fade)), table(KINDS, KINDS.map(() => [0, 1, 0])), 'less movement: the fade stays');
  assert.deepStrictEqual(calm.map((got) => got.transition.duration), KINDS.map(() => 0.1), 'less movement: the fade has its own time');
  assert.deepStrictEqual(await duration({ reducedMotion: true, deviceMemory: 1 }), 0.1, 'less movement: a weak device changes nothing');

  // After the calm visitors on purpose: what they got must not stick.
  const usual = await each(KINDS, { reducedMotion: false, deviceMemory: 8, hardwareConcurrency: 8 });
  assert.deepStrictEqual(MOVING.filter((_, index) => moved(usual[index].initial).length === 0), [], 'others still see it come from elsewhere');
  const jump = (state) => ['scale', 'scaleX', 'scaleY'].filter((key) => Math.abs((Object(state)[key] ?? 1) - 1) > 0.25);
  assert.deepStrictEqual([jump(usual[0].initial), jump(usual[0].exit)], [[], []], 'a modal grows and shrinks a little only');
  assert.deepStrictEqual(usual.map(fade), KINDS.map(() => [0, 1, 0]), 'others see the fade as well');
  assert.deepStrictEqual(usual.flatMap(layout), [], 'only opacity and transforms change');

  assert.deepStrictEqual(await duration({ deviceMemory: 8, hardwareConcurrency: 8 }), 0.4, 'a strong device has the normal time');
  assert.deepStrictEqual([await duration({ deviceMemory: 2, hardwareConcurrency: 8 }), await duration({ deviceMemory: 0.25, hardwareConcurrency: 16 })], [0.2, 0.2], 'little memory is weak, however many cores');
  assert.deepStrictEqual([await duration({ deviceMemory: 4, hardwareConcurrency: 2 }), await duration({ deviceMemory: 8, hardwareConcurrency: 4 })], [0.4, 0.4], 'enough memory is strong, however few cores');
  assert.deepStrictEqual([await duration({ hardwareConcurrency: 4 }), await duration({ hardwareConcurrency: 1 })], [0.2, 0.2], 'few cores are weak where memory is unknown');
  assert.deepStrictEqual([await duration({ hardwareConcurrency: 8 }), await duration({ hardwareConcurrency: 5 })], [0.4, 0.4], 'enough cores are strong where memory is unknown');
  assert.deepStrictEqual(await duration({}), 0.4, 'an unknown device is strong');

  const modes = table(KINDS, usual.map((got) => got.mode));
  const { modal, toast, page, drawer, list, tabs, carousel } = modes;
  assert.deepStrictEqual({ modal, toast, page, drawer }, { modal: 'wait', toast: 'wait', page: 'wait', drawer: 'wait' }, 'what comes one at a time waits');
  assert.deepStrictEqual({ list, tabs }, { list: 'popLayout', tabs: 'popLayout' }, 'rows and panes give their place up');
  assert.deepStrictEqual(carousel, 'sync', 'slides fade into each other');

  const stagger = async (options) => (await entrance('list', { deviceMemory: 8 }, options)).transition.staggerChildren;
  assert.deepStrictEqual([await stagger({ stagger: 0.3 }), await stagger({ stagger: 0.11 })], [0.1, 0.1], 'rows never come slower than the most');
  assert.deepStrictEqual([await stagger({ stagger: 0.08 }), await stagger(), await stagger({})], [0.08, 0.05, 0.05], 'a quicker wish and the usual pace stay');
};
