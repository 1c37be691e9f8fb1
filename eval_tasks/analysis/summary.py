"""The outcome of every scheduled trial, and the rates, floors, ceilings and failures that follow from them.

Must never drop a scheduled trial from a denominator, nor call anything a pass that no grade passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval_tasks.errors import ExperimentStopped, FailureCode, Fault

Record = Mapping[str, Any]
"""A JSON object that has passed its schema."""

DIGITS = 6
"""Decimals of a reported number; every decision is made before rounding."""

USAGE_KEYS = ("inputTokens", "cachedInputTokens", "outputTokens")

COMPLETED = frozenset({None, FailureCode.HIDDEN_CHECK, FailureCode.GRADER_PLANTED, FailureCode.GRADING_FAILED})
"""How a trial ends whose task call ran to its own end, so that its cost is the cost of the work."""


@dataclass(frozen=True)
class Outcome:
    """What became of one scheduled trial.

    Parameters
    ----------
    skill
        The case's preregistered skill, or `None` if it needs none.
    failure
        `None` exactly if the trial passed.
    calls
        The arm-run's call records, in order.
    checks
        How many checks the grader made, `None` without a grade.
    """

    case_id: str
    category: str
    skill: str | None
    arm: str
    repeat: int
    failure: FailureCode | None
    limit: str | None
    selection: str
    selected_ids: tuple[str, ...]
    calls: tuple[Record, ...]
    context_bytes: int
    checks: int | None

    @property
    def passed(self) -> bool:
        return self.failure is None

    @property
    def infrastructure(self) -> bool:
        """Whether neither the agent nor the selection is to blame for the missing pass."""
        return self.failure is not None and self.failure.fault is Fault.INFRASTRUCTURE

    @property
    def completed(self) -> bool:
        return self.failure in COMPLETED

    @property
    def picked_right(self) -> bool:
        """Whether exactly the case's preregistered skill was given, or nothing where it needs none."""
        return self.selected_ids == (() if self.skill is None else (self.skill,))

    @cached_property
    def elapsed_ms(self) -> int:
        return sum(call["elapsedMs"] for call in self.calls)

    @cached_property
    def usage(self) -> dict[str, int] | None:
        return total_usage(self.calls)


def trial_name(trial: Record) -> str:
    """Return the name of a scheduled trial, as its records carry it."""
    return f"{trial['caseId']}.{trial['arm']}.r{trial['repeat']}"


def total_usage(calls: Sequence[Record]) -> dict[str, int] | None:
    """Return the usage of some calls together, unknown if there is none or if that of any one is unknown.

    Examples
    --------
    >>> known = {"usage": {"inputTokens": 5, "cachedInputTokens": 1, "outputTokens": 2}}
    >>> total_usage([known, known])
    {'inputTokens': 10, 'cachedInputTokens': 2, 'outputTokens': 4}
    >>> total_usage([known, {"usage": None}]) is None
    True
    """
    found = [call["usage"] for call in calls]
    if not found or any(usage is None for usage in found):
        return None
    return {key: sum(usage[key] for usage in found) for key in USAGE_KEYS}


def rounded(value: float) -> float:
    """Return a number as reports carry it, without a negative zero."""
    return round(value, DIGITS) + 0.0


def rate(count: int, of: int) -> float | None:
    """Return a share as reports carry it, or `None` of nothing."""
    return rounded(count / of) if of else None


def outcomes_of(design: Record, arm_runs: Mapping[str, Record], grades: Mapping[str, Record]) -> tuple[Outcome, ...]:
    """Return one outcome for each scheduled trial, in the schedule's order.

    Parameters
    ----------
    design
        The registration's `design`.
    arm_runs, grades
        Records by trial name; those of trials that are not scheduled are ignored.

    Raises
    ------
    ExperimentStopped
        If a scheduled trial has no arm-run, or a submission no grade of its own.
    """
    cases = {case["id"]: case for case in design["corpus"]["cases"]}
    return tuple(_outcome(trial, cases[trial["caseId"]], arm_runs, grades) for trial in design["schedule"]["trials"])


def _outcome(trial: Record, case: Record, arm_runs: Mapping[str, Record], grades: Mapping[str, Record]) -> Outcome:
    name = trial_name(trial)
    run = arm_runs.get(name)
    if run is None:
        raise ExperimentStopped(f"the scheduled trial {name} has no arm-run record; run `doit run_eval`")
    grade = _grade_of(name, run, grades, case)
    return Outcome(
        case_id=case["id"],
        category=case["category"],
        skill=case["skill"],
        arm=trial["arm"],
        repeat=trial["repeat"],
        failure=_failure(run, grade),
        limit=run["limit"],
        selection=run["selection"],
        selected_ids=tuple(sorted(run["selectedIds"])),
        calls=tuple(run["calls"]),
        context_bytes=run["contextBytes"],
        checks=None if grade is None else grade["checks"],
    )


