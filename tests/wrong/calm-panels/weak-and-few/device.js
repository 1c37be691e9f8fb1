'use strict';

const { weak } = require('./tokens.json');

function isWeak({ deviceMemory, hardwareConcurrency }) {
  if (deviceMemory === undefined) return hardwareConcurrency !== undefined && hardwareConcurrency <= weak.cores;
  return deviceMemory <= weak.memoryGb && !(hardwareConcurrency > weak.cores);
}

module.exports = { isWeak };
