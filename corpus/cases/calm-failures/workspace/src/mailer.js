'use strict';

const { UpstreamError, ValidationError } = require('./errors.js');
const { withRetry } = require('./retry.js');

/**
 * Hand a mail to the mail server.
 *
 * The server's refusals carry `responseCode`, a mail code: 4xx means later perhaps, 5xx means never (no such mailbox).
 *
 * @param {{to: string, text: string}} mail
 * @param {{send: (mail: object) => Promise<string>}} transport resolves with the server's message id
 * @param {object} [timing] handed on to withRetry
 */
async function deliver(mail, transport, timing) {
  try {
    return await withRetry(() => transport.send(mail), timing);
  } catch (error) {
    if (error.responseCode >= 500) {
      const message = 'The mail server does not know this address';
      throw new ValidationError('This mail cannot be sent', [{ field: 'to', message, value: mail.to }]);
    }
    throw new UpstreamError('mail', error);
  }
}

module.exports = { deliver };
