"""One child tree: start it, feed it, read it within bounds, end it in time and prove that all of it is gone.

Must never keep what a child wrote on stderr beyond a short tail in memory, and never return while the tree may still
run without saying so.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import FrameType, TracebackType
from typing import Literal, Protocol

GRACE_SECONDS = 1.0
"""How long after its wall limit a tree may take to be gone for the limit to count as honoured."""

STDERR_TAIL_BYTES = 4096
_CHUNK = 65_536
_GONE_SECONDS = 5.0
_TICK_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SHELL_SIGNAL_BASE = 128

Environment = Mapping[str, str]
StopReason = Literal["wall", "output"]


class Level(StrEnum):
    """How the end of a tree was proven; the words are those of the registered isolation level."""

    SEALED = "sealed"
    AGENT_SANDBOX = "agent-sandbox"
    NONE = "none"


@dataclass(frozen=True)
class Boxed:
    """A program inside bubblewrap, as `eval_tasks.sandbox` builds it.

    Parameters
    ----------
    launcher
        What comes before bubblewrap's options: bubblewrap itself, after the drop to an unprivileged uid where needed.
    options
        Bubblewrap's options; handed over by file descriptor, so that no process list shows their host paths.
    program
        The program inside and its arguments.
    files
        Read-only files that exist inside only, by path: their folders must be in memory there.
    secrets
        What the program reads once from a pipe; the pipe's number stands in the variable of that name. Unlike a
        variable's value, nothing else inside can read it afterwards.
    """

    launcher: tuple[str, ...]
    options: tuple[str, ...]
    program: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    secrets: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)


Command = Boxed | Sequence[str]
"""A boxed program runs in its own pid namespace, a bare argument list below a subreaper."""


@dataclass(frozen=True)
class Contained:
    """What was observed about the end of a tree."""

    quiescent: bool
    wall_honoured: bool
    level: Level


@dataclass(frozen=True)
class Finished:
    """What a child tree left; the bytes are for reading in memory and never for a record.

    Exactly one of `exit_status` and `signal` is set. Inside a box a status above 128 is the shell's way to name a
    signal. `stderr_bytes` counts all that was written there.
    """

    exit_status: int | None
    signal: int | None
    stdout: bytes = field(repr=False)
    stderr_tail: bytes = field(repr=False)
    stderr_bytes: int
    stopped_by: StopReason | None
    elapsed_ms: int
    contained: Contained


class _Tree(Protocol):
    """How one kind of tree is named, killed and proven gone."""

    level: Level

    @property
    def identity(self) -> tuple[int, int]: ...
    def kill(self) -> None: ...
    def gone(self, seconds: float) -> bool: ...
    def status(self) -> tuple[int | None, int | None]: ...
    def close(self) -> None: ...


class Running:
    """A started tree with its pipes; leaving the context kills it and waits until it is gone.

    The thread that starts a tree must outlive it: bubblewrap dies with the thread that made it.

    Attributes
    ----------
    stdin, stdout, stderr
        Non-blocking file descriptors of the pipes, owned by this object.
    identity
        Process id and start time that a journal can keep for `kill_survivor`.
    """

    def __init__(self, process: subprocess.Popen[bytes], tree: _Tree) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("a tree needs all three pipes")
        self._process = process
        self._tree = tree
        self._stdin = process.stdin
        self._ended = False
        self.stdin, self.stdout, self.stderr = (
            pipe.fileno() for pipe in (process.stdin, process.stdout, process.stderr)
        )
        self.exit_fd = os.pidfd_open(process.pid)
        self.identity = tree.identity
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)

    @property
    def level(self) -> Level:
        """Return how the end of this tree is proven."""
        return self._tree.level

    def close_stdin(self) -> None:
        """Close the child's standard input; further calls do nothing."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def exited(self) -> bool:
        """Return whether the first process of the tree has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """Send SIGKILL to the whole tree; safe to repeat and after its end."""
        self._tree.kill()

    def wait_gone(self, seconds: float = _GONE_SECONDS) -> bool:
        """Wait until every process of the tree is gone; return whether that was observed in time."""
        deadline = time.monotonic() + seconds
        if _readable(self.exit_fd, seconds):
            self._process.wait()
        return self._tree.gone(max(0.0, deadline - time.monotonic())) and self.exited()

    def status(self) -> tuple[int | None, int | None]:
        """Return exit status and signal of the program, one of them None, after `wait_gone`."""
        return self._tree.status()

    def end(self, seconds: float = _GONE_SECONDS) -> bool:
        """Kill the tree, wait until it is gone and close all pipes; return whether it is gone."""
        if self._ended:
            return True
        self.kill()
        gone = self.wait_gone(seconds)
        self._ended = True
        self.close_stdin()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        os.close(self.exit_fd)
        self._tree.close()
        return gone

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def start(
    command: Command, *, environment: Environment, cwd: str | None = None, pass_fds: Sequence[int] = ()
) -> Running:
    """Start a tree in its own session with three pipes.

    Parameters
    ----------
    command
        A boxed program, or a bare argument list for a tree below a subreaper.
    environment
        The whole environment of the child; nothing is inherited.
    pass_fds
        Further descriptors that the child inherits under the same numbers.

    Raises
    ------
    OSError
        If the program can't be started.
    """
    if isinstance(command, Boxed):
        return _start_boxed(command, environment, cwd, pass_fds)
    return _start_bare(command, environment, cwd, pass_fds)


def run(
    command: Command,
    *,
    environment: Environment,
    stdin: bytes = b"",
    wall_seconds: float,
    stdout_bytes: int,
    stderr_tail_bytes: int = STDERR_TAIL_BYTES,
    cwd: str | None = None,
    pass_fds: Sequence[int] = (),
    tick: Callable[[], bool | None] | None = None,
    on_start: Callable[[int, int], None] | None = None,
    keep_open_until: bytes | None = None,
) -> Finished:
    """Run a tree to its end, or end it at a limit; return only after all of it is gone, or say that it is not.

    Parameters
    ----------
    stdin
        Written while the output is read, then closed.
    wall_seconds
        After that long the whole tree gets SIGKILL (`stopped_by="wall"`).
    stdout_bytes
        Beyond that the tree gets SIGKILL (`stopped_by="output"`) and the rest is dropped.
    stderr_tail_bytes
        How much of the end of stderr is kept in memory; all of it is drained and counted, without a limit.
    tick
        Called about once a second while the tree runs. If it raises, the tree is ended first; if it returns true, the
        tree is ended as for too much output.
    on_start
        Called once with the process id and start time that name the tree.
    keep_open_until
        Leave stdin open until these bytes stand on stdout, for servers that end at its end and answer nothing then.

    Raises
    ------
    OSError
        If the program can't be started.
    """
    started = time.monotonic()
    deadline = started + wall_seconds
    with start(command, environment=environment, cwd=cwd, pass_fds=pass_fds) as running:
        if on_start is not None:
            on_start(*running.identity)
        pump = _Pump(running, stdin, stdout_bytes, stderr_tail_bytes, keep_open_until)
        stopped_by = pump.until_end(deadline, tick)
        if stopped_by is not None or running.level is Level.AGENT_SANDBOX:
            running.kill()
        gone = running.wait_gone()
        ended = time.monotonic()
        if not pump.drain() and stopped_by is None:
            stopped_by = "output"
        exit_status, number = running.status()
        return Finished(
            exit_status=exit_status,
            signal=number,
            stdout=bytes(pump.stdout),
            stderr_tail=bytes(pump.stderr_tail),
            stderr_bytes=pump.stderr_bytes,
            stopped_by=stopped_by,
            elapsed_ms=round((ended - started) * 1000),
            contained=Contained(gone, gone and ended <= deadline + GRACE_SECONDS, running.level),
        )


class _Pump:
    """Moves bytes between one tree's pipes and memory, in the calling thread and within the caps."""

    def __init__(
        self, running: Running, stdin: bytes, stdout_cap: int, tail_cap: int, keep_open_until: bytes | None
    ) -> None:
        self._running = running
        self._input = memoryview(stdin)
        self._written = False
        self._awaited = keep_open_until
        self._stdout_cap = stdout_cap
        self._tail_cap = tail_cap
        self.stdout = bytearray()
        self.stderr_tail = bytearray()
        self.stderr_bytes = 0

    def until_end(self, deadline: float, tick: Callable[[], bool | None] | None) -> StopReason | None:
        """Pump until the tree's first process ends or a limit fires; return which."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._running.exit_fd, selectors.EVENT_READ, self._end)
            selector.register(self._running.stdout, selectors.EVENT_READ, self._read_stdout)
            selector.register(self._running.stderr, selectors.EVENT_READ, self._read_stderr)
            selector.register(self._running.stdin, selectors.EVENT_WRITE, self._write)
            next_tick = time.monotonic() + _TICK_SECONDS
            while True:
                now = time.monotonic()
                if now >= deadline:
                    return "wall"
                if now >= next_tick:
                    next_tick = now + _TICK_SECONDS
                    if tick is not None and tick():
                        return "output"
                for key, _ in selector.select(max(0.0, min(deadline, next_tick) - time.monotonic())):
                    if key.data == self._end:
                        return None
                    if not key.data():
                        selector.unregister(key.fd)
                if self._written and self._awaited is None:
                    self._running.close_stdin()
                if len(self.stdout) > self._stdout_cap:
                    del self.stdout[self._stdout_cap :]
                    return "output"

    def drain(self) -> bool:
        """Read what an ended tree left in its pipes; return whether stdout stayed within its cap."""
        for read in (self._read_stdout, self._read_stderr):
            with contextlib.suppress(BlockingIOError):
                while read() and len(self.stdout) <= self._stdout_cap:
                    pass
        within = len(self.stdout) <= self._stdout_cap
        del self.stdout[self._stdout_cap :]
        return within

    def _end(self) -> bool:
        return False

    def _read_stdout(self) -> bool:
        chunk = os.read(self._running.stdout, _CHUNK)
        self.stdout += chunk
        if self._awaited is not None and self._awaited in self.stdout[-len(chunk) - len(self._awaited) :]:
            self._awaited = None
        return bool(chunk)

    def _read_stderr(self) -> bool:
        chunk = os.read(self._running.stderr, _CHUNK)
        self.stderr_bytes += len(chunk)
        self.stderr_tail += chunk
        del self.stderr_tail[: max(0, len(self.stderr_tail) - self._tail_cap)]
        return bool(chunk)

    def _write(self) -> bool:
        """Write some of the input; return whether there is more and the child still reads."""
        try:
            written = os.write(self._running.stdin, self._input[:_CHUNK]) if self._input else 0
        except BrokenPipeError:
            written = len(self._input)
        self._input = self._input[written:]
        self._written = not self._input
        return not self._written


class _NamespaceTree:
    """A tree in its own pid namespace: gone when the namespace's init is, which the kernel ends last."""

    def __init__(self, process: subprocess.Popen[bytes], report: int) -> None:
        self._process = process
        self._report = report
        self._text = bytearray()
        self._init: int | None = None
        self._namespace_made = True
        self.level = Level.NONE
        self.identity = (process.pid, start_time(process.pid) or 0)
        self._learn(_GONE_SECONDS)

    def _learn(self, seconds: float) -> None:
        """Read the init's process id from bubblewrap's report and take hold of it."""
        if not _read_until(self._report, b"}", seconds, self._text):
            return
        if b"}" not in self._text:
            self._namespace_made = False
            return
        pid = int(json.loads(self._text)["child-pid"])
        self.level = Level.SEALED
        started = start_time(pid)
        if started is not None:
            self.identity = (pid, started)
        with contextlib.suppress(ProcessLookupError):
            self._init = os.pidfd_open(pid)

    def kill(self) -> None:
        # The init first: bubblewrap's own end comes tens of milliseconds before that of its namespace.
        if self._init is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        if self._process.poll() is None:
            self._process.kill()

    def gone(self, seconds: float) -> bool:
        if self._init is not None:
            return _readable(self._init, seconds)
        if self.level is Level.SEALED:
            return True  # Its init had been reaped before we could take hold of it.
        if self._namespace_made:
            self._learn(seconds)
            return self._init is not None and _readable(self._init, seconds)
        return True

    def status(self) -> tuple[int | None, int | None]:
        code = self._process.returncode
        if code is None or code < 0:
            return None, signal.SIGKILL if code is None else -code
        if code > _SHELL_SIGNAL_BASE and code - _SHELL_SIGNAL_BASE in signal.valid_signals():
            return None, code - _SHELL_SIGNAL_BASE
        return code, None

    def close(self) -> None:
        os.close(self._report)
        if self._init is not None:
            os.close(self._init)


