"""Paired differences of an arm against its reference, case by case, with both registered intervals.

Must never treat a repeat as a further case, nor let one method's result stand for the other's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from eval_tasks import intervals
from eval_tasks.analysis.summary import Outcome, Record, rounded, state_of
from eval_tasks.arms import ARMS
from eval_tasks.errors import ExperimentStopped

INFRASTRUCTURE_SHARE = 0.10
"""Above this share of infrastructure codes in an arm nothing is called supported."""

PRIMARY = "hoeffding-bonferroni"
BETTING = "optimized-betting"


@dataclass(frozen=True)
class AnalysisPlan:
    """What the registration fixed about the comparisons before there were data."""

    familywise_alpha: float
    margin_points: float
    comparisons: tuple[tuple[str, str], ...]
    additional: tuple[str, ...]

    @classmethod
    def of(cls, design: Record) -> AnalysisPlan:
        """Return the plan of a registration's `design`.

        Raises
        ------
        ExperimentStopped
            If it names a method that this version does not have.
        """
        analysis = design["analysis"]
        unknown = [m for m in analysis["additional"] if m != BETTING]
        if analysis["primary"] != PRIMARY or unknown:
            named = unknown[0] if unknown else analysis["primary"]
            raise ExperimentStopped(f"the registered analysis method {named} is unknown; use the version that has it")
        return cls(
            familywise_alpha=analysis["familywiseAlpha"],
            margin_points=analysis["marginPoints"],
            comparisons=tuple((arm, reference) for arm, reference in analysis["comparisons"]),
            additional=tuple(analysis["additional"]),
        )

    @property
    def margin(self) -> float:
        return self.margin_points / 100

    @property
    def alpha_per_side(self) -> float:
        """The familywise error over both sides of every comparison (Bonferroni)."""
        return self.familywise_alpha / (2 * len(self.comparisons))


@dataclass(frozen=True)
class CasePair:
    """The passes of two arms in the repeats of one case."""

    case_id: str
    arm_passes: int
    reference_passes: int
    repeats: int

    @property
    def difference(self) -> float:
        # One division of integers, so that equal differences are equal floats and can be grouped.
        return (self.arm_passes - self.reference_passes) / self.repeats


def pair_cases(
    outcomes: Sequence[Outcome], arm: str, reference: str, assume: Mapping[str, bool] | None = None
) -> tuple[CasePair, ...]:
    """Return the paired passes of every scheduled case, in the schedule's order.

    Parameters
    ----------
    assume
        How to count an infrastructure code in an arm; without it, as no pass.

    Raises
    ------
    ExperimentStopped
        If a case is not scheduled equally often in both arms.
    """
    assume = assume or {}
    tallies: dict[str, dict[str, list[bool]]] = {}
    for outcome in outcomes:
        if outcome.arm in (arm, reference):
            passed = assume.get(outcome.arm, False) if outcome.infrastructure else outcome.passed
            tallies.setdefault(outcome.case_id, {arm: [], reference: []})[outcome.arm].append(passed)
    return tuple(_pair(case_id, tally[arm], tally[reference]) for case_id, tally in tallies.items())


def _pair(case_id: str, arm: Sequence[bool], reference: Sequence[bool]) -> CasePair:
    if len(arm) != len(reference) or not arm:
        raise ExperimentStopped(f"the case {case_id} is not scheduled equally in both arms; register a new experiment")
    return CasePair(case_id, sum(arm), sum(reference), len(arm))


def compare(outcomes: Sequence[Outcome], arm: str, reference: str, plan: AnalysisPlan) -> dict[str, Any]:
    """Return one registered comparison: estimate, both intervals, discordant cases, bounds and vetoes.

    `clears` says of a method that its lower bound lies above minus the margin. Whether this supports anything is for
    `eval_tasks.analysis.gate` to say, which also knows the vetoes and the evidence.
    """
    pairs = pair_cases(outcomes, arm, reference)
    differences = [pair.difference for pair in pairs]
    return {
        "arm": arm,
        "reference": reference,
        "claimed": ARMS[arm].claimed,
        "cases": len(pairs),
        "repeats": max(pair.repeats for pair in pairs),
        "delta": rounded(fmean(differences)),
        "alphaPerSide": plan.alpha_per_side,
        "marginPoints": plan.margin_points,
        **_primary(differences, plan),
        "additional": [_additional(differences, plan) for _ in plan.additional],
        **_discordance(pairs),
        "spread": _spread(differences),
        "bounds": _bounds(outcomes, arm, reference, plan),
        "infrastructure": _infrastructure(outcomes, arm, reference),
        "vetoes": vetoes(outcomes, arm, reference, plan.margin),
    }


def _primary(differences: Sequence[float], plan: AnalysisPlan) -> dict[str, Any]:
    interval = intervals.hoeffding(differences, plan.alpha_per_side)
    return {
        "method": PRIMARY,
        "interval": interval_row(interval),
        "pValue": rounded(intervals.hoeffding_p_value(differences, -plan.margin)),
        "clears": interval.low > -plan.margin,
        "excludes": interval.high < -plan.margin,
    }


def _additional(differences: Sequence[float], plan: AnalysisPlan) -> dict[str, Any]:
    interval = intervals.optimized_betting(differences, plan.alpha_per_side)
    test = intervals.optimized_betting_test(differences, -plan.margin)
    return {
        "method": BETTING,
        "interval": interval_row(interval),
        "statistic": rounded(test.statistic),
        "bet": rounded(test.bet),
        "pValue": rounded(test.p_value),
        "clears": interval.low > -plan.margin,
        "excludes": interval.high < -plan.margin,
    }


def interval_row(interval: intervals.Interval) -> dict[str, float]:
    """Return an interval as reports carry it."""
    return {"low": rounded(interval.low), "high": rounded(interval.high)}


def _discordance(pairs: Sequence[CasePair]) -> dict[str, Any]:
    ties = [pair for pair in pairs if pair.difference == 0]
    return {
        "losses": [pair.case_id for pair in pairs if pair.difference < 0],
        "wins": [pair.case_id for pair in pairs if pair.difference > 0],
        "ties": {
            "cases": len(ties),
            "caseIds": [pair.case_id for pair in ties],
            "bothPassed": sum(pair.arm_passes == pair.repeats for pair in ties),
            "bothFailed": sum(pair.arm_passes == 0 for pair in ties),
            "mixed": sum(0 < pair.arm_passes < pair.repeats for pair in ties),
        },
    }


def _spread(differences: Sequence[float]) -> dict[str, float | None]:
    """Return what sizes the next corpus: the mean square (the discordance with one repeat) and the variance."""
    mean, n = fmean(differences), len(differences)
    variance = sum((value - mean) ** 2 for value in differences) / (n - 1) if n > 1 else None
    return {
        "meanSquare": rounded(fmean(value * value for value in differences)),
        "variance": None if variance is None else rounded(variance),
    }


def _bounds(outcomes: Sequence[Outcome], arm: str, reference: str, plan: AnalysisPlan) -> dict[str, Any]:
    found = {}
    for name, arm_passes in (("worst", False), ("best", True)):
        pairs = pair_cases(outcomes, arm, reference, {arm: arm_passes, reference: not arm_passes})
        differences = [pair.difference for pair in pairs]
        found[name] = {
            "delta": rounded(fmean(differences)),
            "interval": interval_row(intervals.hoeffding(differences, plan.alpha_per_side)),
            "additional": [
                {
                    "method": method,
                    "interval": interval_row(intervals.optimized_betting(differences, plan.alpha_per_side)),
                }
                for method in plan.additional
            ],
        }
    return found


def _infrastructure(outcomes: Sequence[Outcome], arm: str, reference: str) -> dict[str, int]:
    return {
        "arm": sum(outcome.infrastructure for outcome in outcomes if outcome.arm == arm),
        "reference": sum(outcome.infrastructure for outcome in outcomes if outcome.arm == reference),
        "trialsEach": sum(outcome.arm == arm for outcome in outcomes),
    }


def vetoes(outcomes: Sequence[Outcome], arm: str, reference: str, margin: float) -> list[str]:
    """Return why this comparison could support nothing, whatever its intervals say.

    `floor` and `ceiling`: nothing, or everything, passed in both arms, so that the cases could not tell them apart.
    `arm-asymmetry`: one arm has so many more infrastructure codes that they alone could move the estimate by more
    than the margin. `infrastructure`: more than a tenth of an arm's trials ended in such a code.
    """
    both = [outcome for outcome in outcomes if outcome.arm in (arm, reference)]
    counts = _infrastructure(outcomes, arm, reference)
    each = counts["trialsEach"]
    found = []
    state = state_of(sum(outcome.passed for outcome in both), len(both))
    if state is not None:
        found.append(state)
    if abs(counts["arm"] - counts["reference"]) > margin * each:
        found.append("arm-asymmetry")
    if max(counts["arm"], counts["reference"]) > INFRASTRUCTURE_SHARE * each:
        found.append("infrastructure")
    return found


def decompose(outcomes: Sequence[Outcome], arm: str, middle: str, reference: str) -> dict[str, Any]:
    """Split `arm - reference` into the effect of selection (`arm - middle`) and of the install (`middle - reference`).

    Also says of every case that the arm lost against the middle or did not pass whether its picks were right.
    """
    picked = [outcome for outcome in outcomes if outcome.arm == arm]
    return {
        "arm": arm,
        "middle": middle,
        "reference": reference,
        "selectionEffect": rounded(fmean(pair.difference for pair in pair_cases(outcomes, arm, middle))),
        "installEffect": rounded(fmean(pair.difference for pair in pair_cases(outcomes, middle, reference))),
        "picks": {
            "right": sum(outcome.picked_right for outcome in picked),
            "wrong": sum(bool(outcome.selected_ids) and not outcome.picked_right for outcome in picked),
            "missing": sum(not outcome.selected_ids and not outcome.picked_right for outcome in picked),
            "passedAfterRight": sum(outcome.picked_right and outcome.passed for outcome in picked),
            "passedAfterOther": sum(not outcome.picked_right and outcome.passed for outcome in picked),
        },
        "failed": [
            {
                "caseId": outcome.case_id,
                "repeat": outcome.repeat,
                "expected": outcome.skill,
                "selectedIds": list(outcome.selected_ids),
                "selection": outcome.selection,
                "pickedRight": outcome.picked_right,
                "failure": None if outcome.failure is None else outcome.failure.value,
            }
            for outcome in picked
            if not outcome.passed
        ],
    }
