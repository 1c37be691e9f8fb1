"""The stage `analyze`: its schema, its determinism, and what it says of a changed analysis."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from eval_tasks import digests, records
from eval_tasks.errors import ExperimentStopped
from eval_tasks.stages.analyze import analyze
from tests.synthetic_records import Records, digest, make, mixed_fate


def analyzed(made: Records, **options: Any) -> dict[str, Any]:
    return analyze(*made.arguments(), **{"analysis_sources": made.sources, **options})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"evidence": "rehearsal", "cases": 8, "probes": 12},
        {"cases": 6, "repeats": 3, "usage_unknown": lambda case, arm: True},
        {"cases": 5, "probes": 0},
        {"cases": 4, "fate": lambda case, arm, repeat: "interrupted"},
        {"cases": 30, "fate": mixed_fate, "margin_points": 2.5},
    ],
)
def test_metrics_keep_to_their_schema(options: dict[str, Any]) -> None:
    assert records.problems("metrics", json.loads(json.dumps(analyzed(make(**options)), allow_nan=False))) == []


def test_the_synthetic_records_keep_to_the_schemas_of_the_real_ones() -> None:
    made = make(cases=6, repeats=2, fate=mixed_fate)
    assert records.problems("registration", made.registration) == []
    groups = {"arm-run": made.arm_runs, "grade": made.grades, "probe": made.probes, "inventory": made.inventories}
    for name, group in groups.items():
        assert [problem for record in group.values() for problem in records.problems(name, record)] == []


def test_equal_records_give_equal_bytes_in_any_order() -> None:
    made = make(cases=12, fate=mixed_fate)
    shuffled = copy.deepcopy(made)
    for group in (shuffled.arm_runs, shuffled.grades, shuffled.probes, shuffled.inventories):
        entries = list(group.items())[::-1]
        group.clear()
        group.update(entries)
    assert records.canonical(analyzed(made)) == records.canonical(analyzed(shuffled))


def test_records_of_trials_that_are_not_scheduled_change_nothing() -> None:
    made = make(cases=3)
    before = analyzed(made)
    made.arm_runs["other.full.r1"] = made.arm_runs["case-0000.full.r1"]
    assert analyzed(made) == before


def test_a_missing_record_is_refused() -> None:
    made = make(cases=3)
    del made.arm_runs["case-0002.full.r1"]
    with pytest.raises(ExperimentStopped, match="run `doit run_eval`"):
        analyzed(made)


def test_the_registered_analysis_says_so() -> None:
    found = analyzed(make(cases=3))["analysis"]
    assert found["differs"] is False
    assert found["registered"] == found["current"]
    assert found["registeredNumbers"] is None


def test_a_changed_analysis_is_named_with_the_registered_numbers_beside_it() -> None:
    made = make(cases=30, fate=mixed_fate)
    registered = analyzed(made)
    changed = {"eval_tasks/stages/analyze.py": digest("changed")}
    found = analyzed(made, analysis_sources=changed, registered_metrics=registered)["analysis"]
    assert found["differs"] is True
    assert found["registered"] == digests.of_entries(made.sources)
    assert found["current"] == digests.of_entries(changed)
    assert found["registeredNumbers"]["status"] == "review-required"
    first = registered["summary"]["pairs"][0]
    assert found["registeredNumbers"]["pairs"][0]["interval"] == first["interval"]
    assert found["registeredNumbers"]["pairs"][0]["additional"][0]["interval"] == first["additional"][0]["interval"]


def test_numbers_of_another_experiment_or_another_analysis_are_not_shown_as_registered() -> None:
    made, other = make(cases=3), make(cases=4)
    changed = {"eval_tasks/stages/analyze.py": digest("changed")}
    later = analyzed(made, analysis_sources=changed)
    for metrics in (analyzed(other), later):
        found = analyzed(made, analysis_sources=changed, registered_metrics=metrics)["analysis"]
        assert found["registeredNumbers"] is None


def test_the_id_is_the_start_of_the_registrations_digest() -> None:
    made = make(cases=2)
    found = analyzed(made)["registration"]
    assert found["digest"] == digests.of_value(made.registration)
    assert found["id"] == found["digest"][:12]


def test_places_on_this_machine_never_reach_the_metrics() -> None:
    made = make(cases=2)
    made.registration["design"]["library"]["source"] = {"folder": "/home/canary/skills"}
    made.registration["design"]["runtime"]["dependencies"]["odd"] = "/home/canary/lib"
    made.registration["design"]["overrides"] = {"authHome": "/home/canary/auth"}
    text = json.dumps(analyzed(made))
    assert "canary" not in text
    assert "a local folder" in text


def test_calls_of_journal_and_records_stand_side_by_side() -> None:
    made = make(cases=4)
    made.journal_totals["calls"] += 1
    found = analyzed(made)["calls"]
    assert found["total"] == found["recorded"] + 1
    assert found["recorded"] == found["task"] + found["proposal"] + found["probes"]


def test_recorded_attempts_are_listed() -> None:
    line = {"id": "0123456789ab", "date": "2026-12-01", "reason": None, "calls": 12, "evidence": "live"}
    assert analyzed(make(cases=2), attempts=[line])["attempts"] == [line]
