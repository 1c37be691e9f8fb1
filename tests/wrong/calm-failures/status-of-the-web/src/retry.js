'use strict';

const { AppError } = require('./errors.js');

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const isPermanent = (error) => error instanceof AppError && error.status < 500;

async function withRetry(work, options = {}) {
  const { attempts = 3, baseMs = 500, capMs = 10_000, sleep = wait, random = Math.random } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attempts || isPermanent(error)) throw error;
      await sleep(Math.min(baseMs * 2 ** (attempt - 1) + random() * baseMs, capMs));
    }
  }
}

module.exports = { withRetry };
