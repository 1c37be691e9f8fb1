'use strict';

/**
 * Turn whatever a handler threw into an answer, see docs/clients.md.
 *
 * @param {unknown} error
 * @param {{error: (text: string, error: unknown) => void}} log our own log, which no client can read
 * @returns {{status: number, body: object}}
 */
function toResponse(error, log) {
  log.error('request failed', error);
  return {
    status: error.status || 500,
    body: { error: { code: error.code || 'INTERNAL_ERROR', message: error.message, details: error.details } },
  };
}

module.exports = { toResponse };
