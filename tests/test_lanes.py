"""Several calls at once under the real doit: the same records, exact limits, one word for a stop and no call left."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval_tasks import records
from tests.chaos import agents, places
from tests.laboratory import Laboratory

pytestmark = pytest.mark.agent

JOBS = 3
OF_ONE_RUN = ("callId", "elapsedMs", "registration")
"""What differs between two runs of one schedule."""


def staffed(laboratory: Any, folder: Path, *, jobs: int, play: str, plays: dict[str, str] | None = None) -> Laboratory:
    """Make a laboratory of as many cases as lanes, whose agent plays one script unless told otherwise.

    It tells arms apart by the number of skills, of which Full has no more here than Lean: what stands for Auto Lean is
    played in Full too.
    """
    chosen = [key for key, case in places.cases().items() if not case["skill"]][:JOBS]
    lab: Laboratory = laboratory(cases=chosen, probes=[places.silent_probe()], rehearsal={"default": "nop"})
    lab.settings(jobs=jobs, library=places.give_small_library(lab.root))
    prompts = {key: places.cases()[key]["prompt"].strip().split("\n")[0] for key in chosen}
    lab.executable = agents.package(folder / f"agent{jobs}", prompts, plays or {}, default=play)
    return lab


def register(lab: Laboratory) -> Laboratory:
    lab.ok("register", "--executable", str(lab.executable))
    return lab


def comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in OF_ONE_RUN}
    return [comparable(item) for item in value] if isinstance(value, list) else value


def spans(lab: Laboratory) -> dict[str, tuple[int, int]]:
    """Return when each call was reserved and when it had ended, by claim, in the order of their beginnings."""
    with sqlite3.connect(lab.experiment / "journal.db") as journal:
        rows = journal.execute(
            "SELECT claim, min(reserved_ms), max(ended_ms) FROM calls WHERE phase = 'task' GROUP BY claim ORDER BY 2"
        )
        return {claim: (begun, ended) for claim, begun, ended in rows}


def most_at_once(found: dict[str, tuple[int, int]]) -> int:
    return max(sum(begun <= at < ended for begun, ended in found.values()) for at, _ in found.values())


def test_lanes_leave_the_records_of_one_lane_and_keep_the_order_within_a_case(laboratory: Any, tmp_path: Path) -> None:
    one = register(staffed(laboratory, tmp_path, jobs=1, play="start; sleep 0.3; end"))
    several = register(staffed(laboratory, tmp_path, jobs=JOBS, play="start; sleep 0.3; end"))
    for lab in (one, several):
        lab.ok("run_eval")
        lab.ok("report")
    for kind in ("arm-runs", "grades", "probes"):
        assert comparable(one.records(kind)) == comparable(several.records(kind)) != {}
    assert comparable(one.report["outcomes"]) == comparable(several.report["outcomes"])
    assert most_at_once(spans(one)) == 1
    assert most_at_once(spans(several)) == JOBS
    scheduled = [records.canonical(trial) for trial in several.registration["design"]["schedule"]["trials"]]
    names = [f"{t['caseId']}.{t['arm']}.r{t['repeat']}" for t in map(json.loads, scheduled)]
    found = spans(several)
    for before, after in pairwise(names):
        if before.split(".")[0] == after.split(".")[0]:
            assert found[before][1] <= found[after][0]
    said = several.ok("run_eval")
    assert said.count("every scheduled outcome") == 1


def test_the_budget_is_exact_in_lanes(laboratory: Any, tmp_path: Path) -> None:
    lab = staffed(laboratory, tmp_path, jobs=JOBS, play="start; end")
    lab.limits(calls=5)
    lab.ok("register", "--executable", str(lab.executable), "--accept-shortfall")
    lab.ok("run_eval")
    runs = lab.records("arm-runs").values()
    made = sum(len(run["calls"]) for run in runs)
    assert made == 5
    assert {run["failure"] for run in runs} == {None, "call-budget"}
    assert len(runs) == 3 * JOBS


def test_a_stop_in_one_lane_lets_nothing_begin_and_the_running_calls_are_recorded(
    laboratory: Any, tmp_path: Path
) -> None:
    refused = 'start; echo \'{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}\'; exit 1'
    chosen = [key for key, case in places.cases().items() if not case["skill"]][:JOBS]
    lab = register(
        staffed(laboratory, tmp_path, jobs=JOBS, play="start; sleep 2; end", plays={f"{chosen[0]}.auto-lean": refused})
    )
    said = lab.stopped("run_eval")
    assert said.startswith("the provider refused the credential")
    runs = lab.records("arm-runs")
    assert len(runs) == JOBS
    assert sorted(str(run["failure"]) for run in runs.values()) == ["None"] * (JOBS - 1) + ["authentication"]
    assert lab.survivors() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_end_in_the_middle_interrupts_at_most_the_calls_in_flight_and_repeats_none(
    laboratory: Any, tmp_path: Path, number: int
) -> None:
    lab = register(staffed(laboratory, tmp_path, jobs=JOBS, play="start; sleep 3; end"))
    lab.ok("prepare")
    begun = time.monotonic()
    lab.kill_when(lambda: len(list((lab.work / "calls").glob("*"))) >= JOBS, "run_eval", number=number)
    assert time.monotonic() - begun < 60
    gone_by = time.monotonic() + 5
    while lab.survivors() and time.monotonic() < gone_by:
        time.sleep(0.05)
    assert lab.survivors() == []
    before = lab.records("arm-runs")
    interrupted = [name for name, run in before.items() if run["failure"] == "interrupted"]
    with sqlite3.connect(lab.experiment / "journal.db") as journal:
        (unsettled,) = journal.execute("SELECT count(*) FROM claims WHERE settled_ms IS NULL").fetchone()
    # A signal that can be caught leaves nothing for the next start.
    assert (len(interrupted) > 0, unsettled > 0) == ((False, True) if number == signal.SIGKILL else (True, False))
    lab.ok("run_eval")
    runs = lab.records("arm-runs")
    assert 1 <= [run["failure"] for run in runs.values()].count("interrupted") <= JOBS
    assert {name: runs[name] for name in before} == before
    calls = [call["phase"] for run in runs.values() for call in run["calls"]]
    assert len(runs) == len(spans(lab)) == calls.count("task") == 3 * JOBS


def test_a_stated_time_to_come_back_pauses_every_lane(laboratory: Any, tmp_path: Path) -> None:
    limited = (
        'start; sleep 0.5; echo \'{"type":"turn.failed","error":{"message":'
        '"exceeded retry limit, last status: 429 Too Many Requests. Please try again in 4s."}}\'; exit 1'
    )
    chosen = [key for key, case in places.cases().items() if not case["skill"]][:JOBS]
    lab = register(
        staffed(
            laboratory, tmp_path, jobs=JOBS, play="start; sleep 1.5; end", plays={f"{chosen[0]}.auto-lean": limited}
        )
    )
    lab.ok("run_eval")
    runs = lab.records("arm-runs")
    met = {f"{chosen[0]}.{arm}.r1" for arm in agents.ARMS}
    assert {name: run["failure"] for name, run in runs.items() if run["failure"]} == dict.fromkeys(met, "rate-limited")
    found = spans(lab)
    for limited_until in (found[name][1] for name in met):
        assert [name for name, (at, _) in found.items() if limited_until + 200 < at < limited_until + 3_900] == []


@pytest.mark.parametrize("option", [["-n", "4"], ["-n4"], ["--process=4"], ["-P", "thread"]])
def test_how_many_run_at_once_is_no_option(laboratory: Any, option: list[str]) -> None:
    ran = laboratory().doit("run", *option, "run_eval")
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"stopped: {option[0].partition('=')[0]}: how many calls run at once is registered")


def test_lanes_and_a_login_home_are_refused_together(laboratory: Any, tmp_path: Path) -> None:
    lab = laboratory()
    lab.settings(jobs=2)
    home = tmp_path / "login"
    home.mkdir(mode=0o700)
    (home / "auth.json").write_text('{"OPENAI_API_KEY": "sk-canary"}', "utf-8")
    (home / "auth.json").chmod(0o600)
    said = lab.stopped("register", "--backend", "codex", "--auth-home", str(home), "--model", "m")
    assert "2 calls at once can't share a login home" in said
    assert said.startswith("eval.yaml:")
