"""The journal: which scheduled outcomes were claimed, which calls were paid for, and when; the truth about spending.

Must never hold a prompt, an output, a path or a credential, nor let a claim be made twice.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from threading import RLock

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed

VERSION = 1
_TABLES = """
CREATE TABLE identity (version INTEGER NOT NULL, registration TEXT NOT NULL);
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, started_ms INTEGER NOT NULL, first_claim_ms INTEGER, last_ms INTEGER NOT NULL);
CREATE TABLE claims (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, session INTEGER NOT NULL REFERENCES sessions (number),
    claimed_ms INTEGER NOT NULL, settled_ms INTEGER, code TEXT);
CREATE TABLE calls (
    call_id TEXT PRIMARY KEY, claim TEXT NOT NULL REFERENCES claims (key), phase TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (number), reserved_ms INTEGER NOT NULL, pid INTEGER,
    pid_started INTEGER, heartbeat_ms INTEGER, ended_ms INTEGER, lease TEXT);
CREATE INDEX calls_of_claim ON calls (claim);
CREATE TABLE stops (number INTEGER PRIMARY KEY, session INTEGER, at_ms INTEGER NOT NULL, code TEXT);
"""


@dataclass(frozen=True)
class Claim:
    """One scheduled outcome that was begun."""

    key: str
    kind: str
    settled: bool
    code: str | None


@dataclass(frozen=True)
class CallRow:
    """One reserved call as the journal knows it; times in milliseconds since the epoch."""

    call_id: str
    claim: str
    phase: str
    reserved_ms: int
    pid: int | None
    pid_started: int | None
    heartbeat_ms: int | None
    ended_ms: int | None
    lease: str | None

    @property
    def elapsed_ms(self) -> int:
        """Return how long the call is known to have run."""
        last = self.ended_ms or self.heartbeat_ms or self.reserved_ms
        return max(0, last - self.reserved_ms)


@dataclass(frozen=True)
class Totals:
    """What an experiment has spent over all its sessions."""

    sessions: int
    claims: int
    settled: int
    calls: int
    elapsed_ms: int


class Journal:
    """The open journal of one experiment.

    Parameters
    ----------
    path
        `journal.db`.
    registration
        The digest that it must belong to.
    create
        Make a new one; otherwise a missing journal is refused, since what was spent would be forgotten.
    """

    def __init__(self, path: Path, registration: str, *, create: bool = False) -> None:
        if create == path.exists():
            state = "exists already" if create else "is missing"
            raise ExperimentStopped(f"{path.name} {state}: this experiment can't go on; run `doit register --new`")
        if create:
            _create(path, registration)
        self._lock = RLock()
        self._session: int | None = None
        with contextlib.ExitStack() as closing:
            try:
                self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
                closing.callback(self._db.close)
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute("PRAGMA foreign_keys = ON")
                self._identify(registration)
            except sqlite3.DatabaseError as error:
                raise _unusable(error) from error
            closing.pop_all()
        self._wall_ms = time.time_ns() // 1_000_000
        self._monotonic = time.monotonic()

    def _identify(self, registration: str) -> None:
        # A page that was lost or cut off can look like an empty one, and rows would be missing without a word.
        if self._db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise sqlite3.DatabaseError("damaged")
        row = self._db.execute("SELECT version, registration FROM identity").fetchone()
        if row != (VERSION, registration):
            raise ExperimentStopped("journal.db belongs to another registration; restore the one of this experiment")

    def close(self) -> None:
        """Close the database; what was written stays."""
        self._db.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    with contextlib.suppress(sqlite3.OperationalError):
                        self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
            except sqlite3.DatabaseError as error:
                raise _unusable(error) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as error:
                raise _unusable(error) from error

    def now_ms(self) -> int:
        """Return the time in milliseconds since the epoch, steady within a session whatever the clock does."""
        return self._wall_ms + int((time.monotonic() - self._monotonic) * 1000)

    # What is written, in the order of a trial

    def begin_session(self) -> int:
        """Open a session and return its number."""
        now = self.now_ms()
        with self._transaction():
            cursor = self._db.execute("INSERT INTO sessions (started_ms, last_ms) VALUES (?, ?)", (now, now))
        self._session = cursor.lastrowid
        assert self._session is not None
        return self._session

    def claim(self, key: str, kind: str) -> None:
        """Claim a scheduled outcome; nobody can claim it again.

        Raises
        ------
        ExperimentStopped
            If it was claimed before.
        """
        now = self.now_ms()
        with self._transaction():
            try:
                self._db.execute(
                    "INSERT INTO claims (key, kind, session, claimed_ms) VALUES (?, ?, ?, ?)",
                    (key, kind, self._session, now),
                )
            except sqlite3.IntegrityError as error:
                raise ExperimentStopped(
                    f"{key} was claimed before and has no record: run `doit recover` to settle it"
                ) from error
            self._touch(now, first_claim=True)

    def reserve(self, key: str, phase: str, *, calls: int, deadline_seconds: float) -> str:
        """Reserve one call for a claim, in one transaction with the check of the budget and the deadline.

        Returns
        -------
        str
            The call's id, 16 hex digits.

        Raises
        ------
        TrialFailed
            `call-budget` or `deadline`.
        """
        call_id = secrets.token_hex(8)
        now = self.now_ms()
        with self._transaction():
            if self._count("SELECT count(*) FROM calls") >= calls:
                raise TrialFailed(FailureCode.CALL_BUDGET, "calls")
            if self._elapsed(now) >= deadline_seconds * 1000:
                raise TrialFailed(FailureCode.DEADLINE, "deadline")
            self._db.execute(
                "INSERT INTO calls (call_id, claim, phase, session, reserved_ms) VALUES (?, ?, ?, ?, ?)",
                (call_id, key, phase, self._session, now),
            )
            self._touch(now)
        return call_id

    def started(self, call_id: str, pid: int, pid_started: int) -> None:
        """Note the process of a call, so that the next start can end it if we die."""
        now = self.now_ms()
        with self._transaction():
            self._db.execute(
                "UPDATE calls SET pid = ?, pid_started = ?, heartbeat_ms = ? WHERE call_id = ?",
                (pid, pid_started, now, call_id),
            )
            self._touch(now)

    def leased(self, call_id: str, source: str) -> None:
        """Note, before a login is lent to a call, the digest of the login as it was then."""
        with self._transaction():
            self._db.execute("UPDATE calls SET lease = ? WHERE call_id = ?", (source, call_id))

    def heartbeat(self, call_id: str) -> None:
        """Note that a call still runs; about once a second."""
        now = self.now_ms()
        with self._transaction():
            self._db.execute("UPDATE calls SET heartbeat_ms = ? WHERE call_id = ?", (now, call_id))
            self._touch(now)

    def ended(self, call_id: str) -> None:
        """Note that a call's whole process tree is gone."""
        now = self.now_ms()
        with self._transaction():
            self._db.execute("UPDATE calls SET ended_ms = ? WHERE call_id = ?", (now, call_id))
            self._touch(now)

    def settle(self, key: str, code: FailureCode | None) -> None:
        """Close a claim whose record is on disk."""
        now = self.now_ms()
        with self._transaction():
            cursor = self._db.execute(
                "UPDATE claims SET settled_ms = ?, code = ? WHERE key = ? AND settled_ms IS NULL", (now, code, key)
            )
            if cursor.rowcount != 1:
                raise ExperimentStopped(f"{key} has no open claim to settle; run `doit verify`")
            self._touch(now)

    def stop(self, code: FailureCode | None) -> None:
        """Note why the run stops, for `doit run_eval --settle`."""
        with self._transaction():
            now = self.now_ms()
            self._db.execute("INSERT INTO stops (session, at_ms, code) VALUES (?, ?, ?)", (self._session, now, code))

    def _touch(self, now: int, *, first_claim: bool = False) -> None:
        if self._session is None:
            return
        self._db.execute("UPDATE sessions SET last_ms = ? WHERE number = ?", (now, self._session))
        if first_claim:
            self._db.execute(
                "UPDATE sessions SET first_claim_ms = coalesce(first_claim_ms, ?) WHERE number = ?",
                (now, self._session),
            )

    # What is read

    def _count(self, query: str) -> int:
        return int(self._db.execute(query).fetchone()[0])

    def _elapsed(self, now: int | None) -> int:
        """Return the time spent in all sessions; the present one runs on to `now`."""
        total = 0
        for number, first, last in self._db.execute("SELECT number, first_claim_ms, last_ms FROM sessions"):
            if first is not None:
                total += max(0, (now if now is not None and number == self._session else last) - first)
        return total

    def seconds_left(self, deadline_seconds: float) -> float:
        """Return how much of the experiment's time is left, in seconds."""
        with self._reading():
            return deadline_seconds - self._elapsed(self.now_ms()) / 1000

    def claims(self) -> dict[str, Claim]:
        """Return every claim by key."""
        with self._reading():
            rows = self._db.execute(
                "SELECT key, kind, settled_ms, code FROM claims ORDER BY claimed_ms, key"
            ).fetchall()
        return {key: Claim(key, kind, settled is not None, code) for key, kind, settled, code in rows}

    def calls_of(self, key: str) -> list[CallRow]:
        """Return the reserved calls of a claim in order."""
        return self._calls("WHERE claim = ?", (key,))

    def calls(self) -> list[CallRow]:
        """Return every reserved call."""
        return self._calls("", ())

    def open_calls(self) -> list[CallRow]:
        """Return the calls whose end was never noted."""
        return self._calls("WHERE ended_ms IS NULL", ())

    def _calls(self, where: str, values: tuple[str, ...]) -> list[CallRow]:
        columns = "call_id, claim, phase, reserved_ms, pid, pid_started, heartbeat_ms, ended_ms, lease"
        with self._reading():
            rows = self._db.execute(
                f"SELECT {columns} FROM calls {where} ORDER BY reserved_ms, rowid", values
            ).fetchall()
        return [CallRow(*row) for row in rows]

    def infrastructure_in_a_row(self) -> int:
        """Return how many of this session's claims with a call ended last, in a row, in an infrastructure code.

        Claims that were open at the same time count as one: one hiccup of a provider meets every lane.
        """
        query = (
            "SELECT code, claimed_ms, settled_ms FROM claims WHERE session = ? AND settled_ms IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM calls WHERE claim = key) ORDER BY settled_ms DESC, claims.rowid DESC"
        )
        row: list[tuple[int, int]] = []
        with self._reading():
            for code, claimed, settled in self._db.execute(query, (self._session,)):
                if code is None or FailureCode(code).fault != "infrastructure":
                    break
                row.append((claimed, settled))
        return _one_after_another(row)

    def last_stop(self) -> FailureCode | None:
        """Return the code of the last stop, or None if it had none or there was none."""
        with self._reading():
            row = self._db.execute("SELECT code FROM stops ORDER BY number DESC LIMIT 1").fetchone()
        return FailureCode(row[0]) if row is not None and row[0] is not None else None

    def contents(self) -> list[list[object]]:
        """Return every claim, call and stop, for the digest that a report carries."""
        with self._reading():
            return [
                list(row)
                for table in ("claims", "calls", "stops")
                for row in self._db.execute(f"SELECT '{table}', * FROM {table} ORDER BY 2")
            ]

    def totals(self) -> Totals:
        """Return the sums over all sessions."""
        with self._reading():
            return Totals(
                sessions=self._count("SELECT count(*) FROM sessions WHERE first_claim_ms IS NOT NULL"),
                claims=self._count("SELECT count(*) FROM claims"),
                settled=self._count("SELECT count(*) FROM claims WHERE settled_ms IS NOT NULL"),
                calls=self._count("SELECT count(*) FROM calls"),
                elapsed_ms=self._elapsed(None),
            )


