'use strict';

/** Runs inside the subject: services on a clock of their own, for several requests at a time. */
const serve = async (load, { world, delays, failures, requests }) => {
  const calls = [];
  const events = [];
  let now = 0;
  let unhandled = 0;
  const count = () => { unhandled += 1; };
  process.on('unhandledRejection', count);
  const settle = async () => {
    for (let turn = 3; turn; turn--) await new Promise((resolve) => setImmediate(resolve));
  };
  const later = (ms) => new Promise((resolve) => events.push({ at: now + ms, resolve }));
  const answers = {
    product: (id) => world.products[id] || null,
    user: (session) => world.users[session],
    basket: (userId) => world.baskets[userId].shift() || null,
    price: (id, group) => world.prices[`${id} ${group}`],
    reviews: (id) => world.reviews[id],
    author: (authorId) => world.authors[authorId],
  };
  const apiFor = (name) => Object.fromEntries(Object.keys(answers).map((service) => [service, async (...args) => {
    calls.push(`${name} ${service} ${args.join(' ')}`);
    await later((delays[name] || delays.all)[service]);
    const failure = failures[service] || failures[`${service} ${args[0]}`];
    if (failure) throw Object.assign(new Error(`${service} is down`), { code: failure });
    return structuredClone(answers[service](...args));
  }]));
  const { loadPage } = load('./src/load-page.js');
  const results = requests.map(() => ({ end: 'never' }));
  const start = async ({ name, session, id, at = 0 }, index) => {
    await later(at);
    try {
      const page = await loadPage({ session, api: apiFor(name) }, id);
      results[index] = { page, end: now };
    } catch (error) {
      results[index] = { code: error && error.code, end: now };
    }
  };
  requests.forEach(start);
  await settle();
  while (events.length) {
    events.sort((a, b) => a.at - b.at);
    const next = events.shift();
    now = next.at;
    next.resolve();
    await settle();
  }
  process.removeListener('unhandledRejection', count);
  return { results, calls, unhandled };
};

const EVEN = { product: 30, user: 20, basket: 30, price: 15, reviews: 40, author: 20 };
/** Everybody in it is somebody new, so that what a submission remembers of one round cannot help it in the next. */
const world = (round) => ({
  products: {
    lamp: { id: 'lamp', name: 'Lamp', withdrawn: false, supplier: 'acme', cost: 700 },
    rug: { id: 'rug', name: 'Rug', withdrawn: true, supplier: 'weave', cost: 1 },
    cup: { id: 'cup', name: 'Cup', withdrawn: false, supplier: 'clay', cost: 2 },
  },
  users: {
    [`t1/${round}`]: { id: `u1/${round}`, name: 'Ida', group: 'club', email: 'ida@x.example', hash: 'abc' },
    [`t2/${round}`]: { id: `u2/${round}`, name: 'Jon', group: 'shop', email: 'jon@x.example', hash: 'def' },
  },
  baskets: { [`u1/${round}`]: [{ items: ['a', 'b'], note: 'n' }, { items: ['a', 'b', 'c'] }], [`u2/${round}`]: [{ items: [] }] },
  prices: { 'lamp guest': 1990, 'lamp club': 1790, 'lamp shop': 1490, 'cup guest': 500, 'cup club': 450, 'cup shop': 400 },
  reviews: {
    lamp: [
      { id: 1, stars: 5, text: 'Bright', authorId: 'o', ip: '10.0.0.1' }, { id: 2, stars: 1, text: 'Broke', authorId: 'p',
        ip: '10.0.0.2' },
      { id: 3, stars: 4, text: 'Still bright', authorId: 'o', ip: '10.0.0.1' },
    ],
    cup: [],
  },
  authors: { o: { name: 'Ola', email: 'o@x.example' }, p: { name: 'Per', email: 'p@x.example' } },
});
const REVIEWS = [
  { stars: 5, text: 'Bright', author: 'Ola' }, { stars: 1, text: 'Broke', author: 'Per' }, { stars: 4, text: 'Still bright',
    author: 'Ola' },
];
const page = (more) => ({ id: 'lamp', name: 'Lamp', withdrawn: false, price: 1990, user: null, basket: null, reviews: REVIEWS,
  ...more });
const IDA = { price: 1790, user: { name: 'Ida' }, basket: { count: 2 } };

