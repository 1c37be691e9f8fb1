"""What the arms cost, case by case: tokens, wall time and calls as paired ratios.

Must never count an unknown usage as zero, nor let an unfinished trial make its arm look cheap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from eval_tasks import intervals
from eval_tasks.analysis.summary import Outcome, Record, rounded, total_usage
from eval_tasks.arms import ARMS

SIDE_ALPHA = 0.025
"""Two-sided 95 %, descriptive: costs decide nothing here."""

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

Measure = Callable[[Outcome], int | None]


def _usage(key: str) -> Measure:
    return lambda outcome: None if outcome.usage is None else outcome.usage[key]


def _uncached(outcome: Outcome) -> int | None:
    return None if outcome.usage is None else outcome.usage["inputTokens"] - outcome.usage["cachedInputTokens"]


MEASURES: Mapping[str, Measure] = {
    "inputTokens": _usage("inputTokens"),
    "cachedInputTokens": _usage("cachedInputTokens"),
    "uncachedInputTokens": _uncached,
    "outputTokens": _usage("outputTokens"),
    "elapsedMs": lambda outcome: outcome.elapsed_ms,
    "calls": lambda outcome: len(outcome.calls),
}


def arm_totals(outcomes: Sequence[Outcome], arms: Sequence[str]) -> list[dict[str, Any]]:
    """Return each arm's calls, wall time and known usage, with the number of calls whose usage is unknown."""
    return [{"arm": arm, **_totals([outcome for outcome in outcomes if outcome.arm == arm])} for arm in arms]


def _totals(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    calls = [call for outcome in outcomes for call in outcome.calls]
    known = [call for call in calls if call["usage"] is not None]
    return {
        "trials": len(outcomes),
        "calls": len(calls),
        "proposalCalls": sum(call["phase"] == "proposal" for call in calls),
        "callsWithUsage": len(known),
        "usage": total_usage(known),
        "elapsedMs": sum(call["elapsedMs"] for call in calls),
        "transientErrors": sum(call["transientErrors"] for call in calls),
    }


def startup_tax(arms: Sequence[str], inventories: Mapping[str, Record]) -> list[dict[str, Any]]:
    """Return the bytes of start-up context that each arm pays in every call, before any work."""
    return [
        {"arm": arm, "startupContextBytes": inventories[ARMS[arm].install]["exposure"]["startupContextBytes"]}
        for arm in arms
        if ARMS[arm].install in inventories
    ]


def paired_costs(outcomes: Sequence[Outcome], arm: str, reference: str) -> dict[str, Any]:
    """Return the cost of an arm as a ratio to its reference's, paired by case, for every measure.

    A case counts only if all its trials in both arms ran to their own end and are measured; every other case is listed
    as lost, with the arm and the code that cost it.
    """
    by_case = _by_case(outcomes, arm, reference)
    return {
        "arm": arm,
        "reference": reference,
        "cases": len(by_case),
        "measures": [_measure_row(name, measure, by_case) for name, measure in MEASURES.items()],
        "lost": _lost(by_case, arm, reference),
    }


_CaseTrials = tuple[list[Outcome], list[Outcome]]


def _by_case(outcomes: Sequence[Outcome], arm: str, reference: str) -> dict[str, _CaseTrials]:
    found: dict[str, _CaseTrials] = {}
    for outcome in outcomes:
        if outcome.arm in (arm, reference):
            found.setdefault(outcome.case_id, ([], []))[outcome.arm == reference].append(outcome)
    return found


def _measure_row(name: str, measure: Measure, by_case: Mapping[str, _CaseTrials]) -> dict[str, Any]:
    measured = [(_total(measure, trials), _total(measure, others)) for trials, others in by_case.values()]
    both = [(x, y) for x, y in measured if x is not None and y is not None]
    # A zero has no logarithm: the pair is counted apart and never quietly left out.
    logs = sorted(math.log(x / y) for x, y in both if x > 0 and y > 0)
    return {
        "measure": name,
        "n": len(logs),
        "unmeasured": len(measured) - len(both),
        "zero": len(both) - len(logs),
        "ratio": rounded(math.exp(median(logs))) if logs else None,
        "interval": _ratio_interval(logs),
        "method": "sign-test-95",
        "quantiles": [{"share": share, "ratio": rounded(math.exp(_quantile(logs, share)))} for share in QUANTILES]
        if logs
        else [],
    }


def _total(measure: Measure, trials: Sequence[Outcome]) -> int | None:
    """Return the sum over a case's repeats, or `None` unless every one of them was completed and measured.

    Both arms of a case have equally many repeats, so that the ratio of the sums is the ratio of the means.
    """
    total = 0
    for trial in trials:
        value = measure(trial) if trial.completed else None
        if value is None:
            return None
        total += value
    return total


def _ratio_interval(logs: Sequence[float]) -> dict[str, float | None]:
    interval = intervals.median_sign_test(logs, SIDE_ALPHA)
    # JSON has no infinity: an open end is null.
    low, high = (rounded(math.exp(end)) if math.isfinite(end) else None for end in (interval.low, interval.high))
    return {"low": low, "high": high}


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _lost(by_case: Mapping[str, _CaseTrials], arm: str, reference: str) -> list[dict[str, Any]]:
    """Return how many cases each arm and reason took out of the comparison of tokens, the most frequent first."""
    reasons: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, str], list[str]] = {}
    for case_id, trials in by_case.items():
        for side, outcomes in zip((arm, reference), trials, strict=True):
            for reason in sorted({found for outcome in outcomes if (found := _loss(outcome)) is not None}):
                reasons[side, reason] += 1
                names.setdefault((side, reason), []).append(case_id)
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"arm": side, "reason": reason, "cases": count, "caseIds": names[side, reason]}
        for (side, reason), count in ranked
    ]


def _loss(outcome: Outcome) -> str | None:
    if outcome.failure is not None and not outcome.completed:
        return outcome.failure.value
    return "usage-unknown" if outcome.usage is None else None
