"""`doit compare --with <id>`: two finished experiments side by side, what differs in their registrations first.

Must never test or judge a difference between experiments: they ran at different times and share no schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eval_tasks import registration
from eval_tasks.paths import Project
from eval_tasks.stages import publish

Metrics = Mapping[str, Any]


def compare(project: Project, other_id: str) -> list[str]:
    """Return the comparison as lines.

    Raises
    ------
    ExperimentStopped
        If there is no such experiment, or one of the two has no report yet.
    """
    here = registration.require_current(project)
    first, second = publish.metrics_of(project, here.id), publish.metrics_of(project, other_id)
    there = project.experiment(other_id)
    differing = registration.changes(registration.read(there).design, registration.read(here).design)
    return [
        f"{here.id} beside {there.id}",
        "",
        f"What differs in what they bind ({there.id} -> {here.id}):",
        *([f"  {line}" for line in differing] or ["  nothing"]),
        "",
        "Passed, by arm:",
        *_rates(first, second),
        "",
        "Cases with another outcome:",
        *(_outcomes(first, second) or ["  none of those that both have"]),
        "",
        "Differences between experiments are descriptive: time, provider and model may have moved between them.",
    ]


def _rates(first: Metrics, second: Metrics) -> Iterator[str]:
    there = {row["arm"]: row for row in second["summary"]["rates"]}
    for row in first["summary"]["rates"]:
        other = there.get(row["arm"])
        beside = "not an arm there" if other is None else f"{other['passed']} of {other['trials']} there"
        yield f"  {row['arm']:<14} {row['passed']} of {row['trials']} here, {beside}"


def _outcomes(first: Metrics, second: Metrics) -> list[str]:
    here, there = _by_trial(first), _by_trial(second)
    return [
        f"  {case} {arm} r{repeat}: {_said(here[case, arm, repeat])} here, {_said(there[case, arm, repeat])} there"
        for case, arm, repeat in sorted(here.keys() & there.keys())
        if here[case, arm, repeat] != there[case, arm, repeat]
    ]


def _by_trial(metrics: Metrics) -> dict[tuple[str, str, int], tuple[bool, str | None]]:
    return {(row["caseId"], row["arm"], row["repeat"]): (row["passed"], row["failure"]) for row in metrics["outcomes"]}


def _said(outcome: tuple[bool, str | None]) -> str:
    passed, failure = outcome
    return "passed" if passed else str(failure)
