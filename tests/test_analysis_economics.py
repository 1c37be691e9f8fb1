"""Paired costs: unknown is never zero, and an unfinished trial never makes an arm look cheap."""

from __future__ import annotations

import math
from typing import Any

import pytest

from eval_tasks.analysis import economics
from tests.synthetic_records import case_id, fates, make, outcomes_of


def costs(records: Any, arm: str = "auto-lean") -> dict[str, Any]:
    return economics.paired_costs(outcomes_of(records), arm, "full")


def measure(row: dict[str, Any], name: str) -> dict[str, Any]:
    return next(found for found in row["measures"] if found["measure"] == name)


def test_equal_costs_have_ratio_one() -> None:
    records = make(cases=10)
    for name, run in records.arm_runs.items():
        run["calls"] = records.arm_runs[name.replace("auto-lean", "full")]["calls"]
    for row in costs(records)["measures"]:
        assert (row["n"], row["ratio"], row["interval"]) == (10, 1.0, {"low": 1.0, "high": 1.0})


def test_the_ratio_is_the_median_over_cases_with_the_sign_test_interval() -> None:
    records = make(cases=7)
    for index in range(7):
        records.arm_runs[f"{case_id(index)}.full.r1"]["calls"][0]["elapsedMs"] = 1000
        records.arm_runs[f"{case_id(index)}.manual-lean.r1"]["calls"][0]["elapsedMs"] = 1000 * (index + 1)
    row = measure(costs(records, "manual-lean"), "elapsedMs")
    assert row["ratio"] == 4.0
    assert row["interval"] == {"low": 1.0, "high": 7.0}
    assert [point["ratio"] for point in row["quantiles"]][0::6] == [1.0, 7.0]


def test_too_few_cases_leave_the_interval_open() -> None:
    assert measure(costs(make(cases=5)), "calls")["interval"] == {"low": None, "high": None}


def test_a_time_out_takes_its_case_out_and_is_listed() -> None:
    found = costs(make(cases=8, fate=fates({(3, "auto-lean"): "call-timeout"})))
    assert measure(found, "elapsedMs")["n"] == measure(found, "inputTokens")["n"] == 7
    assert found["lost"] == [
        {"arm": "auto-lean", "reason": "call-timeout", "cases": 1, "caseIds": [case_id(3)]},
    ]


def test_a_failed_check_keeps_its_case_in() -> None:
    found = costs(make(cases=8, fate=fates({(3, "auto-lean"): "hidden-check"})))
    assert measure(found, "inputTokens")["n"] == 8
    assert found["lost"] == []


def test_unknown_usage_loses_the_tokens_but_not_the_time() -> None:
    found = costs(make(cases=8, usage_unknown=lambda case, arm: (case, arm) == (2, "full")))
    tokens = measure(found, "outputTokens")
    assert (tokens["n"], tokens["unmeasured"]) == (7, 1)
    assert measure(found, "elapsedMs")["n"] == 8
    assert found["lost"] == [{"arm": "full", "reason": "usage-unknown", "cases": 1, "caseIds": [case_id(2)]}]


def test_a_zero_is_counted_apart() -> None:
    records = make(cases=8)
    records.arm_runs[f"{case_id(0)}.full.r1"]["calls"][0]["usage"]["cachedInputTokens"] = 0
    row = measure(costs(records), "cachedInputTokens")
    assert (row["n"], row["zero"], row["unmeasured"]) == (7, 1, 0)


def test_one_unfinished_repeat_takes_the_whole_case_out() -> None:
    def fate(case: int, arm: str, repeat: int) -> str | None:
        return "rate-limited" if (case, arm, repeat) == (1, "full", 2) else None

    found = costs(make(cases=8, repeats=3, fate=fate))
    assert measure(found, "calls")["n"] == 7


def test_totals_count_unknown_usage_instead_of_adding_zero() -> None:
    records = make(cases=4, usage_unknown=lambda case, arm: arm == "full")
    rows = {row["arm"]: row for row in economics.arm_totals(outcomes_of(records), ["full", "auto-lean"])}
    assert rows["full"]["callsWithUsage"] == 0
    assert rows["full"]["usage"] is None
    assert rows["auto-lean"]["calls"] == 7
    assert rows["auto-lean"]["proposalCalls"] == 3


def test_the_start_up_tax_is_the_installs() -> None:
    records = make(cases=1)
    rows = economics.startup_tax(["full", "manual-lean", "auto-lean"], records.inventories)
    assert [row["startupContextBytes"] for row in rows] == [41_000, 9_000, 9_000]


def test_quantiles_lie_between_the_extremes() -> None:
    row = measure(costs(make(cases=30)), "inputTokens")
    ratios = [point["ratio"] for point in row["quantiles"]]
    assert ratios == sorted(ratios)
    assert ratios[3] == pytest.approx(row["ratio"])
    assert all(math.isfinite(ratio) for ratio in ratios)
