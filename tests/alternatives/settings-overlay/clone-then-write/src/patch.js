'use strict';

function kind(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'list';
  if (value instanceof Date) return 'date';
  return typeof value;
}

function write(target, change) {
  Object.keys(change).forEach((key) => {
    if (/^(__proto__|constructor|prototype)$/.test(key)) return;
    const value = change[key];
    switch (kind(value)) {
      case 'undefined':
        break;
      case 'null':
        delete target[key];
        break;
      case 'object': {
        const there = Object.getOwnPropertyDescriptor(target, key)?.value;
        target[key] = kind(there) === 'object' ? there : {};
        write(target[key], value);
        break;
      }
      default:
        target[key] = value;
    }
  });
  return target;
}

function detached(value) {
  if (kind(value) === 'date') return new Date(value.getTime());
  if (kind(value) === 'list') return value.map(detached);
  if (kind(value) !== 'object') return value;
  const result = {};
  for (const key of Object.keys(value)) {
    if (!['__proto__', 'constructor', 'prototype'].includes(key)) result[key] = detached(value[key]);
  }
  return result;
}

function apply(settings, change) {
  if (kind(change) !== 'object') throw new TypeError(`a change can't be ${kind(change)}`);
  return write(detached(settings), detached(change));
}

module.exports = { apply };
