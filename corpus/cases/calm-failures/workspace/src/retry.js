'use strict';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Call `work` until it succeeds or there have been enough attempts.
 *
 * The pause after attempt n is baseMs * 2^(n - 1) and up to another baseMs by chance, so that clients don't come back
 * all together; no pause is longer than capMs.
 */
async function withRetry(work, options = {}) {
  const { attempts = 3, baseMs = 500, capMs = 10_000, sleep = wait, random = Math.random } = options;
  let last;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      return await work();
    } catch (error) {
      last = error;
      await sleep(Math.min(baseMs * 2 ** (attempt - 1), capMs) + random() * baseMs);
    }
  }
  throw new Error(`gave up after ${attempts} attempts: ${last.message}`);
}

module.exports = { withRetry };
