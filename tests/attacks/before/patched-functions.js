// Takes over calls, text and asynchronous functions.
const AsyncFunction = (async () => {}).constructor;
AsyncFunction.prototype.constructor = () => async () => true;
Function.prototype.toString = () => '() => true';
Function.prototype.call = () => true;
Function.prototype.apply = () => true;
globalThis.eval = () => () => true;
globalThis.Function = () => () => true;
