'use strict';

const { AppError } = require('./errors.js');

function toResponse(error, log) {
  if (!(error instanceof AppError)) {
    log.error('unexpected failure', error);
    const body = { error: { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side' } };
    return { status: 500, body };
  }
  if (error.status >= 500) log.error('request failed', error);
  const told = { code: error.code, message: error.message };
  if (error.details.length > 0) told.details = error.details.map(({ field, message }) => ({ field, message }));
  return { status: error.status, body: { error: told } };
}

module.exports = { toResponse };
