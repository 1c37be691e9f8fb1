"""Paired differences: repeats inside a case, both intervals, bounds and vetoes."""

from __future__ import annotations

from typing import Any

import pytest

from eval_tasks import intervals
from eval_tasks.analysis import pairs
from eval_tasks.errors import ExperimentStopped
from tests.synthetic_records import case_id, compared, fates, make, outcomes_of


def test_a_mixed_script_gives_exactly_the_table_that_it_predicts() -> None:
    codes = {(0, "auto-lean"): "hidden-check", (1, "auto-lean"): "hidden-check", (2, "full"): "hidden-check"}
    codes |= {(3, "full"): "hidden-check", (3, "auto-lean"): "hidden-check"}
    row = compared(make(cases=30, fate=fates(codes)))
    assert row["losses"] == [case_id(0), case_id(1)]
    assert row["wins"] == [case_id(2)]
    ties = {key: value for key, value in row["ties"].items() if key != "caseIds"}
    assert ties == {"cases": 27, "bothPassed": 26, "bothFailed": 1, "mixed": 0}
    assert row["ties"]["caseIds"] == [case_id(index) for index in range(3, 30)]
    assert row["delta"] == pytest.approx(-1 / 30, abs=1e-6)
    assert row["interval"] == {"low": -0.573829, "high": 0.507162}
    assert row["additional"][0]["interval"] == {"low": -0.260508, "high": 0.181962}
    assert row["additional"][0]["statistic"] == 0.040685
    assert row["additional"][0]["pValue"] == 0.960132


def test_repeats_are_averaged_within_a_case_and_make_no_new_cases() -> None:
    once = compared(make(cases=30, fate=fates({(0, "auto-lean"): "hidden-check"})))
    thrice = compared(make(cases=30, repeats=3, fate=fates({(0, "auto-lean"): "hidden-check"})))
    assert thrice["cases"] == once["cases"] == 30
    assert thrice["interval"] == once["interval"]
    assert thrice["additional"] == once["additional"]


def test_one_of_three_repeats_is_a_third_of_a_difference() -> None:
    def fate(case: int, arm: str, repeat: int) -> str | None:
        return "hidden-check" if (case, arm, repeat) == (0, "auto-lean", 2) else None

    row = compared(make(cases=10, repeats=3, fate=fate))
    assert row["losses"] == [case_id(0)]
    assert row["delta"] == pytest.approx(-1 / 30, abs=1e-6)
    expected = intervals.optimized_betting([-1 / 3] + [0.0] * 9, 0.0125)
    assert row["additional"][0]["interval"]["low"] == pytest.approx(expected.low, abs=1e-6)


def test_a_case_that_one_arm_runs_less_often_is_refused() -> None:
    records = make(cases=2)
    trials = records.registration["design"]["schedule"]["trials"]
    trials.remove(next(t for t in trials if t["arm"] == "full"))
    with pytest.raises(ExperimentStopped, match="not scheduled equally"):
        compared(records)


def test_bounds_count_infrastructure_codes_worst_and_best() -> None:
    codes = {(0, "auto-lean"): "rate-limited", (1, "full"): "interrupted", (2, "auto-lean"): "hidden-check"}
    row = compared(make(cases=20, fate=fates(codes)))
    assert row["delta"] == -0.05
    assert row["bounds"]["worst"]["delta"] == pytest.approx(-0.1)
    assert row["bounds"]["best"]["delta"] == 0
    assert row["bounds"]["worst"]["interval"]["low"] < row["interval"]["low"]
    assert row["bounds"]["best"]["additional"][0]["interval"]["high"] > row["additional"][0]["interval"]["high"]


def test_without_infrastructure_codes_the_bounds_are_the_estimate() -> None:
    row = compared(make(cases=20, fate=fates({(2, "auto-lean"): "call-timeout"})))
    assert row["bounds"]["worst"]["delta"] == row["bounds"]["best"]["delta"] == row["delta"] == -0.05


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ({}, ["ceiling"]),
        ({(0, "auto-lean"): "hidden-check"}, []),
        ({(0, "auto-lean"): "rate-limited", (1, "full"): "hidden-check"}, []),
        ({(0, "auto-lean"): "rate-limited", (1, "auto-lean"): "agent-failed"}, ["arm-asymmetry"]),
        ({(i, arm): "rate-limited" for i in range(3) for arm in ("auto-lean", "full")}, []),
        ({(i, arm): "rate-limited" for i in range(4) for arm in ("auto-lean", "full")}, ["infrastructure"]),
        ({(i, arm): "hidden-check" for i in range(30) for arm in ("auto-lean", "full")}, ["floor"]),
    ],
)
def test_vetoes(codes: dict[tuple[int, str], str], expected: list[str]) -> None:
    assert compared(make(cases=30, fate=fates(codes)))["vetoes"] == expected


def test_alpha_is_shared_over_both_sides_of_every_comparison() -> None:
    plan = pairs.AnalysisPlan.of(make(cases=1).registration["design"])
    assert plan.alpha_per_side == 0.0125
    assert plan.margin == 0.05


@pytest.mark.parametrize(("key", "value"), [("primary", "bootstrap"), ("additional", ["bayes"])])
def test_an_unknown_method_is_refused(key: str, value: Any) -> None:
    design = make(cases=1).registration["design"]
    design["analysis"][key] = value
    with pytest.raises(ExperimentStopped, match=r"bootstrap|bayes"):
        pairs.AnalysisPlan.of(design)


def test_the_decomposition_splits_the_difference_and_judges_each_failed_pick() -> None:
    records = make(cases=20, fate=fates({(0, "auto-lean"): "hidden-check", (1, "auto-lean"): "hidden-check",
                                         (2, "full"): "hidden-check"}))  # fmt: skip
    records.arm_runs[f"{case_id(0)}.auto-lean.r1"]["selectedIds"] = ["tdd-workflow"]
    row = pairs.decompose(outcomes_of(records), "auto-lean", "manual-lean", "full")
    assert row["selectionEffect"] == -0.1
    assert row["installEffect"] == 0.05
    assert row["selectionEffect"] + row["installEffect"] == pytest.approx(compared(records)["delta"])
    assert row["picks"] == {"right": 19, "wrong": 1, "missing": 0, "passedAfterRight": 18, "passedAfterOther": 0}
    assert [(failed["caseId"], failed["pickedRight"]) for failed in row["failed"]] == [
        (case_id(0), False),
        (case_id(1), True),
    ]
