"""Kills an evaluator at named and at random points, resumes it, and counts what that has cost.

What was paid is counted from the loopback server's log, never from the evaluator's journal alone; must never soften a
count that does not come out.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos import places
from tests.laboratory import Laboratory

TRACER = Path(__file__).parent / "tracer"
SECONDS = 240
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
DATABASES = ("kept", "deleted", "corrupted")
_GONE_SECONDS = 5


@dataclass(frozen=True)
class Point:
    """Where an evaluator is killed.

    Parameters
    ----------
    name
        For the table.
    place
        `<module>:<function>:before|after` below `eval_tasks`, or empty if the journal is watched from outside.
    argument
        A call counts only with this in one of its arguments.
    within_claim
        Whether a claim is open at that point and has no record yet, so that its outcome is lost; None if it depends.
    phase
        Watch for a running call of this phase instead.
    """

    name: str
    place: str = ""
    argument: str = ""
    within_claim: bool | None = False
    phase: str = ""

    def plan(self, nth: int, number: int) -> str:
        """Return what the tracer is told."""
        module, function, when = self.place.split(":")
        module = module if module == "os" else f"eval_tasks.{module}"
        return f"{module}:{function}:{when}:{nth}:{int(number)}:{self.argument}"


def _both(
    name: str, place: str, argument: str = "", *, before: bool | None = False, after: bool | None = False
) -> tuple[Point, Point]:
    return (
        Point(f"before {name}", f"{place}:before", argument, before),
        Point(f"after {name}", f"{place}:after", argument, after),
    )


RUN: tuple[Point, ...] = (
    *_both("claim", "journal:Journal.claim", before=False, after=True),
    *_both("reserve", "journal:Journal.reserve", before=True, after=True),
    *_both("a call's process is noted", "journal:Journal.started", before=True, after=True),
    Point("in the proposal", within_claim=True, phase="proposal"),
    Point("in the call", within_claim=True, phase="task"),
    Point("after the first request", "rehearsal.model:_append:after", within_claim=True),
    *_both("the call's end is noted", "journal:Journal.ended", before=True, after=True),
    *_both("seal", "files:seal", before=True, after=True),
    *_both("the arm-run's record", "records:write", "arm-run", before=True, after=False),
    Point("in the arm-run's record", "records:_sync_folder:before", "arm-runs"),
    *_both("settle", "journal:Journal.settle"),
    *_both("grade", "grading.grader:grade"),
    *_both("the grade's record", "records:write", "grades"),
    *_both("a call's folder is removed", "files:remove_tree", "calls", before=None, after=None),
    *_both("a submission is removed", "files:remove_tree", "submissions"),
)
"""Of `doit run_eval` while trials run."""

RECOVER: tuple[Point, ...] = (
    *_both("recover ends a call", "stages.recover:_end", before=True, after=True),
    *_both("recover settles", "stages.recover:_settle", before=True, after=False),
)
"""Of the start after a kill in a call."""

PROBE: tuple[Point, ...] = (*_both("the probe's record", "records:write", "probe", before=True, after=False),)

PREPARE: tuple[Point, ...] = (
    *_both("prepare builds", "installs.build:Builder.build"),
    Point("in the build", "installs.build:Builder._fill:after"),
    *_both("the inventory's record", "records:write", "inventory"),
)

REGISTER: tuple[Point, ...] = (
    *_both("register retains", "stages.register:_retain"),
    *_both("the registration's record", "records:write", "registration.json"),
    Point("after the journal is made", "journal:_create:after"),
    *_both("the attempt is listed", "attempts:add"),
)

REPORT: tuple[Point, ...] = (
    *_both("the manifest", "stages.manifest:manifest"),
    *_both("the metrics' record", "records:write", "metrics"),
    *_both("the report is written", "stages.publish:publish_report"),
    Point("in the report", "records:write_bytes:after", "report/"),
)

LEASE: tuple[Point, ...] = (
    *_both("the login is read", "trials.lease:_lendable", before=True, after=True),
    *_both("the lease is noted", "journal:Journal.leased", before=True, after=True),
    *_both("the copy is given away", "sandbox:own", "auth.json", before=True, after=True),
    Point("in the call that holds the login", within_claim=True, phase="task"),
    *_both("the login is given back", "trials.lease:give_back", before=True, after=True),
    *_both("the login is compared", "trials.lease:_replace", before=True, after=True),
    *_both("the new login takes its place", "os:replace", "auth.json", before=True, after=True),
)
"""Of a run that lends a login."""

BEFORE_TRIALS = Point("before the first trial is claimed", "journal:Journal.claim:before", "trial")
"""At a real provider the canary calls have passed by then, which leave no record; every other point comes after it."""

FINISH: tuple[Point, ...] = (*_both("the installs are removed", "stages.purge:finish"),)


@dataclass
class Count:
    """What a series of kills came to."""

    by_point: Counter[str] = field(default_factory=Counter)
    by_signal: Counter[str] = field(default_factory=Counter)
    by_database: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    interrupted: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        """Return how many processes were killed."""
        return self.by_point.total()

    def add(self, other: Count) -> None:
        """Add another series."""
        for name in ("by_point", "by_signal", "by_database", "missed"):
            getattr(self, name).update(getattr(other, name))
        self.interrupted += other.interrupted
        self.faults += other.faults


class Series:
    """Kills of one experiment, one after the other; each start resumes what the kill before has left.

    Parameters
    ----------
    options
        Of `doit run_eval`.
    look
        What else must hold after each kill; returns what does not.
    ledger
        Whether the loopback model answers, and so counts what is paid.
    """

    def __init__(
        self, lab: Laboratory, *options: str, look: Callable[[], Iterable[str]] = lambda: (), ledger: bool = True
    ) -> None:
        self.lab = lab
        self.options = options
        self._look = look
        self._ledger = ledger
        self.count = Count()
        self._kept: dict[Path, bytes] = {}
        self._sessions = 0
        self._expected_interrupted = 0
        self._lost_before: set[str] = set()

    # One kill

    def kill(self, point: Point, number: int, database: str = "kept", nth: int = 1, command: str = "run_eval") -> bool:
        """Start a command, kill it at a point and look at what it left; return whether it got there."""
        self._remember()
        extra = {"PYTHONPATH": str(TRACER)}
        if point.place:
            extra["CONTEXT_EVAL_KILL"] = point.plan(nth, number)
        process = self._start(command, extra)
        if not point.place:
            self._when(process, lambda: self._runs(point.phase, nth), number)
        return self._after(process, point.name, number, database, within=point.within_claim)

    def kill_at_random(self, delay: float | None, events: int | None, number: int, database: str = "kept") -> bool:
        """Kill `run_eval` after some seconds, or after some function calls."""
        self._remember()
        extra = {"PYTHONPATH": str(TRACER)}
        if events is not None:
            extra["CONTEXT_EVAL_KILL"] = f"events:{events}:{int(number)}"
        process = self._start("run_eval", extra)
        if delay is not None:
            end = time.monotonic() + delay
            self._when(process, lambda: time.monotonic() >= end, number)
        name = "at a random time" if delay is not None else "at a random function call"
        return self._after(process, name, number, database, within=None)

    def _start(self, command: str, extra: dict[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "doit", *command.split(), *(self.options if command == "run_eval" else ())],
            cwd=self.lab.root,
            env=self.lab._environment(extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _when(self, process: subprocess.Popen[str], condition: Any, number: int) -> None:
        end = time.monotonic() + SECONDS
        while process.poll() is None and not condition():
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(number)

    def _after(
        self, process: subprocess.Popen[str], name: str, number: int, database: str, *, within: bool | None
    ) -> bool:
        try:
            said, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
            self._fault(f"{name}: hung after signal {number}: {said[-500:]}")
        if process.returncode == 0:
            self.count.missed[name] += 1
            return False
        if process.returncode not in (-number, 128 + number, 130 if number == signal.SIGINT else -number):
            self._fault(f"{name}: ended with {process.returncode} by itself: {said[-500:]}")
        if number != signal.SIGKILL and "a fault of the evaluator" in said:
            self._fault(f"{name}: {signal.Signals(number).name}: {said[-500:]}")
        self.count.by_point[name] += 1
        self.count.by_signal[signal.Signals(number).name] += 1
        self.count.by_database[database] += 1
        self._check(f"{name} ({signal.Signals(number).name})", within)
        self._spoil(database)
        return True

    # What must hold after each

    def _fault(self, line: str) -> None:
        self.count.faults.append(line)

    def forget(self) -> None:
        """Expect nothing any more to stay as it was, for what begins anew."""
        self._kept.clear()
        self._lost_before.clear()

    def _remember(self) -> None:
        if (self.lab.root / "experiments" / "current").exists():
            self._sessions = self._query("SELECT coalesce(max(number), 0) FROM sessions")[0][0]
            for kind in ("arm-runs", "probes", "inventory"):
                for path in (self.lab.experiment / kind).glob("*.json"):
                    self._kept.setdefault(path, path.read_bytes())

    def _check(self, what: str, within: bool | None) -> None:
        for line in self._look():
            self._fault(f"{what}: {line}")
        if not (self.lab.root / "experiments" / "current").exists():
            return
        end = time.monotonic() + _GONE_SECONDS
        while self.lab.survivors() and time.monotonic() < end:
            time.sleep(0.05)
        if self.lab.survivors():
            self._fault(f"{what}: processes survive")
        for path, content in self._kept.items():
            if not path.is_file() or path.read_bytes() != content:
                self._fault(f"{what}: {path.name} was recorded and is not what it was")
        lost = [key for key in self._open() if not self._record(key).is_file()]
        if len(lost) > 1:
            self._fault(f"{what}: {len(lost)} claims are open without a record")
        if within is not None and bool(lost) is not within:
            self._fault(f"{what}: {'no' if within else 'a'} claim is open without a record {lost}")
        self._expected_interrupted += len(set(lost) - self._lost_before)
        self._lost_before = set(lost)
        self._check_folders(what)

    def _check_folders(self, what: str) -> None:
        """Check that nothing of an earlier session is left: only the calls of the killed one may have a folder."""
        if not self.lab.work.is_dir():
            return
        rows = self._query("SELECT call_id FROM calls WHERE session = (SELECT max(number) FROM sessions)")
        mine = {row[0] for row in rows}
        # A start that was killed before it could recover has removed nothing.
        recovered = self._query("SELECT count(*) FROM calls WHERE ended_ms IS NULL")[0][0] <= len(mine)
        left = {path.name for path in (self.lab.work / "calls").glob("*")} - mine
        if left and recovered and not self._open():
            self._fault(f"{what}: folders of earlier calls are left")

    def _query(self, query: str) -> list[Any]:
        path = self.lab.experiment / "journal.db"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as journal:
            return journal.execute(query).fetchall()

    def _open(self) -> list[str]:
        return [row[0] for row in self._query("SELECT key FROM claims WHERE settled_ms IS NULL")]

    def _runs(self, phase: str, nth: int) -> bool:
        """Return whether the nth call of this phase runs in this start, by the journal as it is on disk."""
        query = (
            "SELECT count(*), sum(ended_ms IS NULL AND pid IS NOT NULL) FROM calls"
            f" WHERE phase = '{phase}' AND session > {self._sessions}"
        )
        try:
            count, running = self._query(query)[0]
        except sqlite3.OperationalError:
            return False
        return bool(count >= nth and running)

    def _record(self, key: str) -> Path:
        kind, _, name = key.rpartition(":")
        return self.lab.experiment / ("probes" if kind else "arm-runs") / f"{name}.json"

    def _spoil(self, database: str) -> None:
        path = self.lab.root / "experiments" / ".doit.db"
        if database == "deleted":
            path.unlink(missing_ok=True)
        elif database == "corrupted" and path.exists():
            path.write_bytes(b"no database" * 100)

    # What must hold in the end

    def finish(self) -> Count:
        """Run the experiment to its end, and compare every count with every other."""
        self._remember()
        self.lab.ok("recover")
        left = sorted(path.name for path in (self.lab.work / "calls").glob("*"))
        if left:
            self._fault(f"recover has left {len(left)} folders of calls")
        self.lab.ok("run_eval", *self.options)
        self.lab.ok("report")
        for line in self._compare():
            self._fault(line)
        return self.count

    def _compare(self) -> Iterator[str]:
        charged = Counter({key: len(record["calls"]) for key, record in self._records()})
        yield from self._calls(charged)
        yield from self._sums(charged.total())
        for path, content in self._kept.items():
            if not path.is_file() or path.read_bytes() != content:
                yield f"{path.name} was recorded and is not what it was"
        interrupted = sum(record["failure"] == "interrupted" for _, record in self._records())
        self.count.interrupted = interrupted
        if interrupted != self._expected_interrupted or interrupted > self.count.kills:
            yield f"{interrupted} interrupted, {self._expected_interrupted} expected, {self.count.kills} kills"
        if self.lab.survivors():
            yield "processes survive"
        if self.lab.work.exists():
            yield "the work folder is left"

    def _calls(self, charged: Counter[str]) -> Iterator[str]:
        """Compare what is on record with what the loopback model was asked for."""
        for key, record in self._records():
            if [call["phase"] for call in record["calls"]] not in ([], ["task"], ["proposal"], ["proposal", "task"]):
                yield f"{key} has more calls than it may have"
        paid = Counter(self.lab.paid())
        for key, count in paid.items():
            if count > charged[key]:
                yield f"{key} was paid {count} times and has {charged[key]} calls on record"
        if self._ledger and charged.total() - paid.total() > self.count.kills:
            yield f"{charged.total()} calls on record, {paid.total()} paid, {self.count.kills} kills"

    def _sums(self, charged: int) -> Iterator[str]:
        """Compare the report's totals with the sums over the sessions."""
        told = self.lab.report["calls"]
        calls = self._query("SELECT count(*) FROM calls")[0][0]
        sessions, elapsed = self._query(
            "SELECT count(*), sum(last_ms - first_claim_ms) FROM sessions WHERE first_claim_ms IS NOT NULL"
        )[0]
        canaries = self._query("SELECT count(*) FROM calls WHERE phase = 'canary'")[0][0]
        found = {"total": calls, "sessions": sessions, "elapsedMs": elapsed}
        if {name: told[name] for name in found} != found or calls != charged + canaries:
            yield f"report {told}, journal {found}, {charged} calls on record"

    def _records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        yield from self.lab.records("arm-runs").items()
        for name, record in self.lab.records("probes").items():
            yield f"probe:{name}", record


