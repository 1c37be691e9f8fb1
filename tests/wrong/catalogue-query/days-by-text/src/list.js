'use strict';

const schema = require('./schema.json');

const columns = new Map(Object.entries(schema.columns).filter(([, column]) => !column.internal));
const RESERVED = new Set(['page', 'per_page', 'sort', 'fields']);
const MESSAGES = {
  unknown_field: 'There is no such column',
  unknown_operator: 'This column cannot be compared that way',
  invalid_value: 'This value does not fit',
  out_of_range: 'This number is outside its limits',
};
const COMPARE = {
  equal: (a, b) => a === b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  after: (a, b) => a > b,
  before: (a, b) => a < b,
};
const NUMBER = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;

/** Turn text from the address into a value of that type, or undefined when it isn't one. */
function parse(type, text) {
  if (type === 'string') return text;
  if (type === 'number') return NUMBER.test(text) ? Number(text) : undefined;
  if (type === 'boolean') return { true: true, false: false }[text];
  const moment = DATE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

function valueOf(item, name) {
  let value = item;
  for (const part of name.split('.')) {
    if (value === null || typeof value !== 'object') return undefined;
    value = value[part];
  }
  return columns.get(name).type === 'date' && value !== undefined ? Date.parse(value) : value;
}

function readFilter(key, text, refuse) {
  const [, name, operator] = /^([^[\]]*)(?:\[([^[\]]*)\])?$/.exec(key) || [null, key, undefined];
  const column = columns.get(name);
  if (!column) return refuse(name, 'unknown_field');
  if (operator !== undefined && !schema.operators[column.type].includes(operator)) {
    return refuse(name, 'unknown_operator');
  }
  const texts = operator === undefined ? text.split(',') : [text];
  const wanted = texts.map((each) => parse(column.type, each));
  if (wanted.includes(undefined)) return refuse(name, 'invalid_value');
  const compare = COMPARE[operator === undefined ? 'equal' : operator];
  if (operator !== undefined && column.type === 'date') return (item) => compare(item[name], text);
  return (item) => {
    const value = valueOf(item, name);
    return value !== undefined && wanted.some((each) => compare(value, each));
  };
}

function readSort(text, refuse) {
  const keys = text.split(',').map((key) => {
    const descending = key.startsWith('-');
    return { name: descending ? key.slice(1) : key, sign: descending ? -1 : 1 };
  });
  if (keys.some(({ name }) => !columns.has(name))) refuse('sort', 'unknown_field');
  return (a, b) => {
    for (const { name, sign } of keys) {
      const left = valueOf(a, name);
      const right = valueOf(b, name);
      if (left < right) return -sign;
      if (left > right) return sign;
    }
    return 0;
  };
}

function readWhole(query, name, fallback, maximum, refuse) {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^-?\d+$/.test(text)) {
    refuse(name, 'invalid_value');
    return fallback;
  }
  const number = Number(text);
  if (number < 1 || number > maximum) refuse(name, 'out_of_range');
  return number;
}

function pick(item, names) {
  const picked = {};
  for (const name of names) {
    const parts = name.split('.');
    const last = parts.pop();
    let from = item;
    for (const part of parts) from = from && from[part];
    if (from === undefined || from === null || from[last] === undefined) continue;
    let to = picked;
    for (const part of parts) to = to[part] = to[part] || {};
    to[last] = from[last];
  }
  return picked;
}

function linkTo(query, page) {
  const copy = new URLSearchParams(query);
  copy.set('page', String(page));
  return `${schema.path}?${copy}`;
}

function list(items, queryString) {
  const query = new URLSearchParams(queryString);
  const details = [];
  const refuse = (field, code) => {
    details.push({ field, message: MESSAGES[code], code });
  };

  const filters = [];
  for (const [key, text] of query) {
    if (!RESERVED.has(key)) filters.push(readFilter(key, text, refuse));
  }
  const order = query.has('sort') ? readSort(query.get('sort'), refuse) : null;
  const names = query.has('fields') ? query.get('fields').split(',') : [...columns.keys()];
  if (names.some((name) => !columns.has(name))) refuse('fields', 'unknown_field');
  const page = readWhole(query, 'page', 1, Infinity, refuse);
  const perPage = readWhole(query, 'per_page', schema.paging.defaultPerPage, schema.paging.maximumPerPage, refuse);
  if (details.length > 0) {
    return { status: 422, body: { error: { code: 'validation_error', message: 'The request has mistakes', details } } };
  }

  const found = items.filter((item) => filters.every((matches) => matches(item)));
  if (order) found.sort(order);
  const totalPages = Math.ceil(found.length / perPage);
  const links = { self: linkTo(query, page) };
  if (page < totalPages) links.next = linkTo(query, page + 1);
  links.last = linkTo(query, Math.max(totalPages, 1));
  return {
    status: 200,
    body: {
      data: found.slice((page - 1) * perPage, page * perPage).map((item) => pick(item, names)),
      meta: { total: found.length, page, per_page: perPage, total_pages: totalPages },
      links,
    },
  };
}

module.exports = { list };
