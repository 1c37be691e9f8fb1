'use strict';
// Owns the one form in which values cross between the subject and the grader; it must never let a value cross as
// anything but data. Tagged arrays stand for what JSON lacks, objects travel as lists of pairs, so that no name in an
// answer (`__proto__`, `toJSON`, `then`) can mean anything on the way. `messages.py` checks the same grammar.

const { types } = require('node:util');

const DEPTH = 48;
const NODES = 50_000;
const TOO_MANY = 'a value of more than 50,000 parts';
const NATIVE_ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

class CrossingError extends Error {
  constructor(what) {
    super(`${what} can't cross between the submission and the grader`);
    this.name = 'CrossingError';
  }
}

function encode(value) {
  const open = new Set();
  let nodes = 0;

  function pairs(object, keys) {
    return keys.map((key) => [key, enter(object[key])]);
  }

  function list(array) {
    if (array.length > NODES) throw new CrossingError(TOO_MANY);
    return Array.from({ length: array.length }, (_, index) => (index in array ? enter(array[index]) : ['h']));
  }

  function error(thrown) {
    const keys = Object.keys(thrown).filter((key) => key !== 'name' && key !== 'message' && key !== 'stack');
    for (const key of ['code', 'cause', 'errors']) {
      if (Object.hasOwn(thrown, key) && !keys.includes(key)) keys.push(key);
    }
    return ['e', String(thrown.name), String(thrown.message), pairs(thrown, keys)];
  }

  function object(value) {
    if (Array.isArray(value)) return ['a', list(value)];
    if (types.isNativeError(value) || value instanceof Error) return error(value);
    if (types.isDate(value)) return ['d', Number.isNaN(value.getTime()) ? null : value.getTime()];
    if (types.isMap(value)) return ['m', Array.from(value, ([key, held]) => [enter(key), enter(held)])];
    if (types.isSet(value)) return ['s', Array.from(value, enter)];
    if (types.isUint8Array(value)) return ['b', Buffer.from(value).toString('base64')];
    if (types.isRegExp(value)) return ['r', value.source, value.flags];
    if (types.isPromise(value)) throw new CrossingError('a promise');
    return ['o', pairs(value, Object.keys(value))];
  }

  function number(value) {
    if (Object.is(value, -0)) return ['n', '-0'];
    return Number.isFinite(value) ? value : ['n', String(value)];
  }

  function enter(value) {
    nodes += 1;
    if (nodes > NODES) throw new CrossingError(TOO_MANY);
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (value === undefined) return ['u'];
    if (typeof value === 'number') return number(value);
    if (typeof value === 'bigint') return ['i', String(value)];
    if (typeof value !== 'object') throw new CrossingError(`a ${typeof value}`);
    if (open.has(value)) throw new CrossingError('a cyclic value');
    if (open.size >= DEPTH) throw new CrossingError('a value nested this deep');
    open.add(value);
    const encoded = object(value);
    open.delete(value);
    return encoded;
  }

  return enter(value);
}

function define(object, key, value, enumerable = true) {
  Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true });
}

function fill(object, pairs) {
  for (const [key, value] of pairs) define(object, key, decode(value));
  return object;
}

function array(items) {
  const result = new Array(items.length);
  items.forEach((item, index) => {
    if (!(Array.isArray(item) && item[0] === 'h')) define(result, index, decode(item));
  });
  return result;
}

function error(name, message, pairs) {
  const Native = Object.hasOwn(NATIVE_ERRORS, name) ? NATIVE_ERRORS[name] : Error;
  const result = new Native(message);
  define(result, 'name', name, false);
  return fill(result, pairs);
}

const DECODERS = {
  u: () => undefined,
  n: (text) => (text === '-0' ? -0 : Number(text)),
  i: (text) => BigInt(text),
  d: (milliseconds) => new Date(milliseconds === null ? NaN : milliseconds),
  a: array,
  o: (pairs) => fill({}, pairs),
  m: (pairs) => new Map(pairs.map(([key, value]) => [decode(key), decode(value)])),
  s: (items) => new Set(items.map(decode)),
  b: (text) => Buffer.from(text, 'base64'),
  r: (source, flags) => new RegExp(source, flags),
  e: error,
};

function decode(value) {
  return Array.isArray(value) ? DECODERS[value[0]](...value.slice(1)) : value;
}

module.exports = { CrossingError, decode, encode };
