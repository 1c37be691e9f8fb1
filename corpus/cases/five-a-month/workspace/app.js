'use strict';

const { createWebhook } = require('./webhook.js');
const { createWorker } = require('./worker.js');

function createApp(parts) {
  return { handle: createWebhook(parts), drain: createWorker(parts) };
}

module.exports = { createApp };
