'use strict';

const errors = require('./errors.js');

const UNEXPECTED = Object.freeze({ code: 'INTERNAL_ERROR', message: 'Something went wrong on our side' });

function publicDetails(list) {
  if (!Array.isArray(list) || list.length === 0) return {};
  return { details: list.map((entry) => ({ field: entry.field, message: entry.message })) };
}

exports.toResponse = (thrown, log) => {
  const known = thrown instanceof errors.AppError;
  if (!known) log.error(`unhandled ${typeof thrown}`, thrown);
  return known
    ? { status: thrown.status, body: { error: { code: thrown.code, message: thrown.message, ...publicDetails(thrown.details) } } }
    : { status: 500, body: { error: { ...UNEXPECTED } } };
};
