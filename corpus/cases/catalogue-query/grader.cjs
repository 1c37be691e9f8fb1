'use strict';

const made = (id, category, price, stock, featured, created_at, origin, cost) =>
  ({ id, name: `Thing ${id}`, category, price, stock, featured, created_at, origin, cost });

const ITEMS = [
  made('a', 'mugs', 100, 3, false, '2025-04-10T12:00:00Z', { country: 'PT', town: 'Porto' }, 40),
  made('b', 'bowls', 9, 0, true, '2025-04-11T00:30:00+02:00', { country: 'IT', town: 'Faenza' }, 4),
  made('c', 'lamps', 10, 5, false, '2025-04-12T09:00:00Z', { country: 'PT', town: 'Faro' }, 3),
  made('d', 'bowls', 250, 10, true, '2025-04-10T23:30:00-03:00', { country: 'ES', town: 'Vigo' }, 90),
  made('e', 'mugs', 100.5, 0, false, '2025-04-09T18:00:00Z', { country: 'PT', town: 'Faro' }, 41),
  made('f', 'linen', 20, 7, true, '2025-04-13T07:00:00Z', { country: 'IT', town: 'Bari' }, 8),
  made('g', 'mugs', 20, 2, true, '2025-04-08T07:00:00Z', { country: 'DE', town: 'Bonn' }, 9),
];
const LONE = { id: 'z', name: 'Thing z', category: 'linen', price: 5, stock: 1, featured: false,
  created_at: '2025-04-01T00:00:00Z', cost: 1 };

