'use strict';

const { weak } = require('./tokens.json');

// Comparing with undefined is false, so an unknown figure never makes a device weak.
exports.isWeak = (env) => ('deviceMemory' in env ? env.deviceMemory <= weak.memoryGb : env.hardwareConcurrency <= weak.cores);
