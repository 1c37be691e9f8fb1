// Dies by a signal instead of an exit.
process.kill(process.pid, 'SIGKILL');
