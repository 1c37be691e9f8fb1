"""The time limits of a call and which of them fired.

Must never let a call run past the experiment's deadline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval_tasks.errors import FailureCode, TrialFailed

PROPOSAL_OUTPUT_BYTES = 64 * 1024
TASK_OUTPUT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Wall:
    """How long a call may run, in seconds, and which limit says so: `call`, `proposal` or `deadline`."""

    seconds: float
    limit: str

    def expired(self) -> TrialFailed:
        """Return the failure of a call that this wall has ended."""
        if self.limit == "deadline":
            return TrialFailed(FailureCode.DEADLINE, "deadline")
        if self.limit == "proposal":
            return TrialFailed(FailureCode.PROPOSAL_INVALID, "proposal")
        return TrialFailed(FailureCode.CALL_TIMEOUT, "call")


def wall(limits: Mapping[str, Any], phase: str, seconds_left: float) -> Wall:
    """Return the wall of a call: its own limit, or what is left until the deadline if that is less.

    Parameters
    ----------
    limits
        The registered limits.
    phase
        `task`, `proposal` or `canary`.
    seconds_left
        Until the experiment's deadline.
    """
    if phase == "proposal":
        own = Wall(float(limits["proposalSeconds"]), "proposal")
    else:
        own = Wall(float(limits["callSeconds"]), "call")
    return own if own.seconds <= seconds_left else Wall(max(0.0, seconds_left), "deadline")
