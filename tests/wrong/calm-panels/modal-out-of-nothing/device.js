'use strict';

const { weak } = require('./tokens.json');

function isWeak({ deviceMemory, hardwareConcurrency }) {
  if (deviceMemory !== undefined) return deviceMemory <= weak.memoryGb;
  if (hardwareConcurrency !== undefined) return hardwareConcurrency <= weak.cores;
  return false;
}

module.exports = { isWeak };