class _ReapedTree:
    """A tree below a subreaper process of its own, which ends all of it and reports when none is left."""

    level = Level.AGENT_SANDBOX

    def __init__(self, process: subprocess.Popen[bytes], control: int, report: int) -> None:
        self._process = process
        self._control: int | None = control
        self._report = report
        self._text = bytearray()
        self._answer: dict[str, int | None] | None = None
        self.identity = (process.pid, start_time(process.pid) or 0)

    def kill(self) -> None:
        if self._control is not None:
            os.close(self._control)
            self._control = None

    def gone(self, seconds: float) -> bool:
        if self._answer is None:
            _read_until(self._report, b"}", seconds, self._text)
            if b"}" in self._text:
                self._answer = json.loads(self._text)
        return self._answer is not None

    def status(self) -> tuple[int | None, int | None]:
        if self._answer is None:
            return None, signal.SIGKILL
        return self._answer["exit"], self._answer["signal"]

    def close(self) -> None:
        self.kill()
        os.close(self._report)
        if self._answer is None and self._process.poll() is None:
            kill_survivor(*self.identity)


def _start_boxed(boxed: Boxed, environment: Environment, cwd: str | None, pass_fds: Sequence[int]) -> Running:
    report_read, report_write = os.pipe()
    given = [report_write]
    try:
        options = list(boxed.options)
        for path, content in boxed.files:
            given.append(_in_memory(content))
            options += ["--perms", "0444", "--ro-bind-data", str(given[-1]), path]
        for name, content in boxed.secrets:
            given.append(_piped(content))
            environment = {**environment, name: str(given[-1])}
        given.append(_in_memory(b"".join(os.fsencode(option) + b"\0" for option in options)))
        argv = [*boxed.launcher, "--args", str(given[-1]), "--info-fd", str(report_write), "--", *boxed.program]
        process = _popen(argv, environment, cwd, (*pass_fds, *given))
    except OSError:
        os.close(report_read)
        raise
    finally:
        for descriptor in given:
            os.close(descriptor)
    return _hold(process, lambda: _NamespaceTree(process, report_read))