def measure(lab: Laboratory) -> tuple[float, int]:
    """Return how many seconds and function calls a whole `run_eval` takes."""
    note = lab.root / "events"
    started = time.monotonic()
    plan = {"CONTEXT_EVAL_KILL": "events:0:0", "CONTEXT_EVAL_KILL_COUNT": str(note)}
    lab.ok("run_eval", PYTHONPATH=str(TRACER), **plan)
    return time.monotonic() - started, int(note.read_text("ascii"))


def laboratory(make: Callable[..., Laboratory], *, repeats: int, **options: Any) -> Laboratory:
    """Make an experiment that can be killed often: one case with a proposal in Auto Lean, a probe, many repeats."""
    (case,) = places.proposing_cases(1)
    lab = make(cases=[case], probes=[places.silent_probe()], rehearsal={"default": "nop"}, **options)
    lab.settings(repeats=repeats, library=places.give_library_of(lab.root, case))
    lab.limits(calls=2000, deadlineSeconds=14400, stopAfterInfrastructure=1000)
    return lab


def plans(points: tuple[Point, ...], times: int, seed: int) -> list[tuple[Point, signal.Signals, str]]:
    """Return kills of every point so many times, in a seeded order, with all signals and all states of the database."""
    dice = random.Random(seed)
    found = [
        (point, SIGNALS[(turn + index) % 3], DATABASES[(turn + index // 3) % 3])
        for index, point in enumerate(points)
        for turn in range(times)
    ]
    dice.shuffle(found)
    return found
