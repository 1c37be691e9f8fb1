'use strict';
// Owns the process that loads the submission: it runs driver functions sent by the grader and answers with values.
// It must never be trusted: everything here can be patched by the submission, which can only spoil its own answers.

const { createRequire } = require('node:module');
const { CrossingError, decode, encode } = require('./values.cjs');
const { receive, send } = require('./lines.cjs');

const [root, requests, answers] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const load = createRequire(`${root}/`);
const exit = process.reallyExit.bind(process, 0);

function encodeThrown(thrown) {
  try {
    return encode(thrown);
  } catch {
    return encode(new CrossingError('what was thrown'));
  }
}

async function answer([id, source, args]) {
  try {
    const driver = (0, eval)(`'use strict';(${source}\n)`);
    return [id, 'ok', encode(await driver(load, ...args.map(decode)))];
  } catch (thrown) {
    return [id, 'err', encodeThrown(thrown)];
  }
}

process.argv.splice(1);
receive(requests, (request) => void answer(request).then((message) => send(answers, message)), exit);
send(answers, ['ready']);
