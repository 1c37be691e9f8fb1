"""Every scheduled trial is in the denominator, and only a grade of this very submission makes a pass."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from eval_tasks.analysis import summary
from eval_tasks.errors import ExperimentStopped, FailureCode
from tests.synthetic_records import case_id, digest, fates, make, outcomes_of


def row_of(rows: list[dict[str, Any]], **wanted: str) -> dict[str, Any]:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def test_there_is_one_outcome_for_each_scheduled_trial_in_the_order_of_the_schedule() -> None:
    records = make(cases=5, repeats=2)
    trials = records.registration["design"]["schedule"]["trials"]
    assert [(o.case_id, o.arm, o.repeat) for o in outcomes_of(records)] == [
        (trial["caseId"], trial["arm"], trial["repeat"]) for trial in trials
    ]


@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_code_stays_in_the_denominator(code: FailureCode) -> None:
    outcomes = outcomes_of(make(cases=4, fate=fates({(0, "full"): code.value})))
    row = row_of(summary.rates(outcomes, ["full"]), arm="full")
    assert (row["trials"], row["passed"], row["rate"]) == (4, 3, 0.75)
    assert summary.failures(outcomes, ["full"])[0]["code"] == code.value


def test_infrastructure_codes_open_the_bounds_and_others_do_not() -> None:
    codes = {(0, "full"): "hidden-check", (1, "full"): "hidden-check", (2, "full"): "hidden-check"}
    codes |= {(3, "full"): "hidden-check", (4, "full"): "rate-limited", (5, "full"): "interrupted"}
    row = summary.rates(outcomes_of(make(cases=8, fate=fates(codes))), ["full"])[0]
    assert row["rate"] == 0.25
    assert row["bounds"] == {"worst": 0.25, "best": 0.5}


def test_floor_and_ceiling_are_named() -> None:
    outcomes = outcomes_of(make(cases=3, fate=lambda case, arm, repeat: "hidden-check" if arm == "full" else None))
    assert [row["state"] for row in summary.rates(outcomes, ["full", "auto-lean"])] == ["floor", "ceiling"]


def test_rates_by_category_add_up_to_the_arm() -> None:
    outcomes = outcomes_of(make(cases=11, fate=fates({(1, "full"): "hidden-check"})))
    rows = [row for row in summary.rates_by_category(outcomes, ["full"]) if row["arm"] == "full"]
    assert sum(row["trials"] for row in rows) == 11
    assert sum(row["passed"] for row in rows) == 10
    assert row_of(rows, category="testing")["passed"] == row_of(rows, category="testing")["trials"] - 1


def test_a_missing_arm_run_is_refused_and_names_the_way_on() -> None:
    records = make(cases=2)
    del records.arm_runs[f"{case_id(1)}.auto-lean.r1"]
    with pytest.raises(ExperimentStopped, match=r"case-0001\.auto-lean\.r1 .*doit run_eval"):
        outcomes_of(records)


def test_a_missing_grade_is_refused_and_names_the_way_on() -> None:
    records = make(cases=2)
    del records.grades[f"{case_id(1)}.full.r1"]
    with pytest.raises(ExperimentStopped, match=r"case-0001\.full\.r1 has no grade; run `doit run_eval`"):
        outcomes_of(records)


@pytest.mark.parametrize("key", ["submissionDigest", "graderDigest"])
def test_a_grade_of_something_else_is_refused(key: str) -> None:
    records = make(cases=1)
    records.grades[f"{case_id(0)}.full.r1"][key] = digest("another")
    with pytest.raises(ExperimentStopped, match="belongs to another"):
        outcomes_of(records)


def test_a_grade_that_passed_without_a_task_call_is_no_pass() -> None:
    records = make(cases=1)
    run = records.arm_runs[f"{case_id(0)}.auto-lean.r1"]
    run["calls"] = [call for call in run["calls"] if call["phase"] != "task"]
    failed = [outcome for outcome in outcomes_of(records) if not outcome.passed]
    assert [(outcome.arm, outcome.failure) for outcome in failed] == [("auto-lean", FailureCode.AGENT_FAILED)]


def test_an_arm_run_with_a_code_is_never_a_pass_even_with_a_passing_grade() -> None:
    records = make(cases=1)
    records.arm_runs[f"{case_id(0)}.full.r1"]["failure"] = "call-timeout"
    outcome = next(outcome for outcome in outcomes_of(records) if outcome.arm == "full")
    assert outcome.failure is FailureCode.CALL_TIMEOUT


def test_usage_is_unknown_as_soon_as_one_call_is() -> None:
    records = make(cases=1)
    records.arm_runs[f"{case_id(0)}.auto-lean.r1"]["calls"][0]["usage"] = None
    rows = {outcome.arm: outcome.usage for outcome in outcomes_of(records)}
    assert rows["auto-lean"] is None
    assert rows["full"] is not None


def test_a_pick_is_right_only_if_it_is_exactly_the_registered_skill() -> None:
    records = make(cases=4)
    records.arm_runs[f"{case_id(0)}.auto-lean.r1"]["selectedIds"] = ["tdd-workflow"]
    records.arm_runs[f"{case_id(1)}.auto-lean.r1"]["selectedIds"] = []
    picks = {outcome.case_id: outcome.picked_right for outcome in outcomes_of(records) if outcome.arm == "auto-lean"}
    assert list(picks.values()) == [False, False, True, True]


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(summary).failed == 0
