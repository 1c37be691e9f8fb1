"""The registered order of trials and probes, with the arms rotated by case and repeat.

Must never depend on anything but the lists it is given, so that the same registration always has the same order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_tasks.arms import selecting

_NAME = re.compile(r"([a-z][a-z0-9-]*)\.([a-z-]+)\.r([1-9][0-9]*)")


@dataclass(frozen=True, order=True)
class Trial:
    """One scheduled (case, arm, repeat); repeats count from 1."""

    case_id: str
    arm: str
    repeat: int

    @property
    def name(self) -> str:
        return f"{self.case_id}.{self.arm}.r{self.repeat}"

    @property
    def value(self) -> dict[str, Any]:
        """Return the trial as the registration binds it."""
        return {"caseId": self.case_id, "arm": self.arm, "repeat": self.repeat}


def trial(value: Mapping[str, Any]) -> Trial:
    """Return the trial that a registered value stands for."""
    return Trial(value["caseId"], value["arm"], value["repeat"])


def trial_of_name(name: str) -> Trial:
    """Return the trial of a name such as `cursor-pages.full.r1`."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(name)
    return Trial(match[1], match[2], int(match[3]))


def trials(cases: Sequence[str], arms: Sequence[str], repeats: int) -> list[Trial]:
    """Return every trial, repeat by repeat and case by case, the arms of a case next to each other.

    The first arm moves on by one with each case and with each repeat, so that every arm stands equally often at every
    place whenever the number of cases or of repeats is a multiple of the number of arms.

    Examples
    --------
    >>> [trial.arm for trial in trials(["a", "b"], ["full", "lean"], 1)]
    ['full', 'lean', 'lean', 'full']
    """
    found = []
    for repeat in range(1, repeats + 1):
        for index, case in enumerate(cases):
            shift = (index + repeat - 1) % len(arms)
            found += [Trial(case, arm, repeat) for arm in (*arms[shift:], *arms[:shift])]
    return found


@dataclass(frozen=True)
class Lane:
    """What runs one after the other, beside the other lanes: all trials of some cases, then some probes."""

    trials: tuple[Trial, ...]
    probes: tuple[str, ...]


def lanes(scheduled: Sequence[Trial], probes: Sequence[str], jobs: int) -> list[Lane]:
    """Deal a schedule to at most `jobs` lanes, each in the registered order; the arms of a case share a lane.

    Examples
    --------
    >>> [[trial.case_id for trial in lane.trials] for lane in lanes(trials(["a", "b", "c"], ["full"], 1), [], 2)]
    [['a', 'c'], ['b']]
    """
    cases = {case: number for number, case in enumerate(dict.fromkeys(trial.case_id for trial in scheduled))}
    count = max(1, min(jobs, max(len(cases), len(probes))))
    return [
        Lane(tuple(trial for trial in scheduled if cases[trial.case_id] % count == lane), tuple(probes[lane::count]))
        for lane in range(count)
    ]


def expected_seconds(calls: int, jobs: int, each: int) -> int:
    """Return how long some calls are expected to take, so many at a time.

    Parameters
    ----------
    each
        Seconds that one call is expected to take.

    Examples
    --------
    >>> expected_seconds(5, 2, 60)
    180
    """
    return math.ceil(calls / jobs) * each


def worst_case_calls(arms: Sequence[str], trial_count: int, probe_count: int, canary_count: int = 0) -> int:
    """Return the most calls that a schedule can make: one a trial, one more for each that selects, one a probe.

    Parameters
    ----------
    arms
        The arm of each trial is one of these, equally often.
    trial_count, probe_count
        How many trials and probes are scheduled.
    canary_count
        How many calls come before them: at a real provider one on each install.
    """
    return trial_count + trial_count * selecting(arms) // len(arms) + probe_count + canary_count
