'use strict';

const { weak } = require('./tokens.json');

function isWeak({ deviceMemory, hardwareConcurrency }) {
  return deviceMemory !== undefined && deviceMemory <= weak.memoryGb;
}

module.exports = { isWeak };
