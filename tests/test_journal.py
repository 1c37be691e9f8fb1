from __future__ import annotations

import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eval_tasks import journal
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.journal import Journal, Totals
from tests import forks

REGISTRATION = "a" * 64
HOUR = 3600.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a new, closed journal."""
    found = tmp_path / "journal.db"
    Journal(found, REGISTRATION, create=True).close()
    return found


@pytest.fixture
def opened(path: Path) -> Iterator[Journal]:
    """Give an open journal in its first session."""
    with Journal(path, REGISTRATION) as found:
        found.begin_session()
        yield found


class Clock:
    """A clock that the test moves, in the place of the module `time`."""

    def __init__(self, at_seconds: float) -> None:
        self.at_seconds = at_seconds

    def time_ns(self) -> int:
        return int(self.at_seconds * 1_000_000_000)

    def monotonic(self) -> float:
        return self.at_seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock(1_000_000.0)
    monkeypatch.setattr(journal, "time", found)
    return found


def reserve(opened: Journal, key: str, phase: str = "task", calls: int = 300, seconds: float = HOUR) -> str:
    return opened.reserve(key, phase, calls=calls, deadline_seconds=seconds)


def ran(opened: Journal, key: str, code: FailureCode | None, calls: int = 1) -> None:
    """Enter a whole trial with its calls."""
    opened.claim(key, "trial")
    for _ in range(calls):
        opened.ended(reserve(opened, key))
    opened.settle(key, code)


# Claims


def test_a_claim_is_made_once_even_in_a_later_session(path: Path) -> None:
    for _ in range(2):
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
            if not opened.claims():
                opened.claim("bread.full.r1", "trial")
            with pytest.raises(
                ExperimentStopped, match=r"^bread\.full\.r1 was claimed before and has no record: run `doit"
            ):
                opened.claim("bread.full.r1", "trial")
            assert opened.totals().claims == 1


def test_a_claim_is_made_once_by_two_journals_at_the_same_time(path: Path) -> None:
    won: list[int] = []
    together = threading.Barrier(4)

    def claim(number: int) -> None:
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
            together.wait()
            try:
                opened.claim("bread.full.r1", "trial")
            except ExperimentStopped:
                return
            won.append(number)

    in_threads(claim, 4)
    assert len(won) == 1


def test_a_claim_is_open_until_it_is_settled_with_its_code(opened: Journal) -> None:
    opened.claim("bread.full.r1", "trial")
    opened.claim("probe:near-bread", "probe")
    opened.settle("bread.full.r1", FailureCode.CALL_TIMEOUT)
    found = opened.claims()
    assert [(claim.key, claim.kind, claim.settled, claim.code) for claim in found.values()] == [
        ("bread.full.r1", "trial", True, "call-timeout"),
        ("probe:near-bread", "probe", False, None),
    ]
    opened.settle("probe:near-bread", None)
    assert opened.claims()["probe:near-bread"].settled


@pytest.mark.parametrize("claimed", [True, False])
def test_only_an_open_claim_can_be_settled(opened: Journal, claimed: bool) -> None:
    if claimed:
        opened.claim("bread.full.r1", "trial")
        opened.settle("bread.full.r1", None)
    with pytest.raises(ExperimentStopped, match=r"^bread\.full\.r1 has no open claim to settle; run `doit verify`$"):
        opened.settle("bread.full.r1", FailureCode.AGENT_FAILED)
    assert [claim.code for claim in opened.claims().values()] == [None] * claimed


# Calls, the budget and the deadline


def test_no_call_is_reserved_outside_a_claim(opened: Journal) -> None:
    with pytest.raises(ExperimentStopped):
        reserve(opened, "bread.full.r1")
    assert opened.totals().calls == 0


def test_the_budget_holds_over_claims_and_sessions_and_what_it_refuses_leaves_no_call(path: Path) -> None:
    for session in range(3):
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
            opened.claim(f"case-{session}.full.r1", "trial")
            if session < 2:
                reserve(opened, f"case-{session}.full.r1", calls=2)
                continue
            with pytest.raises(TrialFailed) as caught:
                reserve(opened, f"case-{session}.full.r1", calls=2)
            assert (caught.value.code, caught.value.limit) == (FailureCode.CALL_BUDGET, "calls")
            assert opened.totals().calls == 2
            assert opened.calls_of(f"case-{session}.full.r1") == []


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Run some work in threads at the same time and wait for all of them."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("shared", [True, False])
def test_two_threads_that_reserve_at_once_never_exceed_the_budget(path: Path, shared: bool) -> None:
    budget, refused, made = 25, [], []
    first, second = Journal(path, REGISTRATION), Journal(path, REGISTRATION)
    journals = [first, first if shared else second]
    first.begin_session()
    second.begin_session()
    first.claim("bread.full.r1", "trial")
    together = threading.Barrier(2)

    def spend(number: int) -> None:
        together.wait()
        for _ in range(budget):
            try:
                made.append(reserve(journals[number], "bread.full.r1", calls=budget))
            except TrialFailed as failed:
                refused.append(failed.code)

    in_threads(spend, 2)
    assert (len(made), len(set(made)), set(refused)) == (budget, budget, {FailureCode.CALL_BUDGET})
    assert len(refused) == budget
    assert first.totals().calls == budget
    first.close()
    second.close()


def test_every_call_has_an_id_of_its_own(opened: Journal) -> None:
    opened.claim("bread.auto-lean.r1", "trial")
    ids = [reserve(opened, "bread.auto-lean.r1", phase) for phase in ("proposal", "task")]
    assert len(set(ids)) == 2
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in ids)
    assert [(row.call_id, row.phase) for row in opened.calls_of("bread.auto-lean.r1")] == list(
        zip(ids, ("proposal", "task"), strict=True)
    )


def test_a_call_is_open_from_its_reservation_to_its_end(opened: Journal, clock: Clock) -> None:
    opened.claim("bread.full.r1", "trial")
    call = reserve(opened, "bread.full.r1")
    (row,) = opened.open_calls()
    assert (row.pid, row.pid_started, row.lease, row.heartbeat_ms, row.elapsed_ms) == (None, None, None, None, 0)
    opened.leased(call, "d" * 64)
    opened.started(call, 4711, 99)
    (row,) = opened.open_calls()
    assert (row.pid, row.pid_started, row.lease) == (4711, 99, "d" * 64)
    opened.ended(call)
    assert opened.open_calls() == []


def test_a_heartbeat_is_the_last_that_is_known_of_a_call_whose_evaluator_died(path: Path, clock: Clock) -> None:
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        opened.claim("bread.full.r1", "trial")
        call = reserve(opened, "bread.full.r1")
        opened.started(call, 4711, 99)
        for _ in range(3):
            clock.at_seconds += 1
            opened.heartbeat(call)
    clock.at_seconds += 500
    with Journal(path, REGISTRATION) as opened:
        (row,) = opened.open_calls()
        assert row.elapsed_ms == 3_000
        assert opened.totals().elapsed_ms == 3_000


def test_the_deadline_is_the_sum_over_sessions_from_the_first_claim_to_the_last_entry(path: Path, clock: Clock) -> None:
    for number, (idle, busy) in enumerate([(50, 7), (900, 11), (3, 2)]):
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
            clock.at_seconds += idle
            opened.claim(f"case-{number}.full.r1", "trial")
            clock.at_seconds += busy
            opened.ended(reserve(opened, f"case-{number}.full.r1"))
        clock.at_seconds += 10_000
    with Journal(path, REGISTRATION) as opened:
        totals = opened.totals()
        assert totals == Totals(sessions=3, claims=3, settled=0, calls=3, elapsed_ms=20_000)
        assert opened.seconds_left(HOUR) == HOUR - 20


def test_the_present_session_counts_up_to_now_from_its_first_claim(path: Path, clock: Clock) -> None:
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        clock.at_seconds += 5
        assert opened.seconds_left(HOUR) == HOUR
        opened.claim("bread.full.r1", "trial")
        clock.at_seconds += 30
        assert opened.seconds_left(HOUR) == HOUR - 30
        assert opened.totals().elapsed_ms == 0


def test_the_deadline_refuses_the_call_at_which_it_is_reached(path: Path, clock: Clock) -> None:
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        opened.claim("case-0.full.r1", "trial")
        clock.at_seconds += 59.9
        reserve(opened, "case-0.full.r1", seconds=60)
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        opened.claim("case-1.full.r1", "trial")
        clock.at_seconds += 0.2
        with pytest.raises(TrialFailed) as caught:
            reserve(opened, "case-1.full.r1", seconds=60)
        assert (caught.value.code, caught.value.limit) == (FailureCode.DEADLINE, "deadline")
        assert opened.totals().calls == 1


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_clock_that_was_set_between_sessions_neither_gives_nor_takes_time(
    path: Path, clock: Clock, jump: float
) -> None:
    for number in range(2):
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
            opened.claim(f"case-{number}.full.r1", "trial")
            clock.at_seconds += 4
            reserve(opened, f"case-{number}.full.r1")
        clock.at_seconds += jump
    with Journal(path, REGISTRATION) as opened:
        assert opened.totals().elapsed_ms == 8_000


# Stops


@pytest.mark.parametrize(
    ("codes", "count"),
    [
        ([], 0),
        ([None], 0),
        (["agent-failed"], 1),
        (["agent-failed", "rate-limited", "invalid-stream"], 3),
        (["agent-failed", None, "rate-limited", "invalid-stream"], 2),
        (["agent-failed", "agent-failed", "hidden-check"], 0),
        (["agent-failed", "agent-failed", "call-timeout", "interrupted"], 1),
        (["agent-failed", "proposal-invalid", "agent-failed"], 1),
    ],
)
def test_infrastructure_codes_are_counted_from_the_last_back_to_any_other_end(
    opened: Journal, codes: list[str | None], count: int
) -> None:
    for number, code in enumerate(codes):
        ran(opened, f"case-{number}.full.r1", None if code is None else FailureCode(code))
    assert opened.infrastructure_in_a_row() == count


def test_an_outcome_without_a_call_neither_counts_nor_breaks_the_row(opened: Journal) -> None:
    ran(opened, "case-0.full.r1", FailureCode.AGENT_FAILED)
    ran(opened, "case-1.full.r1", FailureCode.CALL_BUDGET, calls=0)
    assert opened.infrastructure_in_a_row() == 1
    ran(opened, "case-2.auto-lean.r1", FailureCode.EXCLUDED, calls=0)
    assert opened.infrastructure_in_a_row() == 1
    ran(opened, "case-3.full.r1", FailureCode.AGENT_FAILED)
    assert opened.infrastructure_in_a_row() == 2


def test_of_claims_that_were_open_at_the_same_time_only_one_counts(path: Path) -> None:
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        lanes = [f"case-{number}.full.r1" for number in range(4)]
        for key in lanes:
            opened.claim(key, "trial")
            opened.reserve(key, "task", calls=100, deadline_seconds=3600)
        time.sleep(0.003)
        for key in lanes:
            opened.settle(key, FailureCode.AGENT_FAILED)
        assert opened.infrastructure_in_a_row() == 1
        time.sleep(0.003)
        ran(opened, "case-5.full.r1", FailureCode.AGENT_FAILED)
        assert opened.infrastructure_in_a_row() == 2
        ran(opened, "case-6.full.r1", None)
        assert opened.infrastructure_in_a_row() == 0


def test_a_new_session_begins_a_new_row(path: Path) -> None:
    for _ in range(2):
        with Journal(path, REGISTRATION) as opened:
            number = opened.begin_session()
            assert opened.infrastructure_in_a_row() == 0
            ran(opened, f"case-{number}.full.r1", FailureCode.RATE_LIMITED)
            assert opened.infrastructure_in_a_row() == 1


def test_the_last_stop_is_the_one_that_settling_writes(path: Path) -> None:
    with Journal(path, REGISTRATION) as opened:
        assert opened.last_stop() is None
        opened.stop(FailureCode.SOURCE_DRIFT)
        opened.begin_session()
        opened.stop(FailureCode.RATE_LIMITED)
        assert opened.last_stop() is FailureCode.RATE_LIMITED
    with Journal(path, REGISTRATION) as opened:
        assert opened.last_stop() is FailureCode.RATE_LIMITED
        opened.stop(None)
        assert opened.last_stop() is None


def test_a_session_without_a_claim_is_no_session_of_the_experiment(path: Path) -> None:
    for _ in range(2):
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
    with Journal(path, REGISTRATION) as opened:
        assert opened.totals() == Totals(sessions=0, claims=0, settled=0, calls=0, elapsed_ms=0)


def test_the_contents_change_with_every_entry_and_are_the_same_at_every_reading(path: Path) -> None:
    seen = []
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        seen.append(opened.contents())
        opened.claim("bread.full.r1", "trial")
        seen.append(opened.contents())
        call = reserve(opened, "bread.full.r1")
        seen.append(opened.contents())
        opened.ended(call)
        seen.append(opened.contents())
        opened.settle("bread.full.r1", None)
        seen.append(opened.contents())
        opened.stop(None)
        seen.append(opened.contents())
    assert all(seen[index] != seen[index + 1] for index in range(len(seen) - 1))
    with Journal(path, REGISTRATION) as opened:
        assert opened.contents() == seen[-1]


# A journal that is not what it should be


def refusal(path: Path, *, registration: str = REGISTRATION, create: bool = False) -> str:
    with pytest.raises(ExperimentStopped) as caught:
        Journal(path, registration, create=create)
    said = str(caught.value)
    assert "\n" not in said
    assert str(path.parent) not in said
    return said


def test_a_journal_is_for_its_owner_alone(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["journal.db"]


def test_a_missing_journal_is_refused_and_not_begun_anew(tmp_path: Path) -> None:
    assert refusal(tmp_path / "journal.db") == (
        "journal.db is missing: this experiment can't go on; run `doit register --new`"
    )
    assert os.listdir(tmp_path) == []


def test_an_existing_journal_is_never_replaced(path: Path) -> None:
    before = path.read_bytes()
    assert refusal(path, create=True).startswith("journal.db exists already")
    assert path.read_bytes() == before


def test_a_foreign_journal_is_refused(path: Path) -> None:
    assert refusal(path, registration="b" * 64) == (
        "journal.db belongs to another registration; restore the one of this experiment"
    )


@pytest.fixture
def filled(path: Path) -> Path:
    """Give a journal with two hundred claims in it."""
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        for number in range(40):
            ran(opened, f"a-case-with-a-long-name-{number}.manual-lean.r1", FailureCode.RATE_LIMITED)
    return path


@pytest.mark.parametrize("content", [b"", b"not a database " * 400, b"SQLite format 3\0" + bytes(84), bytes(8192)])
def test_a_file_that_is_no_journal_is_refused_in_one_line(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert refusal(path).startswith("journal.db can't be used (")


def whole(path: Path) -> list[list[object]]:
    with Journal(path, REGISTRATION) as opened:
        return opened.contents()


def whole_or_refused(path: Path) -> list[list[object]] | str:
    """Return everything that a journal holds, or the line with which it is refused."""
    try:
        return whole(path)
    except ExperimentStopped as stopped:
        return str(stopped)


def test_a_journal_that_was_cut_off_is_refused_in_one_line_or_has_lost_nothing(filled: Path) -> None:
    contents, content = whole(filled), filled.read_bytes()
    found = []
    for length in range(512, len(content), 1_500):
        filled.write_bytes(content[:length])
        found.append(whole_or_refused(filled))
    refused = [said for said in found if said != contents]
    assert all(str(said).startswith("journal.db can't be used (") for said in refused)
    assert len(refused) > 20


def test_a_journal_with_a_lost_page_is_refused_in_one_line(filled: Path) -> None:
    contents, content = whole(filled), filled.read_bytes()
    found = []
    for start in range(0, len(content), 4_096):
        filled.write_bytes(content[:start] + bytes(4_096) + content[start + 4_096 :])
        found.append(whole_or_refused(filled))
    refused = [said for said in found if said != contents]
    assert all(str(said).startswith("journal.db can't be used (") for said in refused)
    assert len(refused) == len(found)


def test_a_folder_in_the_place_of_the_journal_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    assert refusal(tmp_path / "journal.db").startswith("journal.db can't be used (")


def test_a_journal_that_another_process_keeps_locked_is_refused_in_one_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **options: connect(*a, **{**options, "timeout": 0.05}))
    with Journal(path, REGISTRATION) as opened:
        other = connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ExperimentStopped, match=r"^journal\.db can't be used \(OperationalError\)"):
            opened.begin_session()
        other.execute("ROLLBACK")
        other.close()
        opened.begin_session()


def test_a_full_disk_is_one_clear_line_and_the_journal_stays_whole(path: Path) -> None:
    def write_with_little_room() -> None:
        with Journal(path, REGISTRATION) as opened:
            opened.begin_session()
            opened.claim("bread.full.r1", "trial")
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
            with pytest.raises(ExperimentStopped, match=r"^journal\.db can't be used \("):
                reserve(opened, "bread.full.r1")
            os._exit(0)

    assert forks.run(write_with_little_room) == 0
    with Journal(path, REGISTRATION) as opened:
        assert (opened.totals().claims, opened.totals().calls) == (1, 0)


def test_an_entry_that_fails_half_way_leaves_nothing_of_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, refusing = sqlite3.connect, threading.Event()

    def authorize(action: int, table: str | None, *_: object) -> int:
        refused = refusing.is_set() and action == sqlite3.SQLITE_UPDATE and table == "sessions"
        return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK

    def guarded(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*arguments, **options)
        db.set_authorizer(authorize)
        return db

    monkeypatch.setattr(sqlite3, "connect", guarded)
    with Journal(path, REGISTRATION) as opened:
        opened.begin_session()
        before = opened.contents()
        refusing.set()
        with pytest.raises(ExperimentStopped, match=r"^journal\.db can't be used \(DatabaseError\)"):
            opened.claim("bread.full.r1", "trial")
        refusing.clear()
        assert opened.contents() == before
        opened.claim("bread.full.r1", "trial")


# A kill at every statement


def claim(opened: Journal) -> None:
    opened.claim("cake.full.r1", "trial")


def reserve_one(opened: Journal) -> None:
    reserve(opened, "bread.full.r1")


def settle(opened: Journal) -> None:
    opened.settle("bread.full.r1", FailureCode.AGENT_FAILED)


def stop(opened: Journal) -> None:
    opened.stop(FailureCode.RATE_LIMITED)


@pytest.mark.parametrize(("work", "statements"), [(claim, 5), (reserve_one, 6), (settle, 4), (stop, 3)])
def test_a_kill_at_any_statement_leaves_the_state_before_or_after_and_nothing_between(
    tmp_path: Path, work: Callable[[Journal], None], statements: int
) -> None:
    """Kill a process before each statement of an entry, BEGIN and COMMIT among them, and once after the last."""
    states = []
    for point in range(statements + 1):
        path = tmp_path / f"{point}.db"
        with Journal(path, REGISTRATION, create=True) as opened:
            opened.begin_session()
            opened.claim("bread.full.r1", "trial")
            before = opened.contents()
        status = forks.run(partial(enter_and_die, path, work, point))
        assert status == -signal.SIGKILL
        with Journal(path, REGISTRATION) as opened:
            states.append(opened.contents() != before)
            opened.begin_session()
            ran(opened, "pie.full.r1", None)
    assert states == [False] * statements + [True]


def enter_and_die(path: Path, work: Callable[[Journal], None], point: int) -> None:
    """Kill this process before the statement of that number, or after the work if it has no more."""
    seen: list[str] = []
    connect: Any = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*arguments, **options)
        db.set_trace_callback(reached)
        return db

    def reached(statement: str) -> None:
        if working:
            if len(seen) == point:
                os.kill(os.getpid(), signal.SIGKILL)
            seen.append(statement.split()[0])

    working = False
    sqlite3.connect = traced  # type: ignore[assignment]
    opened = Journal(path, REGISTRATION)
    opened.begin_session()
    working = True
    work(opened)
    assert (seen[0], seen[-1], len(seen)) == ("BEGIN", "COMMIT", point)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_kill_while_a_journal_is_made_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    made = []
    for point in range(6):
        path = tmp_path / str(point) / "journal.db"
        path.parent.mkdir()
        status = forks.run(partial(make_and_die, path, point))
        assert status == -signal.SIGKILL
        made.append(path.exists())
        if not path.exists():
            Journal(path, REGISTRATION, create=True).close()
        with Journal(path, REGISTRATION) as opened:
            assert opened.totals().claims == 0
    assert made == sorted(made)
    assert (made[0], made[-1]) == (False, True)


def make_and_die(path: Path, point: int) -> None:
    """Kill this process before it touches a file for the time of that number, or after the last time."""
    reached = forks.kill_at(point)
    watched = ("open", "os.rename", "os.mkdir", "sqlite3.connect")
    sys.addaudithook(lambda event, arguments: reached() if event in watched and ours(arguments) else None)
    Journal(path, REGISTRATION, create=True)
    os.kill(os.getpid(), signal.SIGKILL)


def ours(arguments: tuple[object, ...]) -> bool:
    return any("journal" in str(argument) or str(argument) == ":memory:" for argument in arguments)


# The lock


def test_a_second_evaluator_is_refused_and_told_which_process_holds_the_lock(tmp_path: Path) -> None:
    place = tmp_path / "evaluator.lock"
    holder = os.getpid()

    def second() -> None:
        said = rf"^experiment x is in use by process {holder}; wait for it to end, then run again$"
        with pytest.raises(ExperimentStopped, match=said), journal.evaluator_lock(place, "experiment x"):
            pass

    with journal.evaluator_lock(place, "experiment x"):
        assert forks.run(second) == 0
        second()
    with journal.evaluator_lock(place, "experiment x"):
        pass
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_the_lock_of_a_killed_evaluator_is_free_and_then_names_the_new_holder(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "evaluator.lock"

    def take_and_die() -> None:
        place.parent.mkdir()
        journal.acquire_lock(place, "it")
        place.write_text("999999999999\n")
        os.kill(os.getpid(), signal.SIGKILL)

    assert forks.run(take_and_die) == -signal.SIGKILL
    with journal.evaluator_lock(place, "it"):
        assert place.read_text("ascii") == f"{os.getpid()}\n"


def test_a_process_that_was_started_under_the_lock_does_not_keep_it(tmp_path: Path) -> None:
    place = tmp_path / "evaluator.lock"
    with journal.evaluator_lock(place, "it"):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with journal.evaluator_lock(place, "it"):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait(10)
