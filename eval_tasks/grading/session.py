"""One grade's processes and the messages between them: the grader asks, subjects answer, every byte is checked here.

Must never let a subject's bytes reach the grader unparsed, nor call a session passed after any of its subjects died.
"""

from __future__ import annotations

import selectors
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from eval_tasks import processes
from eval_tasks.grading import messages
from eval_tasks.grading.intake import LookRefused, Submission
from eval_tasks.grading.messages import Answer, Look, MessageRefused, Ready, Run, Said, Subject
from eval_tasks.grading.peers import Peer, had_its_turn, observed

_EXIT_SECONDS = 2.0
_BUSY_SHARE = 0.05
"""Share of the wall limit that a process must have computed to be called busy; honest ones need a hundredth."""
_HEAP_LIMIT_SIGNALS = frozenset({signal.SIGABRT, signal.SIGTRAP})


@dataclass(frozen=True)
class Limits:
    """Bounds of one grade.

    Parameters
    ----------
    wall_seconds
        From the start of the first process to the verdict.
    output_bytes
        What each process may print on standard output and standard error together.
    subjects
        How many subject processes a grader may start, all in all.
    runs
        How many messages a grader may send.
    """

    wall_seconds: float = 10.0
    output_bytes: int = 64 * 1024
    subjects: int = 8
    runs: int = 10_000


class Cause(StrEnum):
    """Who decided how a session ended."""

    VERDICT = "verdict"
    SUBMISSION = "submission"
    EVALUATOR = "evaluator"


@dataclass(frozen=True)
class Ending:
    """How a session ended.

    Parameters
    ----------
    cause
        The grader's verdict, a fault of the submission, or a fault of the grader or of this machine.
    said
        What the grader process said, if it did.
    reason
        One bounded line.
    observations
        How many answers and looks the grader was given.
    drivers
        What each driver, by its text, led to: `true`, `false`, `other`, `error`; for lints, never for a record.
    detail
        The end of what the processes printed, for the author of a grader; never for a record.
    """

    cause: Cause
    said: Said | None
    reason: str
    observations: int
    detail: str = field(repr=False)
    drivers: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)


class Boxes(Protocol):
    """Where the two kinds of processes run."""

    @property
    def environment(self) -> Mapping[str, str]: ...
    def grader(self, requests: int, answers: int) -> processes.Command: ...
    def subject(self, requests: int, answers: int) -> processes.Command: ...


def hold(boxes: Boxes, submission: Submission, limits: Limits) -> Ending:
    """Run a grader against a submission and return how it ended, with no process left.

    Raises
    ------
    OSError
        If a process can't be started.
    """
    session = _Session(boxes, submission, limits)
    try:
        return session.hold()
    finally:
        session.close()


@dataclass
class _SubjectState:
    peer: Peer
    ready: bool = False
    stopped: bool = False
    outstanding: dict[int, str] = field(default_factory=dict)
    """The driver of each run that was not answered yet, by the run's id."""


def _kind_of(answer: Answer) -> str:
    if answer.outcome == "err":
        return "error"
    return str(answer.value).lower() if isinstance(answer.value, bool) else "other"


