// Swallows every error that nobody caught and goes on.
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
process.on('warning', () => {});
process.setUncaughtExceptionCaptureCallback?.(() => {});
