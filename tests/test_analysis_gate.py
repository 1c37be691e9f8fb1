"""The gate: its precedence, and that only the primary method supports the claim."""

from __future__ import annotations

from typing import Any

import pytest

from eval_tasks.analysis import gate
from tests.synthetic_records import compared, fates, make


def decided(records: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    design = records.registration["design"]
    sample = gate.sample_reasons(design)
    rows = [gate.judged(compared(records, arm), sample) for arm in ("auto-lean", "manual-lean")]
    return gate.decide(design, rows), rows


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"evidence": "rehearsal", "cases": 8, "probes": 8}, "synthetic-only"),
        ({"evidence": "rehearsal", "cases": 30, "probes": 30}, "synthetic-only"),
        ({"cases": 29, "probes": 30}, "insufficient-sample"),
        ({"cases": 30, "probes": 29}, "insufficient-sample"),
        ({"cases": 29, "repeats": 2, "probes": 30}, "insufficient-sample"),
        ({"cases": 30, "probes": 30}, "review-required"),
    ],
)
def test_the_status_follows_the_precedence(options: dict[str, Any], status: str) -> None:
    found, _ = decided(make(**options))
    assert found["status"] == status
    assert found["nonInferioritySupported"] is False
    assert found["releaseApproved"] is False


def test_thirty_ties_support_nothing_and_the_reason_is_the_interval() -> None:
    found, rows = decided(make(fate=lambda case, arm, repeat: "hidden-check" if case % 2 else None))
    assert found["reasons"] == ["interval-reaches-margin"]
    assert [row["supported"] for row in rows] == [False, False]


def test_the_additional_method_may_support_what_the_primary_does_not() -> None:
    found, rows = decided(make(cases=100, fate=lambda case, arm, repeat: "hidden-check" if case % 2 else None))
    assert found["nonInferioritySupported"] is False
    assert found["additional"] == [{"method": "optimized-betting", "supported": True}]
    assert all(row["additional"][0]["supported"] for row in rows)


def test_everything_passing_is_never_equivalence() -> None:
    found, rows = decided(make(cases=100))
    assert rows[0]["additional"][0]["clears"] is True
    assert rows[0]["additional"][0]["supported"] is False
    assert found["reasons"] == ["interval-reaches-margin", "ceiling"]
    assert found["additional"][0]["supported"] is False


def test_the_primary_method_supports_both_comparisons_when_lean_is_far_better() -> None:
    found, rows = decided(make(fate=lambda case, arm, repeat: "hidden-check" if arm == "full" else None))
    assert all(row["supported"] for row in rows)
    assert found["nonInferioritySupported"] is True
    assert found["reasons"] == []
    assert found["releaseApproved"] is False


def test_one_unsupported_comparison_is_enough_to_withhold_support() -> None:
    found, rows = decided(make(fate=lambda case, arm, repeat: None if arm == "auto-lean" else "hidden-check"))
    assert [row["supported"] for row in rows] == [True, False]
    assert found["nonInferioritySupported"] is False
    assert "floor" in found["reasons"]


def test_an_interval_below_the_margin_has_its_own_reason() -> None:
    _, rows = decided(make(fate=lambda case, arm, repeat: None if arm == "full" else "hidden-check"))
    assert rows[0]["excludes"] is True
    assert rows[0]["reasons"] == ["below-margin"]


@pytest.mark.parametrize("evidence", ["live", "rehearsal"])
def test_infrastructure_vetoes_both_methods(evidence: str) -> None:
    codes = {(i, "full"): "rate-limited" for i in range(20)}
    found, rows = decided(make(cases=60, evidence=evidence, fate=fates(codes)))
    assert rows[0]["additional"][0]["clears"] is True
    assert found["additional"][0]["supported"] is False
    assert {"arm-asymmetry", "infrastructure"} <= set(found["reasons"])
    assert set(found["reasons"]) <= set(gate.REASONS)


def test_what_no_claim_is_about_neither_supports_nor_spoils_the_claim() -> None:
    def fate(case: int, arm: str, repeat: int) -> str | None:
        return None if arm in ("manual-lean", "auto-lean") else "hidden-check"

    records = make(fate=fate, arms=["full", "manual-lean", "auto-lean", "baseline", "a-a"])
    design = records.registration["design"]
    rows = [gate.judged(compared(records, arm), gate.sample_reasons(design)) for arm in design["arms"][1:]]
    assert [(row["arm"], row["supported"], row["reasons"]) for row in rows] == [
        ("manual-lean", True, []),
        ("auto-lean", True, []),
        ("baseline", False, ["no-claim"]),
        ("a-a", False, ["no-claim"]),
    ]
    found = gate.decide(design, rows)
    assert found["nonInferioritySupported"] is True
    assert found["reasons"] == []


def test_without_a_lean_arm_there_is_nothing_to_claim() -> None:
    records = make(arms=["full", "a-a"], fate=lambda case, arm, repeat: "hidden-check" if arm == "full" else None)
    design = records.registration["design"]
    found = gate.decide(design, [gate.judged(compared(records, "a-a"), gate.sample_reasons(design))])
    assert found["nonInferioritySupported"] is False
    assert found["reasons"] == ["no-claim"]
    assert found["additional"] == [{"method": "optimized-betting", "supported": False}]