def _one_after_another(spans: list[tuple[int, int]]) -> int:
    """Return the most of some spans of time of which each begins when or after the one before has ended.

    >>> _one_after_another([(0, 5), (5, 9), (9, 9)]), _one_after_another([(0, 9), (1, 8), (2, 9)])
    (3, 1)
    """
    count, next_begins = 0, None
    for begins, ends in sorted(spans, reverse=True):
        if next_begins is None or ends <= next_begins:
            count, next_begins = count + 1, begins
    return count


def _create(path: Path, registration: str) -> None:
    """Write a new journal whole: a kill leaves none rather than half of one."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.executescript(_TABLES)
        db.execute("INSERT INTO identity VALUES (?, ?)", (VERSION, registration))
        records.write_bytes(path, db.serialize())


def _unusable(error: sqlite3.DatabaseError) -> ExperimentStopped:
    return ExperimentStopped(
        f"journal.db can't be used ({type(error).__name__}): make room on the disk or restore the file, then run again"
    )


@contextmanager
def evaluator_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file for as long as one evaluator works; a second evaluator is refused and told who holds it.

    Parameters
    ----------
    what
        What is locked, for the message.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = acquire_lock(path, what)
    try:
        yield
    finally:
        handle()


def acquire_lock(path: Path, what: str) -> Callable[[], None]:
    """Take a lock file and return the function that gives it back."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError as error:
        holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise ExperimentStopped(f"{what} is in use by process {holder}; wait for it to end, then run again") from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    return lambda: os.close(descriptor)