def _in_memory(content: bytes) -> int:
    """Return a descriptor of an unnamed file in memory that holds these bytes, at their start."""
    descriptor = os.memfd_create("given")
    with os.fdopen(os.dup(descriptor), "wb") as stream:
        stream.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _piped(content: bytes) -> int:
    """Return the end of a pipe from which these bytes, fewer than a pipe holds, can be read once."""
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as stream:
        stream.write(content)
    return read_end


def _start_bare(argv: Sequence[str], environment: Environment, cwd: str | None, pass_fds: Sequence[int]) -> Running:
    control_read, control_write = os.pipe()
    report_read, report_write = os.pipe()
    try:
        helper = [sys.executable, "-I", "-S", __file__, str(control_read), str(report_write), *argv]
        process = _popen(helper, environment, cwd, (*pass_fds, control_read, report_write))
    except OSError:
        os.close(control_write)
        os.close(report_read)
        raise
    finally:
        os.close(control_read)
        os.close(report_write)
    return _hold(process, lambda: _ReapedTree(process, control_write, report_read))


def _hold(process: subprocess.Popen[bytes], tree: Callable[[], _Tree]) -> Running:
    """Take hold of a new tree; an exception meanwhile, such as the end of the evaluator, leaves no process."""
    held = False
    try:
        running = Running(process, tree())
        held = True
    finally:
        if not held:
            process.kill()
    return running