module.exports = async ({ subject, assert }) => {
  let round = 0;
  const serveAll = async (visits, { failures = {}, delays = { all: EVEN } } = {}) => {
    round += 1;
    const requests = visits.map((each) => ({ ...each, session: each.session && `${each.session}/${round}` }));
    const { value, error } = await subject.attempt(serve, { world: world(round), delays, failures, requests });
    return value || { results: [{ error: error.name }], calls: [error.name], unhandled: error.name };
  };
  const visit = (session, id, options) => serveAll([{ name: 'r', session, id }], options);
  const shown = async (...given) => (await visit(...given)).results[0].page;
  /** How often each service was called, in the order of the names. */
  const counts = ({ calls }) => ['product', 'user', 'basket', 'price', 'reviews', 'author']
    .map((service) => calls.filter((call) => call.split(' ')[1] === service).length);

  assert.deepStrictEqual(await shown('t1', 'lamp'), page(IDA), 'the page of a customer, and nothing else of her');
  const person = ({ price, user, basket } = {}) => ({ price, user, basket });
  assert.deepStrictEqual(
    [person(await shown(null, 'lamp')), person(await shown('t1', 'cup', { failures: { user: 'DOWN' } }))],
    [{ price: 1990, user: null, basket: null }, { price: 500, user: null, basket: null }],
      'no login, or one that cannot be looked up');
  assert.deepStrictEqual(counts(await visit(null, 'cup')), [1, 0, 0, 1, 1, 0], 'a visitor without a login costs no lookup');
  assert.deepStrictEqual([await visit('t1', ''), await visit('t1', undefined)].map(({ results, calls }) => [results[0].page,
    calls]), [[null, []], [null, []]],
    'without an id nobody is asked');

  const gone = await visit('t2', 'rug');
  assert.deepStrictEqual([gone.results[0].page, counts(gone).slice(3)],
    [{ id: 'rug', name: 'Rug', withdrawn: true, price: null, user: { name: 'Jon' }, basket: { count: 0 }, reviews: [] }, [0, 0, 0]],
    'nobody is paid for a withdrawn product');
  const missing = await visit('t2', 'sofa');
  assert.deepStrictEqual([missing.results[0].page, counts(missing).slice(3)], [null, [0, 0, 0]],
    'nobody is paid for a product that is not there');

  const ends = [];
  for (const all of [
    EVEN,
    { product: 50, user: 10, basket: 70, price: 5, reviews: 20, author: 5 },
    { product: 10, user: 60, basket: 20, price: 30, reviews: 20, author: 20 },
    { product: 20, user: 30, basket: 5, price: 10, reviews: 5, author: 60 },
  ]) ends.push((await visit('t1', 'lamp', { delays: { all } })).results[0].end);
  for (const [session, id] of [[null, 'lamp'], ['t1', 'rug']]) ends.push((await visit(session, id)).results[0].end);
  assert.deepStrictEqual(ends, [90, 80, 90, 85, 90, 50], 'nothing waits for what it does not need');

  const both = await serveAll(
    [{ name: 'ida', session: 't1', id: 'lamp' }, { name: 'jon', session: 't2', id: 'lamp', at: 5 }, { name: 'any', session: null,
      id: 'lamp', at: 25 }],
    { delays: { all: EVEN, ida: { ...EVEN, user: 45, basket: 90 }, jon: { ...EVEN, basket: 5 } } });
  assert.deepStrictEqual(both.results.slice(0, 2).map((each) => person(each.page)), [IDA, { price: 1490, user: { name: 'Jon' },
    basket: { count: 0 } }],
    'people at the same time see their own');
  const again = await serveAll([{ name: 'one', session: 't1', id: 'cup' }, { name: 'two', session: 't1', id: 'cup', at: 500 }]);
  assert.deepStrictEqual(again.results.map((each) => person(each.page).basket), [{ count: 2 }, { count: 3 }],
    'a later visit is not answered from an earlier one');
  const lamp = await visit('t1', 'lamp');
  assert.deepStrictEqual([counts(lamp), lamp.calls.filter((call) => call.startsWith('r author')).sort()],
    [[1, 1, 1, 1, 1, 2], ['r author o', 'r author p']], 'an author of two reviews is asked for once');

  const { reviews, ...unread } = (await shown('t1', 'lamp', { failures: { reviews: 'DOWN' } })) || {};
  assert.deepStrictEqual([reviews, person(unread), person(await shown('t1', 'lamp', { failures: { basket: 'DOWN' } }))],
    [null, IDA, { ...IDA, basket: null }], 'a page without reviews or basket is still a page');
  const signed = ((await shown('t1', 'lamp', { failures: { 'author p': 'DOWN' } })) || {}).reviews;
  assert.deepStrictEqual(signed && signed.map(({ stars, author }) => [stars, author]), [[5, 'Ola'], [1, null], [4, 'Ola']],
    'one unknown author is one unknown author');
  const broken = [
    await visit('t1', 'lamp', { failures: { product: 'NO_PRODUCT', user: 'DOWN', basket: 'DOWN' } }),
    await visit('t1', 'lamp', { failures: { price: 'NO_PRICE', reviews: 'DOWN', author: 'DOWN' } }),
  ];
  assert.deepStrictEqual(broken.map(({ results }) => results[0].code), ['NO_PRODUCT', 'NO_PRICE'],
    'without product or price there is no page');
  const slow = { all: { ...EVEN, product: 10, user: 15, price: 5, reviews: 80 } };
  const late = [
    await visit('t1', 'lamp', { failures: { product: 'NO_PRODUCT', user: 'DOWN' }, delays: slow }),
    await visit('t1', 'lamp', { failures: { product: 'NO_PRODUCT', basket: 'DOWN' }, delays: slow }),
    await visit('t1', 'lamp', { failures: { price: 'NO_PRICE', reviews: 'DOWN' }, delays: slow }),
    await visit('t1', 'lamp', { failures: { price: 'NO_PRICE', author: 'DOWN' }, delays: { all: { ...EVEN, author: 200 } } }),
    await visit('t1', 'sofa', { failures: { user: 'DOWN' }, delays: { all: { ...EVEN, user: 300 } } }),
  ];
  assert.deepStrictEqual(late.map(({ unhandled }) => unhandled), [0, 0, 0, 0, 0], 'what fails later is not forgotten');
};
