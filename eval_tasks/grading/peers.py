"""One process of a grade: the pipe to it, the pipe from it, what it prints, and what the kernel tells of it.

Must never read what a line means, nor keep more of what a process prints than a short tail.
"""

from __future__ import annotations

import contextlib
import os
import selectors
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from eval_tasks import processes
from eval_tasks.grading import messages

_CHUNK = 65_536
_TAIL_BYTES = 4_096
_RUNNABLE = frozenset({b"R", b"D"})


class Events(Protocol):
    """What a peer reports."""

    def said(self, peer: Peer, line: bytes) -> None: ...
    def ended(self, peer: Peer) -> None: ...
    def printed(self, peer: Peer) -> None: ...


class Peer:
    """One process with a pipe to it, a pipe from it, and its drained output."""

    def __init__(
        self,
        command: Callable[[int, int], processes.Command],
        environment: Mapping[str, str],
        selector: selectors.BaseSelector,
        events: Events,
    ) -> None:
        self._selector = selector
        self._events = events
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self._writing = False
        self.printed = 0
        self.tail = bytearray()
        requests, self._to = os.pipe()
        self._from, answers = os.pipe()
        try:
            self.running = processes.start(
                command(requests, answers), environment=environment, cwd="/", pass_fds=(requests, answers)
            )
        except BaseException:
            os.close(self._to)
            os.close(self._from)
            raise
        finally:
            os.close(requests)
            os.close(answers)
        self.running.close_stdin()
        for descriptor in (self._to, self._from):
            os.set_blocking(descriptor, False)
        self._register(self._from, self._read)
        self._register(self.running.stdout, lambda: self._drain(self.running.stdout))
        self._register(self.running.stderr, lambda: self._drain(self.running.stderr))

    def _register(self, descriptor: int, handle: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, handle)

    def _unregister(self, descriptor: int) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(descriptor)

    def send(self, message: list[Any]) -> None:
        """Write a message as far as the pipe takes it, and the rest as soon as it does."""
        self._outgoing += messages.write(message)
        self._write()

    def _write(self) -> None:
        try:
            while self._outgoing:
                del self._outgoing[: os.write(self._to, self._outgoing[:_CHUNK])]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._outgoing.clear()  # Its end is noticed where it should have answered.
        if bool(self._outgoing) != self._writing:
            self._writing = bool(self._outgoing)
            if self._writing:
                self._selector.register(self._to, selectors.EVENT_WRITE, self._write)
            else:
                self._selector.unregister(self._to)

    def _read(self) -> None:
        chunk = os.read(self._from, _CHUNK)
        if not chunk:
            self._unregister(self._from)
            self._events.ended(self)
            return
        begin = len(self._incoming)
        self._incoming += chunk
        while (end := self._incoming.find(b"\n", begin)) >= 0:
            line = bytes(self._incoming[:end])
            del self._incoming[: end + 1]
            begin = 0
            self._events.said(self, line)
        if len(self._incoming) > messages.REQUEST_BYTES:
            self._events.said(self, bytes(self._incoming))
            self._incoming.clear()

    def _drain(self, descriptor: int) -> None:
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            self._unregister(descriptor)
            return
        self.printed += len(chunk)
        self.tail += chunk
        del self.tail[:-_TAIL_BYTES]
        self._events.printed(self)

    def drain_rest(self) -> None:
        """Take what an ended process left in its pipes."""
        for descriptor in (self.running.stdout, self.running.stderr):
            with contextlib.suppress(BlockingIOError):
                while chunk := os.read(descriptor, _CHUNK):
                    self.tail += chunk
                    del self.tail[:-_TAIL_BYTES]

    def release(self) -> None:
        """Stop to listen and close our ends of the two pipes."""
        for descriptor in (self._to, self._from, self.running.stdout, self.running.stderr):
            self._unregister(descriptor)
        os.close(self._to)
        os.close(self._from)


@dataclass(frozen=True)
class Observed:
    """What the kernel tells of the program of a peer: how long it has computed and whether it waits for a processor."""

    cpu_seconds: float = 0.0
    runnable: bool = False


def observed(peer: Peer) -> Observed:
    """Look at the program of a peer; nothing was computed by one that can't be seen."""
    first = peer.running.identity[0]
    try:
        # The namespace's init, or the subreaper, has the program as its only child.
        program = Path(f"/proc/{first}/task/{first}/children").read_text("ascii").split()[0]
        fields = Path(f"/proc/{program}/stat").read_bytes().rpartition(b")")[2].split()
    except (OSError, IndexError):
        return Observed()
    ticks = int(fields[11]) + int(fields[12])
    return Observed(ticks / os.sysconf("SC_CLK_TCK"), fields[0] in _RUNNABLE)


def had_its_turn(peer: Peer, enough_seconds: float) -> bool:
    """Return whether a late subject is late by itself, and not because this machine kept it from computing."""
    seen = observed(peer)
    return not seen.runnable or seen.cpu_seconds > enough_seconds
