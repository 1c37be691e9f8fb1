'use strict';

const { AppError, UpstreamError, ValidationError } = require('./errors.js');
const { withRetry } = require('./retry.js');

/** Send once; a refusal for good becomes an error that isn't repeated. */
async function sendOnce(mail, transport) {
  try {
    return await transport.send(mail);
  } catch (error) {
    if (!(error && error.responseCode >= 500)) throw error;
    const message = 'The mail server does not know this address';
    throw new ValidationError('This mail cannot be sent', [{ field: 'to', message, value: mail.to }]);
  }
}

async function deliver(mail, transport, timing) {
  try {
    return await withRetry(() => sendOnce(mail, transport), timing);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new UpstreamError('mail', error);
  }
}

module.exports = { deliver };
