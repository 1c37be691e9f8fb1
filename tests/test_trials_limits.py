from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_tasks.errors import FailureCode
from eval_tasks.trials import limits
from eval_tasks.trials.limits import Wall

LIMITS = {"callSeconds": 300, "proposalSeconds": 30}


@pytest.mark.parametrize(
    ("phase", "left", "wall"),
    [
        ("task", 3600.0, Wall(300.0, "call")),
        ("task", 300.0, Wall(300.0, "call")),
        ("task", 299.9, Wall(299.9, "deadline")),
        ("proposal", 3600.0, Wall(30.0, "proposal")),
        ("proposal", 12.0, Wall(12.0, "deadline")),
        ("canary", 3600.0, Wall(300.0, "call")),
        ("task", 0.0, Wall(0.0, "deadline")),
        ("task", -5.0, Wall(0.0, "deadline")),
    ],
)
def test_a_call_has_its_own_limit_or_what_is_left_until_the_deadline(phase: str, left: float, wall: Wall) -> None:
    assert limits.wall(LIMITS, phase, left) == wall


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(["task", "proposal", "canary"]), st.floats(-1e6, 1e6), st.integers(1, 600), st.integers(1, 30))
def test_no_call_outlives_the_deadline_or_its_own_limit(phase: str, left: float, call: int, proposal: int) -> None:
    found = limits.wall({"callSeconds": call, "proposalSeconds": proposal}, phase, left)
    own = proposal if phase == "proposal" else call
    assert 0 <= found.seconds <= own
    assert found.seconds <= max(left, 0)
    assert (found.limit == "deadline") == (left < own)


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("call", FailureCode.CALL_TIMEOUT),
        ("proposal", FailureCode.PROPOSAL_INVALID),
        ("deadline", FailureCode.DEADLINE),
    ],
)
def test_the_failure_names_the_limit_that_fired(limit: str, code: FailureCode) -> None:
    failed = Wall(1.0, limit).expired()
    assert (failed.code, failed.limit) == (code, limit)
