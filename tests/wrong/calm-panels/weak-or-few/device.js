'use strict';

const { weak } = require('./tokens.json');

function isWeak({ deviceMemory, hardwareConcurrency }) {
  return deviceMemory <= weak.memoryGb || hardwareConcurrency <= weak.cores;
}

module.exports = { isWeak };
