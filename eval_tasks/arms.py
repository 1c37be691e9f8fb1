"""The arms that an experiment can compare: what each one's calls run on, how it selects, and what it is compared for.

Must never know what an install holds or which skill is selected, nor anything but what an arm's name stands for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Selecting(StrEnum):
    """How an arm comes to the skills that are delivered with its prompt."""

    NOTHING = "nothing"
    PREREGISTERED = "preregistered"
    AUTOMATIC = "automatic"


@dataclass(frozen=True)
class Arm:
    """One arm.

    Parameters
    ----------
    name
        As `eval.yaml` and all records have it.
    title
        For people.
    install
        What its task calls run on.
    selecting
        How it selects.
    claimed
        Whether the experiment's claim is about it; any other arm is compared for the reader's information only.
    """

    name: str
    title: str
    install: str
    selecting: Selecting = Selecting.NOTHING
    claimed: bool = False


REFERENCE = "full"
"""The arm that every other one is compared with."""

LEAN = "lean"
"""The install on which a selection is proposed, whichever arm or probe asks for it."""

BASELINE = "baseline"
"""The install without any skill."""

PINNED = "pinned"
"""The install that is built from another library than the others."""

_ARMS = (
    Arm("full", "Full", "full"),
    Arm("manual-lean", "Manual Lean", LEAN, Selecting.PREREGISTERED, claimed=True),
    Arm("auto-lean", "Auto Lean", LEAN, Selecting.AUTOMATIC, claimed=True),
    Arm("baseline", "Baseline", BASELINE),
    Arm("pinned", "Pinned", PINNED),
    Arm("a-a", "Full again", "full"),
)
ARMS: Mapping[str, Arm] = {arm.name: arm for arm in _ARMS}
"""Every arm by its name."""

DEFAULT = ("full", "manual-lean", "auto-lean")
"""The arms of the question that this evaluator was made for."""


def installs(names: Collection[str], *, probes: bool) -> list[str]:
    """Return the installs that some arms, and the probes if there are any, run on, in sorted order.

    Examples
    --------
    >>> installs(["full", "a-a", "baseline"], probes=False)
    ['baseline', 'full']
    """
    return sorted({ARMS[name].install for name in names} | ({LEAN} if probes or selecting(names) else set()))


def selecting(names: Iterable[str]) -> int:
    """Return how many of some arms select automatically, and so may make a proposal call.

    Examples
    --------
    >>> selecting(["full", "manual-lean", "auto-lean"])
    1
    """
    return sum(ARMS[name].selecting is Selecting.AUTOMATIC for name in names)


def comparisons(names: Collection[str]) -> list[list[str]]:
    """Return every arm beside the reference with it, those that the claim is about first.

    Examples
    --------
    >>> comparisons(["full", "a-a", "manual-lean", "auto-lean"])
    [['auto-lean', 'full'], ['manual-lean', 'full'], ['a-a', 'full']]
    """
    others = sorted((name for name in names if name != REFERENCE), key=lambda name: (not ARMS[name].claimed, name))
    return [[name, REFERENCE] for name in others]


def on_install(names: Sequence[str], install: str) -> list[str]:
    """Return which of some arms run on an install, in their order."""
    return [name for name in names if ARMS[name].install == install]
