'use strict';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
const isAllowed = (key) => key !== '__proto__' && key !== 'constructor' && key !== 'prototype';

function clone(value) {
  const copied = structuredClone(value);
  strip(copied);
  return copied;
}

function strip(value) {
  if (Array.isArray(value)) value.forEach(strip);
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (isAllowed(key)) strip(value[key]);
      else delete value[key];
    }
  }
}

function overlay(before, change) {
  const keys = new Map(isObject(before) ? Object.entries(before) : []);
  for (const key of Object.keys(change).filter(isAllowed)) {
    const value = change[key];
    if (value === null) keys.delete(key);
    else if (isObject(value)) keys.set(key, overlay(keys.get(key), value));
    else if (value !== undefined) keys.set(key, value);
  }
  return Object.fromEntries(keys);
}

exports.apply = function apply(settings, change) {
  if (!isObject(change)) throw new TypeError('change must be a plain object');
  return clone(overlay(settings, change));
};
