"""Calls without an outer box, through the real doit: the subreaper's proof that nothing of them is left."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos import agents, namespaces, places
from tests.laboratory import Laboratory

pytestmark = pytest.mark.agent

CALL_SECONDS = 8

FAMILY = r"""
(setsid sh -c 'trap "" TERM INT HUP; exec sleep {mark}.1' > /dev/null 2>&1 &)
(trap '' TERM INT HUP; (nohup sleep {mark}.2 > /dev/null 2>&1 &) &)
(setsid sh -c '(setsid sleep {mark}.3 &)' &)
"""
"""In a session of its own, forked twice, both at once and with our pipes held open."""

LEAVES = "start" + FAMILY + "sleep 0.5; end"
HANGS = "start" + FAMILY + "trap '' TERM INT HUP; while :; do sleep 1; done"


def running(mark: str) -> list[str]:
    """Return the command lines of all processes of this machine that hold a mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if mark in line:
                found.append(line)
    return found


def test_without_an_outer_box_a_call_ends_with_its_whole_family_within_its_limit(
    laboratory: Callable[..., Laboratory], tmp_path: Path
) -> None:
    (case,) = places.proposing_cases(1)
    lab = laboratory(cases=[case], probes=[places.silent_probe()], rehearsal={"default": "oracle"})
    lab.settings(library=places.give_library_of(lab.root, case), isolation="agent-sandbox")
    lab.limits(callSeconds=CALL_SECONDS)
    mark = str(10**9 + secrets.randbelow(10**9))
    prompts = {case: places.cases()[case]["prompt"].strip().split("\n")[0]}
    # Full is the real Codex, which works through its own sandbox and the permission profile of this level.
    plays = {f"{case}.manual-lean": LEAVES.format(mark=mark), f"{case}.auto-lean": HANGS.format(mark=mark)}
    agent = agents.package(tmp_path / "agent", prompts, plays, most_lean=3)
    lab.ok("register", "--executable", str(agent))
    seen: list[int] = []

    def look() -> bool:
        time.sleep(0.2)
        seen.append(len(running(mark)))
        return False

    # Signal 0 ends nothing.
    assert lab.kill_when(look, "run_eval", number=0) == 0
    assert max(seen) >= 3, "the family never ran"
    assert running(mark) == []
    records = {run["arm"]: run for run in lab.records("arm-runs").values()}
    assert {arm: run["failure"] for arm, run in records.items()} == {
        "full": None,
        "manual-lean": None,
        "auto-lean": "call-timeout",
    }
    called = [call for run in records.values() for call in run["calls"]]
    assert len(called) == 4
    for call in called:
        assert call["contained"] == {"quiescent": True, "wallHonoured": True, "level": "agent-sandbox"}
    assert records["auto-lean"]["limit"] == "call"
    assert CALL_SECONDS * 1000 <= records["auto-lean"]["calls"][-1]["elapsedMs"] < CALL_SECONDS * 1000 + 1000
    grades = {name.split(".")[1]: grade["passed"] for name, grade in lab.records("grades").items()}
    assert grades == {"full": True, "manual-lean": False}
    lab.ok("report")
    assert lab.report["isolation"] == "agent-sandbox"


def test_no_call_is_paid_for_on_a_machine_that_cannot_shut_graders_in(laboratory: Callable[..., Laboratory]) -> None:
    lab = laboratory(cases=[places.silent_case()], probes=[places.silent_probe()], rehearsal={"default": "nop"})
    lab.settings(library=places.give_small_library(lab.root), isolation="agent-sandbox")
    lab.ok("register")
    lab.ok("prepare")
    ran = lab.run(namespaces.__file__, "0", sys.executable, "-m", "doit", "run_eval")
    assert ran.returncode == 1
    said = ran.stderr.removeprefix("stopped: ").rstrip("\n")
    assert said.startswith("graders can't be shut in on this machine (")
    assert "never run in the open" in said
    assert "\n" not in said
    assert lab.paid() == []
    assert lab.records("arm-runs") == {}
