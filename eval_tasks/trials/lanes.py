"""When the lanes of a session may begin something: not during a pause, not after a stop, and never while it ends.

Must never let a claim be made after a stop, nor leave a call running when the session is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

from eval_tasks import processes
from eval_tasks.errors import Halted

_ENDING_SECONDS = 30.0
_AGAIN_SECONDS = 0.05


class Lanes:
    """The threads that run trials, grades and probes beside one another; with `jobs: 1` the one that does."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._working = 0
        self._halted = False
        self._ending = False
        self._resume_at = 0.0
        self._trees: dict[str, tuple[int, int]] = {}

    @contextmanager
    def work(self) -> Iterator[None]:
        """Do one task of a lane; whatever ends it early stops the other lanes once their own tasks are done."""
        with self._changed:
            self._working += 1
        try:
            yield
        except BaseException:
            self.halt()
            raise
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def halt(self) -> bool:
        """Let nothing more begin; return whether this is the first word of it."""
        with self._changed:
            first, self._halted = not self._halted, True
            self._changed.notify_all()
        return first

    def pause(self, seconds: float) -> None:
        """Let no lane begin anything for so long, as a provider has asked of all its callers."""
        with self._changed:
            self._resume_at = max(self._resume_at, time.monotonic() + seconds)

    def wait_for_turn(self) -> None:
        """Wait until a lane may begin something.

        Raises
        ------
        Halted
            If the run is being stopped.
        """
        self.wait_out_a_pause()
        if self._halted:
            raise Halted

    def wait_out_a_pause(self) -> None:
        """Wait until no pause is left, or the run is being stopped: a claim that is made comes to its end."""
        with self._changed:
            while not self._halted and (left := self._resume_at - time.monotonic()) > 0:
                self._changed.wait(left)

    @contextmanager
    def calling(self, call_id: str) -> Iterator[Callable[[int, int], None]]:
        """Give a function that notes the process of a call, so that the end of the session can end it.

        Raises
        ------
        Halted
            Before or after the call, if the session is ending: what the call left is no outcome.
        """
        self._refuse_if_ending()

        def note(pid: int, started: int) -> None:
            with self._changed:
                self._trees[call_id] = (pid, started)

        try:
            yield note
        finally:
            with self._changed:
                self._trees.pop(call_id, None)
        self._refuse_if_ending()

    def _refuse_if_ending(self) -> None:
        if self._ending:
            raise Halted

    def end(self) -> bool:
        """End every call that still runs and wait for its lane; return whether there was one and all are over now."""
        self.halt()
        with self._changed:
            self._ending = True
            working = self._working
        deadline = time.monotonic() + _ENDING_SECONDS
        while self._working and time.monotonic() < deadline:
            for pid, started in list(self._trees.values()):
                processes.kill_survivor(pid, started)
            with self._changed:
                self._changed.wait(_AGAIN_SECONDS)
        return working > 0 and self._working == 0
