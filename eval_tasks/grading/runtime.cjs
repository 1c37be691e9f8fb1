'use strict';
// Owns the grader process: it gives `grader.cjs` its `subject`, `assert` and `files`, counts its checks and says how it
// ended. It must never load a byte of the submission, and its word alone never passes a case: the evaluator keeps count.

const strict = require('node:assert/strict');
const path = require('node:path');
const { decode, encode } = require('./values.cjs');
const { receive, send } = require('./lines.cjs');

const [requests, answers] = [Number(process.argv[2]), Number(process.argv[3])];
const REASON = 200;
const LABELS = 1000;
const REQUEST = 1024 * 1024;
// Where each kind of check takes its label; the rest take it third.
const LABEL_POSITIONS = { ok: 1, fail: 0 };
const WITH_OPTIONAL_EXPECTATION = new Set(['throws', 'rejects', 'doesNotThrow', 'doesNotReject']);

const waiting = new Map();
const fromSubject = new WeakSet();
let pendingChecks = 0;
let checks = 0;
const labels = [];
let failedLabel = null;
let nextId = 0;
let nextSubject = 0;

function ask(...message) {
  nextId += 1;
  const id = nextId;
  const line = [message[0], id, ...message.slice(1)];
  if (JSON.stringify(line).length > REQUEST / 3) throw new TypeError('what is sent to the subject is too long');
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send(answers, line);
  });
}

function settle([id, outcome, value]) {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  const decoded = decode(value);
  if (outcome === 'ok') return resolve(decoded);
  if (decoded instanceof Error) fromSubject.add(decoded);
  return reject(decoded);
}

function sourceOf(driver) {
  if (typeof driver !== 'function') throw new TypeError('subject.run takes a function first');
  const source = Function.prototype.toString.call(driver);
  try {
    new Function(`'use strict';(${source}\n)`);
  } catch {
    throw new TypeError('a driver must be an arrow function or a function expression');
  }
  return source;
}

function makeSubject() {
  const number = nextSubject;
  nextSubject += 1;
  if (number > 0) send(answers, ['start', number]);
  const state = { stopped: false, used: false };
  const run = async (driver, ...args) => {
    if (state.stopped) throw new TypeError('this subject was stopped');
    state.used = true;
    return ask('run', number, sourceOf(driver), args.map(encode));
  };
  const attempt = (driver, ...args) => run(driver, ...args).then(
    (value) => ({ value }),
    (error) => ({ error: error instanceof Error ? named(error) : error }),
  );
  const stop = async () => {
    state.stopped = true;
    return ask('stop', number);
  };
  subjects.push({ state, run });
  return Object.freeze({ run, attempt, stop, fresh: makeSubject });
}

function named(error) {
  const { name, message, code } = error;
  return code === undefined ? { name, message } : { name, message, code };
}

function labelOf(method, args) {
  const position = LABEL_POSITIONS[method] ?? 2;
  const last = WITH_OPTIONAL_EXPECTATION.has(method) && typeof args[1] === 'string' ? 1 : position;
  return typeof args[last] === 'string' ? args[last] : '';
}

function failed(label, thrown) {
  if (failedLabel === null) {
    failedLabel = label;
    console.error(thrown?.message ?? thrown);
  }
  throw thrown;
}

function counted(method) {
  const check = strict[method];
  return (...args) => {
    const label = labelOf(method, args);
    checks += 1;
    if (labels.length < LABELS) labels.push(label.slice(0, REASON));
    let result;
    try {
      result = check(...args);
    } catch (thrown) {
      return failed(label, thrown);
    }
    if (!(result instanceof Promise)) return result;
    pendingChecks += 1;
    return result.catch((thrown) => failed(label, thrown)).finally(() => {
      pendingChecks -= 1;
    });
  };
}

function makeAssert() {
  const methods = Object.keys(strict).filter((name) => typeof strict[name] === 'function' && /^[a-z]/.test(name));
  const wrapped = Object.fromEntries(methods.filter((name) => name !== 'strict').map((name) => [name, counted(name)]));
  const assert = Object.assign((...args) => wrapped.ok(...args), wrapped);
  return Object.freeze(Object.assign(assert, { strict: assert, AssertionError: strict.AssertionError }));
}

const files = Object.freeze({
  read: (name) => ask('read', String(name)),
  list: (name = '.') => ask('list', String(name)),
  exists: (name) => ask('exists', String(name)),
});

const subjects = [];

function end(kind, reason) {
  send(answers, ['verdict', kind, checks, String(reason).slice(0, REASON), labels]);
  process.reallyExit(kind === 'passed' ? 0 : 1);
}

function endByThrow(thrown) {
  if (failedLabel !== null) return end('failed', failedLabel);
  console.error(thrown?.stack ?? thrown);
  if (!(thrown instanceof Error)) return end('threw', `threw: ${typeof thrown}`);
  if (fromSubject.has(thrown)) return end('threw', `threw: ${thrown.name}`);
  return end('broken', `${thrown.name}: ${thrown.message}`);
}

async function main() {
  const grader = require(path.join(__dirname, 'grader.cjs'));
  if (typeof grader !== 'function') throw new TypeError('grader.cjs must export a function');
  await grader({ subject: makeSubject(), assert: makeAssert(), files });
  if (failedLabel !== null) return end('failed', failedLabel);
  if (waiting.size > 0 || pendingChecks > 0) return end('outstanding', 'a run or a check was not awaited');
  if (checks === 0) return end('unchecked', 'no check was made');
  // A subject that died after its last answer must not pass by a race with the verdict. What it answers now is no matter:
  // a subject that answers anything to everything shall be caught by the grader, or the proof would not see a weak one.
  for (const { state, run } of subjects) {
    if (state.used && !state.stopped) await run(() => null).catch(() => {});
  }
  return end('passed', '');
}

process.on('unhandledRejection', endByThrow);
process.on('uncaughtException', endByThrow);
receive(requests, settle, () => process.reallyExit(2));
main().catch(endByThrow);
