'use strict';

const { AppError } = require('./errors.js');

const defaults = {
  attempts: 3,
  baseMs: 500,
  capMs: 10_000,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
  retryIf: (error) => !(error instanceof AppError) || error.status >= 500,
};

async function withRetry(work, options) {
  const settings = { ...defaults, ...options };
  const pauses = Array.from({ length: Math.max(settings.attempts - 1, 0) }, (_, n) => settings.baseMs * 2 ** n);
  for (const pause of pauses) {
    try {
      const value = await work();
      return value;
    } catch (error) {
      if (!settings.retryIf(error)) throw error;
    }
    const withChance = pause + settings.baseMs * settings.random();
    await settings.sleep(withChance > settings.capMs ? settings.capMs : withChance);
  }
  return work();
}

exports.withRetry = withRetry;
