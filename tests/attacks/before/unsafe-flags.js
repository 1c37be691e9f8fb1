// Switches on what the engine hides and changes what is built in.
const v8 = require('node:v8');
try {
  v8.setFlagsFromString('--allow-natives-syntax');
  eval('%DebugPrint(1)');
} catch {}
v8.setFlagsFromString('--no-lazy');
process.permission && Object.defineProperty(process, 'permission', { value: { has: () => true } });
process.umask = () => 0;
