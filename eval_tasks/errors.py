"""The two families of expected errors and the closed set of failure codes.

Never catches anything: `eval_tasks.actions` turns `ExperimentStopped` into one line and exit status 1, and the trial
stages turn `TrialFailed` into a record.
"""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """Whose fault a failure code is, for the bounds and alarms of the analysis."""

    AGENT = "agent"
    SELECTION = "selection"
    INFRASTRUCTURE = "infrastructure"


class FailureCode(StrEnum):
    """Every reason for which a scheduled outcome may be no pass; each has a sentence in `docs/failure-codes.md`."""

    HIDDEN_CHECK = "hidden-check"
    GRADER_PLANTED = "grader-planted"
    GRADING_FAILED = "grading-failed"
    CALL_BUDGET = "call-budget"
    DEADLINE = "deadline"
    CALL_TIMEOUT = "call-timeout"
    AGENT_FAILED = "agent-failed"
    RATE_LIMITED = "rate-limited"
    AUTHENTICATION = "authentication"
    OUTPUT_LIMIT = "output-limit"
    INVALID_STREAM = "invalid-stream"
    SANDBOX_UNAVAILABLE = "sandbox-unavailable"
    SOURCE_DRIFT = "source-drift"
    ENVIRONMENT_DRIFT = "environment-drift"
    INTERRUPTED = "interrupted"
    ABANDONED = "abandoned"
    PROPOSAL_INVALID = "proposal-invalid"
    SELECTOR_FAILED = "selector-failed"
    EXCLUDED = "excluded"
    NATIVE_AUTHORITY = "native-authority"
    MANUAL_ONLY = "manual-only"
    OPT_OUT_CONFLICT = "opt-out-conflict"
    UNKNOWN_ID = "unknown-id"
    CONTEXT_BUDGET = "context-budget"

    @property
    def fault(self) -> Fault:
        """Return whose fault this code is."""
        if self in _AGENT:
            return Fault.AGENT
        if self in _SELECTION:
            return Fault.SELECTION
        return Fault.INFRASTRUCTURE


_AGENT = frozenset(
    {FailureCode.HIDDEN_CHECK, FailureCode.GRADER_PLANTED, FailureCode.CALL_TIMEOUT, FailureCode.OUTPUT_LIMIT}
)
_SELECTION = frozenset(
    {
        FailureCode.PROPOSAL_INVALID,
        FailureCode.SELECTOR_FAILED,
        FailureCode.EXCLUDED,
        FailureCode.NATIVE_AUTHORITY,
        FailureCode.MANUAL_ONLY,
        FailureCode.OPT_OUT_CONFLICT,
        FailureCode.UNKNOWN_ID,
        FailureCode.CONTEXT_BUDGET,
    }
)


class EvaluationError(Exception):
    """Root of the expected errors."""


class ExperimentStopped(EvaluationError):
    """The run ends, nothing more is recorded; the message is one line that says what to do next.

    Parameters
    ----------
    message
        One line without private content.
    code
        The failure code that `doit run_eval --settle` would write for the trials that have not run, if any.
    """

    def __init__(self, message: str, code: FailureCode | None = None) -> None:
        super().__init__(message)
        self.code = code


class Halted(ExperimentStopped):
    """The run is being stopped for a reason that another lane has given: nothing is said and nothing is recorded."""

    def __init__(self) -> None:
        super().__init__("the run is being stopped")


class TrialFailed(EvaluationError):
    """The trial or probe ends with a failure code in its record; the run goes on.

    Parameters
    ----------
    code
        What the record will say.
    limit
        Which limit fired (`call`, `deadline`, `calls`, `proposal`, `output`), if one did.
    """

    def __init__(self, code: FailureCode, limit: str | None = None) -> None:
        super().__init__(str(code))
        self.code = code
        self.limit = limit
