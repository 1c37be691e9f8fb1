"""The selection summary: what counts for the headline, and that no scheduled probe is left out."""

from __future__ import annotations

from typing import Any

import pytest

from eval_tasks.analysis import selection
from eval_tasks.errors import ExperimentStopped
from tests.synthetic_records import make


def probed(records: Any) -> tuple[selection.ProbeOutcome, ...]:
    return selection.probes_of(records.registration["design"], records.probes)


def summarized(records: Any) -> dict[str, Any]:
    return selection.summarize(probed(records), records.registration["design"]["evidence"])


def test_the_headline_is_paraphrases_near_misses_and_needless_probes_alone() -> None:
    found = summarized(make(cases=1, probes=50, probe_passes=lambda index: index % 5 in (0, 1, 2)))
    assert found["headline"] == {
        "passed": 30,
        "n": 30,
        "rate": 1.0,
        "method": "wilson-95",
        "interval": {"low": 0.886487, "high": 1.0},
    }
    assert found["conformance"] == [
        {"category": "exact", "passed": 0, "n": 10},
        {"category": "policy", "passed": 0, "n": 10},
    ]


def test_a_rehearsal_calls_it_shortlist_recall() -> None:
    assert summarized(make(cases=1, evidence="rehearsal"))["label"] == "shortlist recall"
    assert summarized(make(cases=1))["label"] == "selection accuracy"


def test_a_code_that_had_to_come_is_a_pass_and_any_other_is_not() -> None:
    records = make(cases=1, probes=5)
    assert [probe.passed for probe in probed(records)] == [True] * 5
    records.probes["probe-004"].update(failure="manual-only", passed=False)
    assert probed(records)[4].passed is False


def test_a_right_selection_beside_a_failure_code_is_no_pass() -> None:
    records = make(cases=1, probes=5)
    records.probes["probe-000"].update(failure="call-timeout", passed=False)
    assert probed(records)[0].passed is False


def test_a_record_that_contradicts_its_expectation_is_refused() -> None:
    records = make(cases=1, probes=5)
    records.probes["probe-000"]["selectedIds"] = ["configure-ecc"]
    with pytest.raises(ExperimentStopped, match="probe-000 contradicts"):
        probed(records)


def test_a_missing_probe_is_refused_and_names_the_way_on() -> None:
    records = make(cases=1)
    del records.probes["probe-003"]
    with pytest.raises(ExperimentStopped, match=r"probe-003 has no record; run `doit run_eval`"):
        probed(records)


def test_precision_recall_and_abstention() -> None:
    records = make(cases=1, probes=10)
    records.probes["probe-000"].update(selectedIds=[], passed=False, selection="none")
    records.probes["probe-002"].update(selectedIds=["tdd-workflow"], passed=False)
    found = summarized(records)
    rows = {row["category"]: row for row in found["byCategory"]}
    assert rows["paraphrase"]["precision"] == {"right": 1, "selected": 1, "rate": 1.0}
    assert rows["paraphrase"]["recall"] == {"right": 1, "wanted": 2, "rate": 0.5}
    assert rows["none"]["precision"] == {"right": 0, "selected": 1, "rate": 0.0}
    assert found["abstention"] == {"rightly": 1, "needless": 2, "wrongly": 1, "wanted": 4}


def test_the_confusion_holds_every_probe_once() -> None:
    records = make(cases=1, probes=23, probe_passes=lambda index: index % 3 > 0)
    cells = summarized(records)["confusion"]
    assert sum(cell["probes"] for cell in cells) == 23
    assert {"expected": "none", "answer": "configure-ecc", "probes": 1} in cells or any(
        cell["expected"] == "none" and cell["answer"] == "configure-ecc" for cell in cells
    )
    assert any(cell["expected"] == cell["answer"] == "code: excluded" for cell in cells)


def test_deciders_and_costs_add_up() -> None:
    found = summarized(make(cases=1, probes=20))
    assert sum(row["n"] for row in found["decidedBy"]) == 20
    assert found["cost"]["calls"] == next(row["n"] for row in found["decidedBy"] if row["by"] == "proposal") == 8
    assert found["cost"]["callsPerProbe"] == 0.4


def test_halves_are_apart_and_the_tuned_one_is_marked() -> None:
    rows = summarized(make(cases=1, probes=30))["byHalf"]
    assert {(row["half"], row["tuned"]) for row in rows} == {("held", False), ("tune", True)}
    assert sum(row["n"] for row in rows) == 18


def test_an_expected_skill_on_the_shortlist_counts_as_reached() -> None:
    records = make(cases=1, probes=5)
    records.probes["probe-000"].update(selectedIds=[], passed=False)
    records.probes["probe-001"].update(selectedIds=[], shortlist=[], passed=False)
    assert summarized(records)["reach"] == {"reached": 1, "wanted": 2, "rate": 0.5}


def test_without_probes_nothing_is_claimed() -> None:
    found = summarized(make(cases=1, probes=0))
    assert found["headline"] == {"passed": 0, "n": 0, "rate": None, "method": "wilson-95", "interval": None}