def _grade_of(name: str, run: Record, grades: Mapping[str, Record], case: Record) -> Record | None:
    if run["failure"] is not None:
        return None
    grade = grades.get(name)
    if grade is None:
        raise ExperimentStopped(f"the submission of {name} has no grade; run `doit run_eval`")
    for key, registered in (("submissionDigest", run["submissionDigest"]), ("graderDigest", case["graderDigest"])):
        if grade[key] not in (None, registered):
            what = "submission" if key == "submissionDigest" else "grader"
            raise ExperimentStopped(f"the grade of {name} belongs to another {what}; restore grades/{name}.json")
    return grade


def _failure(run: Record, grade: Record | None) -> FailureCode | None:
    if grade is None:
        return FailureCode(run["failure"])
    if not any(call["phase"] == "task" for call in run["calls"]):
        # Nobody worked on the case, so that whatever a grade says cannot be the agent's doing.
        return FailureCode.AGENT_FAILED
    if grade["failure"] is not None:
        return FailureCode(grade["failure"])
    return None if grade["passed"] is True else FailureCode.HIDDEN_CHECK


def rates(outcomes: Sequence[Outcome], arms: Sequence[str]) -> list[dict[str, Any]]:
    """Return each arm's passes over all its scheduled trials, with the bounds that infrastructure codes leave open."""
    return [{"arm": arm, **_rate_row([outcome for outcome in outcomes if outcome.arm == arm])} for arm in arms]


def rates_by_category(outcomes: Sequence[Outcome], arms: Sequence[str]) -> list[dict[str, Any]]:
    """Return the same rates within each category of cases, in the schedule's order of categories."""
    cells: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        cells.setdefault((outcome.category, outcome.arm), []).append(outcome)
    categories = dict.fromkeys(outcome.category for outcome in outcomes)
    return [
        {"category": category, "arm": arm, **_rate_row(cells.get((category, arm), []))}
        for category in categories
        for arm in arms
    ]


def _rate_row(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    passed = sum(outcome.passed for outcome in outcomes)
    infrastructure = sum(outcome.infrastructure for outcome in outcomes)
    return {
        "trials": len(outcomes),
        "cases": len({outcome.case_id for outcome in outcomes}),
        "passed": passed,
        "rate": rate(passed, len(outcomes)),
        "infrastructure": infrastructure,
        "bounds": {
            "worst": rate(passed, len(outcomes)),
            "best": rate(passed + infrastructure, len(outcomes)),
        },
        "state": state_of(passed, len(outcomes)),
    }


def state_of(passed: int, trials: int) -> str | None:
    """Return `floor` if nothing passed, `ceiling` if everything did, else `None`."""
    if not trials:
        return None
    return {0: "floor", trials: "ceiling"}.get(passed)


def failures(outcomes: Iterable[Outcome], arms: Sequence[str]) -> list[dict[str, Any]]:
    """Return how often each failure code ended a trial of each arm, the most frequent code first."""
    counts: dict[FailureCode, Counter[str]] = {}
    for outcome in outcomes:
        if outcome.failure is not None:
            counts.setdefault(outcome.failure, Counter())[outcome.arm] += 1
    rows = [
        {
            "code": code.value,
            "fault": code.fault.value,
            "trials": found.total(),
            "byArm": [{"arm": arm, "trials": found[arm]} for arm in arms],
        }
        for code, found in counts.items()
    ]
    return sorted(rows, key=lambda row: (-int(str(row["trials"])), str(row["code"])))


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """Return one outcome as metrics and report carry it."""
    return {
        "caseId": outcome.case_id,
        "category": outcome.category,
        "arm": outcome.arm,
        "repeat": outcome.repeat,
        "passed": outcome.passed,
        "failure": None if outcome.failure is None else outcome.failure.value,
        "limit": outcome.limit,
        "selection": outcome.selection,
        "selectedIds": list(outcome.selected_ids),
        "calls": len(outcome.calls),
        "elapsedMs": outcome.elapsed_ms,
        "usage": outcome.usage,
        "contextBytes": outcome.context_bytes,
        "checks": outcome.checks,
        "commands": sum(call["commands"] for call in outcome.calls),
        "failedCommands": sum(call["failedCommands"] for call in outcome.calls),
        "transientErrors": sum(call["transientErrors"] for call in outcome.calls),
        "openedSkills": sorted({skill for call in outcome.calls for skill in call["openedSkills"]}),
    }
