'use strict';

const { UpstreamError, ValidationError } = require('./errors.js');
const { withRetry } = require('./retry.js');

const neverThere = (error) => Boolean(error) && error.responseCode >= 500;

exports.deliver = async function deliver(mail, transport, timing) {
  let failure;
  try {
    return await withRetry(() => transport.send(mail), { ...timing, retryIf: (error) => !neverThere(error) });
  } catch (error) {
    failure = error;
  }
  if (neverThere(failure)) {
    const details = [{ field: 'to', message: 'The mail server does not know this address', value: mail.to }];
    throw new ValidationError('This mail cannot be sent', details);
  }
  throw new UpstreamError('mail', failure);
};
