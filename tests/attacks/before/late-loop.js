// waits
// Answers first and never lets go afterwards.
setTimeout(() => {
  for (;;) {}
}, 1);
