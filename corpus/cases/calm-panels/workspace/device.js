'use strict';

const { weak } = require('./tokens.json');

function isWeak(env) {
  return !(env.deviceMemory > weak.memoryGb) || env.hardwareConcurrency <= weak.cores;
}

module.exports = { isWeak };
