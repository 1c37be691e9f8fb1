// waits
// Only ever inside a box: sends signals to the parent, to the first process and to every process it can name.
for (const signal of ['SIGUSR1', 'SIGSTOP', 'SIGTERM', 'SIGKILL']) {
  for (const pid of [process.ppid, 1, -1, ...Array.from({ length: 32 }, (_, index) => index + 1)]) {
    try {
      if (pid !== process.pid) process.kill(pid, signal);
    } catch {}
  }
}
