'use strict';

const { weak } = require('./tokens.json');

function isWeak({ deviceMemory, hardwareConcurrency }) {
  if (deviceMemory !== undefined) return deviceMemory <= weak.memoryGb;
  return (hardwareConcurrency || 0) <= weak.cores;
}

module.exports = { isWeak };
