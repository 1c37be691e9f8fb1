'use strict';

/** An error that we made ourselves and that a client may be told about. */
class AppError extends Error {
  constructor(message, { code, status, details = [], cause } = {}) {
    super(message, { cause });
    this.name = this.constructor.name;
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

class NotFoundError extends AppError {
  constructor(what, id) {
    super(`${what} not found: ${id}`, { code: 'NOT_FOUND', status: 404 });
  }
}

class ValidationError extends AppError {
  /** @param {{field: string, message: string, value: unknown}[]} details with the refused value, for our own tests */
  constructor(message, details) {
    super(message, { code: 'VALIDATION_ERROR', status: 422, details });
  }
}

class UpstreamError extends AppError {
  constructor(service, cause) {
    super(`The ${service} service does not answer`, { code: 'UPSTREAM', status: 503, cause });
  }
}

module.exports = { AppError, NotFoundError, ValidationError, UpstreamError };
