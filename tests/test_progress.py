"""What a run shows: on a terminal a panel, elsewhere a line an outcome, and nowhere how an arm does."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from typing import Any

import pytest

from eval_tasks.progress import Snapshot
from tests.chaos import places
from tests.laboratory import Laboratory

SNAPSHOT = Snapshot(
    done=3,
    scheduled=10,
    calls=4,
    most_calls=300,
    spent=65.2,
    deadline=3600,
    left=152.0,
    codes={"rate-limited": 1, "agent-failed": 2},
    working=("cursor-pages",),
)


def test_a_line_names_the_outcome_and_what_was_spent_and_is_left() -> None:
    assert SNAPSHOT.line("cursor-pages.full.r1") == (
        "[3/10] cursor-pages.full.r1  (calls 4 of at most 300; time 0:01:05 of at most 1:00:00; left about 0:02:32;"
        " codes agent-failed 2, rate-limited 1)"
    )


def test_what_is_not_known_yet_is_left_out() -> None:
    bare = Snapshot(0, 10, 0, 300, 0.0, 3600, None, {}, ())
    assert list(bare.facts) == ["outcomes", "calls", "time"]
    assert list(SNAPSHOT.facts) == ["outcomes", "calls", "time", "left", "codes", "at work"]


@pytest.fixture
def short(laboratory: Any) -> Laboratory:
    case = places.silent_case()
    script = {"default": "oracle", "trials": {case: {"full": "nop"}}}
    lab: Laboratory = laboratory(cases=[case], probes=[places.silent_probe()], rehearsal=script)
    lab.settings(library=places.give_small_library(lab.root))
    lab.ok("register")
    return lab


@pytest.mark.agent
def test_each_outcome_is_one_plain_line_in_order_and_a_second_run_has_none(short: Laboratory) -> None:
    said = short.ok("run_eval")
    assert re.findall(r"^\[(\d)/4\]", said, re.MULTILINE) == ["1", "2", "3", "4"]
    assert "\x1b" not in said
    assert "[" not in short.ok("run_eval")


@pytest.mark.agent
def test_a_terminal_gets_a_panel_without_an_arm_or_a_verdict_of_a_grader(short: Laboratory) -> None:
    shown = on_a_terminal(short, "run_eval")
    assert "\x1b[" in shown
    assert re.search(r"outcomes +[0-3] of 4", shown)
    assert re.search(r"calls +\d of at most 300", shown)
    assert places.silent_case() in shown
    assert "every scheduled outcome" in shown
    for arm in short.registration["design"]["arms"]:
        assert f".{arm}." not in shown
    assert "hidden-check" not in shown
    assert "passed" not in shown


def on_a_terminal(lab: Laboratory, *arguments: str) -> str:
    """Run a doit command whose standard output is a terminal, and return everything that was drawn there."""
    ours, theirs = pty.openpty()
    environment = {**lab._environment({}), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(
        [sys.executable, "-m", "doit", *arguments],
        cwd=lab.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    ) as child:
        os.close(theirs)
        shown = b""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.5)[0]:
                try:
                    shown += os.read(ours, 65_536)
                except OSError:
                    break
        assert child.wait(30) == 0
    os.close(ours)
    return shown.decode("utf-8", "replace")
