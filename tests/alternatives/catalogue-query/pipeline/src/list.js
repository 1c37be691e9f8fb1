'use strict';

const querystring = require('querystring');
const { columns, operators, paging, path } = require('./schema.json');

const isPublic = (name) => Object.hasOwn(columns, name) && !columns[name].internal;
const look = (item, name) => name.split('.').reduce((at, part) => (at == null ? undefined : at[part]), item);

const readers = {
  string: (text) => ({ ok: true, value: text }),
  boolean: (text) => ({ ok: text === 'true' || text === 'false', value: text === 'true' }),
  number: (text) => ({ ok: text.trim() !== '' && Number.isFinite(Number(text)), value: Number(text) }),
  date: (text) => {
    const value = new Date(text).getTime();
    return { ok: /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(value), value };
  },
};

function comparable(item, name) {
  const raw = look(item, name);
  if (raw === undefined || raw === null) return undefined;
  return columns[name].type === 'date' ? new Date(raw).getTime() : raw;
}

class Request {
  constructor(text) {
    this.pairs = Object.entries(querystring.parse(text)).map(([key, value]) => [key, [].concat(value)]);
    this.problems = [];
  }

  problem(field, code, message) {
    this.problems.push({ field, code, message });
    return null;
  }

  one(name) {
    const pair = this.pairs.find(([key]) => key === name);
    return pair ? pair[1][0] : undefined;
  }

  conditions() {
    const special = ['page', 'per_page', 'sort', 'fields'];
    const all = [];
    for (const [key, values] of this.pairs) {
      if (special.includes(key)) continue;
      for (const value of values) all.push(this.condition(key, value));
    }
    return all.filter(Boolean);
  }

  condition(key, value) {
    const open = key.indexOf('[');
    const name = open < 0 ? key : key.slice(0, open);
    const operator = open < 0 ? 'is' : key.slice(open + 1, -1);
    if (!isPublic(name)) return this.problem(name, 'unknown_field', 'We do not have that column');
    const { type } = columns[name];
    if (operator !== 'is' && !operators[type].includes(operator)) {
      return this.problem(name, 'unknown_operator', `A ${type} has no "${operator}"`);
    }
    const read = (operator === 'is' ? value.split(',') : [value]).map(readers[type]);
    if (!read.every((each) => each.ok)) return this.problem(name, 'invalid_value', `Not a ${type}`);
    return { name, operator, wanted: read.map((each) => each.value) };
  }

  whole(name, standard, highest) {
    const text = this.one(name);
    if (text === undefined) return standard;
    const number = Number(text);
    if (text === '' || !Number.isInteger(number)) return this.problem(name, 'invalid_value', 'Must be a whole number');
    if (number < 1 || number > highest) return this.problem(name, 'out_of_range', `Must be 1 to ${highest}`);
    return number;
  }

  names(parameter, text) {
    const names = text.split(',');
    if (!names.every((name) => isPublic(parameter === 'sort' ? name.replace(/^-/, '') : name))) {
      this.problem(parameter, 'unknown_field', 'It names a column that we do not have');
    }
    return names;
  }

  address(page) {
    const rest = this.pairs.filter(([key]) => key !== 'page');
    return `${path}?${querystring.stringify(Object.fromEntries([...rest, ['page', page]]))}`;
  }
}

function holds({ name, operator, wanted }, item) {
  const value = comparable(item, name);
  if (value === undefined) return false;
  switch (operator) {
    case 'gt': case 'after': return value > wanted[0];
    case 'gte': return value >= wanted[0];
    case 'lt': case 'before': return value < wanted[0];
    case 'lte': return value <= wanted[0];
    default: return wanted.includes(value);
  }
}

function arrange(items, keys) {
  // The last key first: a stable sort keeps what the earlier passes did.
  return keys.reduceRight((sorted, key) => {
    const name = key.replace(/^-/, '');
    const factor = key === name ? 1 : -1;
    return [...sorted].sort((a, b) => {
      const [x, y] = [comparable(a, name), comparable(b, name)];
      return x === y ? 0 : (x > y ? 1 : -1) * factor;
    });
  }, items);
}

function cut(item, names) {
  const out = {};
  for (const name of names) {
    const value = look(item, name);
    if (value === undefined) continue;
    const [outer, inner] = name.split('.');
    if (inner) out[outer] = { ...out[outer], [inner]: value };
    else out[outer] = value;
  }
  return out;
}

exports.list = function list(items, queryString) {
  const request = new Request(queryString);
  const conditions = request.conditions();
  const sort = request.one('sort') === undefined ? [] : request.names('sort', request.one('sort'));
  const names = request.one('fields') === undefined
    ? Object.keys(columns).filter(isPublic)
    : request.names('fields', request.one('fields'));
  const page = request.whole('page', 1, Number.MAX_SAFE_INTEGER);
  const size = request.whole('per_page', paging.defaultPerPage, paging.maximumPerPage);
  if (request.problems.length) {
    const error = { code: 'validation_error', message: 'Please check the address', details: request.problems };
    return { status: 422, body: { error } };
  }
  const matches = arrange(items.filter((item) => conditions.every((each) => holds(each, item))), sort);
  const pages = Math.ceil(matches.length / size);
  return {
    status: 200,
    body: {
      data: matches.slice((page - 1) * size).slice(0, size).map((item) => cut(item, names)),
      meta: { total: matches.length, page, per_page: size, total_pages: pages },
      links: {
        self: request.address(page),
        ...(page < pages && { next: request.address(page + 1) }),
        last: request.address(pages || 1),
      },
    },
  };
};
