"""A killed evaluator: a few of the kills of `make chaos`, in one experiment that is resumed after each."""

from __future__ import annotations

import signal

import pytest

from tests.chaos import kills

pytestmark = pytest.mark.agent

NAMED = {point.name: point for point in (*kills.RUN, *kills.RECOVER)}
PLAN = (
    ("in the proposal", signal.SIGKILL, "kept"),
    ("before recover settles", signal.SIGKILL, "kept"),
    ("in the call", signal.SIGTERM, "deleted"),
    ("after the first request", signal.SIGINT, "corrupted"),
    ("after seal", signal.SIGKILL, "kept"),
    ("in the arm-run's record", signal.SIGTERM, "kept"),
    ("before settle", signal.SIGKILL, "deleted"),
    ("before the grade's record", signal.SIGINT, "kept"),
    ("before claim", signal.SIGTERM, "kept"),
)


def test_kills_at_every_step_of_a_trial_cost_its_outcome_at_most_and_repeat_no_call(laboratory):
    lab = kills.laboratory(laboratory, repeats=4)
    lab.ok("register")
    series = kills.Series(lab)
    for name, number, database in PLAN:
        assert series.kill(NAMED[name], number, database), f"never came to: {name}"
    count = series.finish()
    assert "\n".join(count.faults) == ""
    assert count.kills == len(PLAN)
    assert count.interrupted == 4
