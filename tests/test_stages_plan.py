"""The plan: what a design could show at best, what it would cost, and whether that fits the limits."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from eval_tasks.stages import plan as stage
from eval_tasks.stages.analyze import analyze
from eval_tasks.stages.plan import plan
from tests.synthetic_records import fates, make


def line_of(text: str, start: str) -> list[str]:
    return next(line for line in text.splitlines() if line.strip().startswith(start)).split()


def planned(**options: Any) -> str:
    return plan(make(**options).registration["design"])


def test_thirty_cases_need_fifteen_wins_by_hoeffding_and_five_by_betting() -> None:
    text = planned()
    assert line_of(text, "0  ") == ["0", "15", "5"]
    assert "p would be 0.215" in text


def test_sizes_agree_with_the_published_table() -> None:
    text = planned()
    assert line_of(text, "0%") == ["0%", "3,506", "3,506", "86", "86"]
    assert line_of(text, "10%") == ["10%", "4,158", "4,522", "612", "757"]


@pytest.mark.parametrize(
    ("options", "phrase"),
    [
        ({"evidence": "rehearsal"}, "synthetic-only and support nothing"),
        ({"cases": 8}, "insufficient-sample and support nothing (fewer distinct cases"),
        ({"probes": 12}, "fewer selection probes than the registered minimum"),
        ({}, "review-required"),
    ],
)
def test_the_reachable_gate_is_named(options: dict[str, Any], phrase: str) -> None:
    assert phrase in planned(**options)


def test_calls_and_time_are_held_against_the_limits() -> None:
    text = planned(cases=30, probes=32)
    assert "at most 152 calls" in text
    assert "calls: 152 of 300: fits." in text
    assert "seconds: 9,120 of 3,600: does not fit; raise it with --deadline." in text
    assert "one run holds 492 cases by calls and 52 by time" in text


def test_what_no_option_can_lift_asks_for_shards() -> None:
    text = planned(cases=600)
    assert "calls: 2,432 of 300: does not fit; above the hard limit of 2,000: use shards." in text


def test_a_pilot_sizes_the_next_corpus_by_its_spread_alone() -> None:
    losing, winning = (
        make(fate=fates({(0, arm): "hidden-check", (1, arm): "hidden-check"})) for arm in ("auto-lean", "full")
    )
    texts = []
    for records in (losing, winning):
        metrics = analyze(*records.arguments(), analysis_sources=records.sources)
        texts.append(plan(losing.registration["design"], metrics).split("Next corpus after")[1])
    rows = [line for line in texts[0].splitlines() if line.strip().startswith("Auto Lean")]
    assert [row.split()[-2] for row in rows] == ["434", "816", "1,143"]
    assert rows == [line for line in texts[1].splitlines() if line.strip().startswith("Auto Lean")]


def test_a_pilot_forecasts_time_and_tokens() -> None:
    records = make(cases=10)
    metrics = analyze(*records.arguments(), analysis_sources=records.sources)
    text = plan(records.registration["design"], metrics)
    total = next(row for row in metrics["economics"]["totals"] if row["arm"] == "full")["usage"]["inputTokens"]
    assert f"Full: about {total:,} input tokens" in text
    assert "at 30 s a call as in the pilot" in text


def test_unknown_tokens_of_a_pilot_stay_unknown() -> None:
    records = make(cases=3, usage_unknown=lambda case, arm: arm == "full")
    metrics = analyze(*records.arguments(), analysis_sources=records.sources)
    assert "Full: tokens unknown in the pilot." in plan(records.registration["design"], metrics)


def test_a_rehearsal_as_pilot_is_called_no_plan() -> None:
    records = make(cases=3, evidence="rehearsal")
    metrics = analyze(*records.arguments(), analysis_sources=records.sources)
    assert "its spread is a script's and plans nothing" in plan(records.registration["design"], metrics)


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(stage).failed == 0