def _popen(
    argv: Sequence[str], environment: Environment, cwd: str | None, pass_fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=cwd,
        pass_fds=tuple(pass_fds),
        start_new_session=True,
    )


def _readable(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _read_until(descriptor: int, mark: bytes, seconds: float, text: bytearray) -> bool:
    """Read onto `text` up to a mark or the end of file; return whether either came in time."""
    deadline = time.monotonic() + seconds
    while mark not in text:
        if not _readable(descriptor, deadline - time.monotonic()):
            return False
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        text += chunk
    return True


def start_time(pid: int) -> int | None:
    """Return a process's start time in clock ticks since boot; None if there is no such process or only its zombie."""
    fields = _stat_fields(pid)
    return None if fields is None or fields[0] in {"Z", "X"} else int(fields[19])


def alive(pid: int, started: int) -> bool:
    """Return whether the process that had this id and start time still runs."""
    return start_time(pid) == started


def kill_survivor(pid: int, started: int) -> bool:
    """Kill a tree that a crashed evaluator left behind; return whether there was one.

    Never a bare process id: an id that was given to another process since has another start time.
    """
    if not alive(pid, started):
        return False
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if not alive(pid, started):
            return False
        for descendant in _descendants(pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(descendant, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        _readable(handle, _GONE_SECONDS)
    finally:
        os.close(handle)
    return True


def _stat_fields(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            text = stream.read().decode("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(")") + 2 :].split()


def _descendants(root: int) -> list[int]:
    """Return the ids of all processes below one, nearest first."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        fields = _stat_fields(int(name)) if name.isdigit() else None
        if fields is not None:
            children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


# The subreaper: this file run as a program, one process for each bare call.


def _subreaper(control: int, report: int, argv: Sequence[str]) -> int:
    """Run a program, end all that descends from it when it or the evaluator ends, and report when none is left."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stay)
    child = os.fork()
    if child == 0:
        _become(libc, (control, report), argv)
    # The pipes belong to the tree alone, so that their end of file means its end.
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    handle = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (control, handle):
        poll.register(descriptor, select.POLLIN)
    poll.poll()
    status = _reap_all(child)
    code = os.waitstatus_to_exitcode(status)
    answer = {"exit": code if code >= 0 else None, "signal": -code if code < 0 else None}
    with contextlib.suppress(BrokenPipeError):
        os.write(report, json.dumps(answer).encode())
    return 0


def _stay(number: int, frame: FrameType | None) -> None:
    """Ignore a signal here without handing 'ignored' on to the program."""


def _become(libc: ctypes.CDLL, private: Sequence[int], argv: Sequence[str]) -> None:
    """Turn the forked child into the program; never returns."""
    os.setsid()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores both, and a program would inherit that.
        signal.signal(number, signal.SIG_DFL)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for descriptor in private:
        os.close(descriptor)
    try:
        os.execvpe(argv[0], list(argv), os.environ)
    except OSError:
        os._exit(127)


def _reap_all(child: int) -> int:
    """Kill and reap until this process has no children left; return the wait status of the first one."""
    status = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in _descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            pid, ended = os.waitpid(-1, 0)
            while pid:
                if pid == child:
                    status = ended
                # All that has ended by now, before the next look at every process of the machine.
                pid, ended = os.waitpid(-1, os.WNOHANG)
    return status


if __name__ == "__main__":
    sys.exit(_subreaper(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
