'use strict';

const { weak } = require('./tokens.json');

function isWeak({ deviceMemory, hardwareConcurrency }) {
  if (deviceMemory !== undefined) return deviceMemory <= weak.memoryGb;
  return hardwareConcurrency <= 2 * weak.cores;
}

module.exports = { isWeak };