class _Session:
    """The state of one grade; each handler either passes something on or sets the ending."""

    def __init__(self, boxes: Boxes, submission: Submission, limits: Limits) -> None:
        self._boxes = boxes
        self._submission = submission
        self._limits = limits
        self._selector = selectors.DefaultSelector()
        self._grader: Peer | None = None
        self._subjects: dict[int, _SubjectState] = {}
        self._ending: tuple[Cause, str] | None = None
        self._said: Said | None = None
        self._sent = 0
        self._observations = 0
        self._drivers: dict[str, set[str]] = {}

    def hold(self) -> Ending:
        deadline = time.monotonic() + self._limits.wall_seconds
        self._grader = self._start(self._boxes.grader)
        self._start_subject(0)
        while self._ending is None:
            left = deadline - time.monotonic()
            if left <= 0:
                self._out_of_time()
                break
            for key, _ in self._selector.select(left):
                # A handler before it may have stopped this one's process.
                if key.fd in self._selector.get_map():
                    key.data()
        return self._finish()

    def close(self) -> None:
        """Kill whatever still runs and wait until all of it is gone."""
        peers = [state.peer for state in self._subjects.values()]
        peers += [] if self._grader is None else [self._grader]
        for peer in peers:
            peer.running.kill()
        for peer in peers:
            peer.release()
            peer.running.end()
        self._selector.close()

    def _finish(self) -> Ending:
        if self._grader is None or self._ending is None:
            raise RuntimeError("a session ended before it began")
        for state in self._subjects.values():
            state.peer.running.kill()
        cause, reason = self._ending
        if cause is Cause.VERDICT and self._said is not None and self._said.kind == "passed":
            self._grader.running.wait_gone(_EXIT_SECONDS)
            if self._grader.running.status() != (0, None):
                cause, reason = Cause.EVALUATOR, "the grader said passed and did not end well"
        else:
            self._grader.running.kill()
        for peer in self._peers():
            if not peer.running.wait_gone():
                cause, reason = Cause.EVALUATOR, "a process outlived the grade"
            peer.drain_rest()
        drivers = {driver: frozenset(kinds) for driver, kinds in self._drivers.items()}
        return Ending(cause, self._said, messages.plain(reason), self._observations, self._detail(), drivers)

    def _peers(self) -> list[Peer]:
        grader = [] if self._grader is None else [self._grader]
        return [*grader, *(state.peer for state in self._subjects.values())]

    def _detail(self) -> str:
        return b"\n".join(bytes(peer.tail) for peer in self._peers() if peer.tail).decode("utf-8", "replace")

    def _start(self, command: Callable[[int, int], processes.Command]) -> Peer:
        return Peer(command, self._boxes.environment, self._selector, self)

    def _start_subject(self, number: int) -> None:
        self._subjects[number] = _SubjectState(self._start(self._boxes.subject))

    def _end(self, cause: Cause, reason: str) -> None:
        if self._ending is None:
            self._ending = (cause, reason)

    def _out_of_time(self) -> None:
        waited_for = [state for state in self._subjects.values() if state.outstanding]
        enough = _BUSY_SHARE * self._limits.wall_seconds
        if waited_for:
            fair = all(state.ready and had_its_turn(state.peer, enough) for state in waited_for)
            self._end(Cause.SUBMISSION if fair else Cause.EVALUATOR, "subject: wall limit")
            return
        # A grader that computed was kept busy by what it was shown; one that did not was kept waiting.
        busy = self._grader is not None and observed(self._grader).cpu_seconds > enough
        self._end(self._blame() if busy else Cause.EVALUATOR, "grader: wall limit")

    def _blame(self) -> Cause:
        """Return whose fault it is that a grader, which the corpus proof has seen to work, went astray."""
        return Cause.SUBMISSION if self._observations else Cause.EVALUATOR

    # What peers report

    def said(self, peer: Peer, line: bytes) -> None:
        if self._ending is not None:
            return
        state = self._state_of(peer)
        try:
            if state is None:
                self._from_grader(messages.from_grader(line))
            elif not state.stopped:
                self._from_subject(state, messages.from_subject(line))
        except MessageRefused as refusal:
            if state is None:
                self._end(Cause.EVALUATOR, f"grader: protocol: {refusal}")
            else:
                self._end(Cause.SUBMISSION, f"subject: protocol: {refusal}")

    def ended(self, peer: Peer) -> None:
        state = self._state_of(peer)
        if state is None:
            self._end(self._blame_for_death(peer), "grader: ended without a verdict")
        elif not state.stopped:
            # Nothing of the submission was loaded before a subject is ready.
            self._end(Cause.SUBMISSION if state.ready else Cause.EVALUATOR, "subject: exited")

    def _blame_for_death(self, peer: Peer) -> Cause:
        peer.running.wait_gone(_EXIT_SECONDS)
        # V8 aborts when its own heap limit is reached; any other death is this machine's.
        return self._blame() if peer.running.status()[1] in _HEAP_LIMIT_SIGNALS else Cause.EVALUATOR

    def printed(self, peer: Peer) -> None:
        if peer.printed > self._limits.output_bytes:
            state = self._state_of(peer)
            if state is None:
                self._end(self._blame(), "grader: output limit")
            else:
                self._end(Cause.SUBMISSION, "subject: output limit")

    def _state_of(self, peer: Peer) -> _SubjectState | None:
        return next((state for state in self._subjects.values() if state.peer is peer), None)

    # What subjects say

    def _from_subject(self, state: _SubjectState, message: Answer | Ready) -> None:
        if isinstance(message, Ready):
            if state.ready:
                raise MessageRefused("unasked")
            state.ready = True
            return
        if message.id not in state.outstanding:
            raise MessageRefused("unasked")
        driver = state.outstanding.pop(message.id)
        self._drivers.setdefault(driver, set()).add(_kind_of(message))
        self._answer(message.id, message.outcome, message.value)

    def _answer(self, id_: int, outcome: str, value: Any) -> None:
        if self._grader is not None:
            self._observations += 1
            self._grader.send([id_, outcome, value])

    # What the grader says

    def _from_grader(self, message: Run | Subject | Look | Said) -> None:
        self._sent += 1
        if self._sent > self._limits.runs:
            self._end(self._blame(), "grader: too many messages")
            return
        match message:
            case Said():
                self._conclude(message)
            case Run():
                self._run(message)
            case Subject(verb="start"):
                self._start_further(message.subject)
            case Subject():
                self._stop(message)
            case Look():
                self._look(message)

    def _conclude(self, said: Said) -> None:
        if any(state.outstanding for state in self._subjects.values()) and said.kind == "passed":
            said = Said("outstanding", said.checks, "a run was not awaited")
        self._said = said
        self._end(Cause.VERDICT, said.reason)

    def _run(self, run: Run) -> None:
        state = self._known(run.subject)
        state.outstanding[run.id] = run.source
        state.peer.send([run.id, run.source, run.arguments])

    def _known(self, number: int) -> _SubjectState:
        state = self._subjects.get(number)
        if state is None or state.stopped:
            raise MessageRefused("no such subject")
        return state

    def _start_further(self, number: int) -> None:
        if number in self._subjects or len(self._subjects) >= self._limits.subjects:
            raise MessageRefused("too many subjects")
        self._start_subject(number)

    def _stop(self, message: Subject) -> None:
        state = self._known(message.subject)
        state.stopped = True
        state.peer.running.kill()
        state.peer.running.wait_gone()
        for id_ in sorted(state.outstanding):
            self._answer(id_, "err", messages.died("the subject was stopped"))
        state.outstanding.clear()
        if message.id is not None:
            self._answer(message.id, "ok", None)

    def _look(self, look: Look) -> None:
        try:
            self._answer(look.id, "ok", self._see(look))
        except LookRefused as refusal:
            message = f"{look.verb} {look.path}: {refusal.code}"
            self._answer(look.id, "err", messages.refused(refusal.code, messages.plain(message)))

    def _see(self, look: Look) -> Any:
        match look.verb:
            case "read":
                return self._submission.read(look.path)
            case "exists":
                return self._submission.exists(look.path)
            case _:
                return messages.strings(self._submission.list(look.path))
