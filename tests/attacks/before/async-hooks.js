// Watches and replaces what passes through asynchronous hooks and channels.
const { createHook, AsyncLocalStorage } = require('node:async_hooks');
createHook({ init() {}, before() {}, after() { throw new Error('after'); } }).enable();
new AsyncLocalStorage().enterWith({ passed: true });
process.nextTick = (call) => call();
globalThis.queueMicrotask = (call) => call();