module.exports = async ({ subject, assert }) => {
  const ask = (query, items = ITEMS) =>
    subject.run((load, list, text) => {
      try {
        const { status, body } = load('./src/list.js').list(list, text);
        return { status, body };
      } catch (error) {
        return { thrown: String(error && error.name) };
      }
    }, items, query);
  const rows = (body) => (body && Array.isArray(body.data) ? body.data : ['no data']);
  const ids = async (query, items) => {
    const { status, body } = await ask(query, items);
    return { status, ids: rows(body).map((item) => item && item.id) };
  };
  const refusal = async (query) => {
    const { status, body } = await ask(query);
    const error = (body && body.error) || {};
    const listed = Array.isArray(error.details) ? error.details : [];
    const details = listed.map((detail) => `${detail && detail.field} ${detail && detail.code}`).sort();
    return { status, code: error.code, details };
  };
  const refused = (...details) => ({ status: 422, code: 'validation_error', details });

  assert.deepStrictEqual(await ids('price[gte]=10&price[lte]=100'), { status: 200, ids: ['a', 'c', 'f', 'g'] },
    'a lower and an upper bound hold together');
  assert.deepStrictEqual(await ids('price%5Bgt%5D=10&price%5Blt%5D=100.5&per_page=5'), { status: 200, ids: ['a', 'f', 'g'] },
    'encoded brackets and strict bounds');
  assert.deepStrictEqual([await ids('category=mugs,bowls'), await ids('category=linen,tablelamps')],
    [{ status: 200, ids: ['a', 'b', 'd', 'e', 'g'] }, { status: 200, ids: ['f'] }],
    'a comma list takes any of its values');
  assert.deepStrictEqual(await ids('price=20.0,9'), { status: 200, ids: ['b', 'f', 'g'] },
    'equal numbers may be written differently');
  assert.deepStrictEqual([await ids('featured=true&stock[gt]=0'), await ids('featured=false&stock=0')],
    [{ status: 200, ids: ['d', 'f', 'g'] }, { status: 200, ids: ['e'] }],
    'a flag is no text');
  assert.deepStrictEqual(await ids('origin.country=PT&origin.town=Faro,Porto', [LONE, ...ITEMS]),
    { status: 200, ids: ['a', 'c', 'e'] }, 'a dotted name looks inside and survives a product without it');
  assert.deepStrictEqual(
    [await ids('created_at[after]=2025-04-11&created_at[before]=2025-04-13'),
      await ids('created_at[after]=2025-04-11T02:30:00Z'), await ids('created_at[before]=2025-04-09T18:00:00Z')],
    [{ status: 200, ids: ['c', 'd'] }, { status: 200, ids: ['c', 'f'] }, { status: 200, ids: ['g'] }],
    'days are compared as moments');

  assert.deepStrictEqual(await ids('sort=-created_at'), { status: 200, ids: ['f', 'c', 'd', 'b', 'a', 'e', 'g'] },
    'newest first whatever the offset');
  assert.deepStrictEqual(await ids('sort=-featured,price,-created_at'),
    { status: 200, ids: ['b', 'f', 'g', 'd', 'c', 'a', 'e'] }, 'each sort key has its own direction');
  assert.deepStrictEqual(await ids('sort=-category'), { status: 200, ids: ['a', 'e', 'g', 'f', 'c', 'b', 'd'] },
    'equal products keep their order');

  const narrow = await ask('fields=name,origin.town&category=lamps,linen&sort=price');
  assert.deepStrictEqual(rows(narrow.body),
    [{ name: 'Thing c', origin: { town: 'Faro' } }, { name: 'Thing f', origin: { town: 'Bari' } }],
    'fields keeps only the columns asked for');
  const { cost, ...shown } = ITEMS[1];
  assert.deepStrictEqual(rows((await ask('stock=0&category=bowls')).body), [shown],
    'without fields every public column is there');

  const target = (link) => String(link).slice(String(link).indexOf('?') + 1);
  const walked = [];
  let next = '?category=mugs,bowls&sort=-price&per_page=2';
  while (next && walked.length < 9) {
    const { body } = await ask(target(next));
    walked.push(rows(body).map((item) => item && item.id));
    next = body && body.links && body.links.next;
  }
  assert.deepStrictEqual(walked, [['d', 'e'], ['a', 'g'], ['b']], 'following next shows every match once and ends');

  const middle = await ask('category=mugs,bowls&per_page=2&page=2');
  const { meta, links = {} } = middle.body || {};
  assert.deepStrictEqual(meta, { total: 5, page: 2, per_page: 2, total_pages: 3 }, 'meta counts the matches');
  assert.deepStrictEqual([await ids(target(links.self)), await ids(target(links.last))],
    [{ status: 200, ids: ['d', 'e'] }, { status: 200, ids: ['g'] }], 'self and last lead where they say');
  const none = await ask('category=sofas');
  assert.deepStrictEqual([none.status, rows(none.body), none.body && none.body.meta],
    [200, [], { total: 0, page: 1, per_page: 20, total_pages: 0 }], 'no match is an empty list with 0 pages');

  assert.deepStrictEqual(await refusal('price[gte]=cheap&created_at[after]=12&featured=yes&stock=3&pages=2'),
    refused('created_at invalid_value', 'featured invalid_value', 'pages unknown_field', 'price invalid_value'),
    'everything wrong is told at once');
  assert.deepStrictEqual(await refusal('price[lt]='), refused('price invalid_value'), 'an empty number is none');
  assert.deepStrictEqual(await refusal('constructor=1&__proto__=2&toString=3'),
    refused('__proto__ unknown_field', 'constructor unknown_field', 'toString unknown_field'),
    'inherited names are no columns');
  assert.deepStrictEqual(await refusal('cost[lt]=9'), refused('cost unknown_field'), 'an internal column cannot be probed');
  assert.deepStrictEqual(await refusal('category[gte]=m&price[after]=1'),
    refused('category unknown_operator', 'price unknown_operator'), 'operators belong to a type');
  assert.deepStrictEqual(await refusal('sort=price,-cost&fields=id,colour'),
    refused('fields unknown_field', 'sort unknown_field'), 'sort and fields know the public columns only');
  assert.deepStrictEqual(
    [await refusal('per_page=51&page=0'), await refusal('per_page=0&page=1.5'), await ids('page=1&per_page=50&category=lamps')],
    [refused('page out_of_range', 'per_page out_of_range'), refused('page invalid_value', 'per_page out_of_range'),
      { status: 200, ids: ['c'] }],
    'paging has limits');

  const order = await subject.run((load, list) => {
    load('./src/list.js').list(list, 'sort=price&fields=id,origin.country');
    return list;
  }, ITEMS);
  assert.deepStrictEqual(order, ITEMS, 'the catalogue is left alone');
};
