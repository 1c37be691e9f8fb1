"""How the end of a session becomes a verdict: a pass, a failed check, a planted grader, or a fault of the grading.

Must never pass a case on anything but the grader's own word, and never call a fault of this machine a wrong answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval_tasks.errors import FailureCode
from eval_tasks.grading import intake, machine, session
from eval_tasks.grading.machine import Machine, Surroundings
from eval_tasks.grading.messages import Said
from eval_tasks.grading.session import Cause, Ending, Limits


@dataclass(frozen=True)
class Verdict:
    """What a grade found.

    Parameters
    ----------
    passed
        True only if the grader said so, made a check, and no subject died.
    failure
        None exactly if it passed.
    checks
        How many checks the grader made.
    reason
        The failed check's label or another bounded line; for tests and `check_corpus`, never for a record.
    elapsed_ms
        Wall time of the whole grade.
    detail
        The end of what the processes printed; for the author of a grader, never for a record.
    labels
        The labels of the checks that were made, in order; for `check_corpus`, never for a record.
    drivers
        What each driver function, by its text, led to; see `session.Ending`.
    """

    passed: bool
    failure: FailureCode | None
    checks: int
    reason: str
    elapsed_ms: int
    detail: str = field(default="", repr=False)
    labels: tuple[str, ...] = field(default=(), repr=False)
    drivers: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)


def reach(submission: Path, grader_file: Path, on: Machine, limits: Limits, surroundings: Surroundings) -> Verdict:
    """Grade a submission on a machine; `elapsed_ms` is left at zero.

    Parameters
    ----------
    submission
        The folder as the agent left it; it is only read.
    grader_file
        The case's `grader.cjs`.
    """
    try:
        with machine.bench(on, grader_file, surroundings) as bench:
            intake.take_in(submission, bench.submission)
            return _judge(session.hold(bench, intake.Submission(bench.submission), limits))
    except intake.GraderPlanted:
        return failed(FailureCode.GRADER_PLANTED, "the submission holds the grader's reserved name")
    except intake.TooLarge:
        return failed(FailureCode.HIDDEN_CHECK, "the submission is too large")
    except OSError as error:
        return failed(FailureCode.GRADING_FAILED, f"{type(error).__name__}: {error.strerror}")


def failed(code: FailureCode, reason: str) -> Verdict:
    """Return a verdict that was reached without a check."""
    return Verdict(False, code, 0, reason, 0)


def _judge(ending: Ending) -> Verdict:
    said = ending.said or Said("broken", 0, ending.reason)
    code, reason = _decide(ending, said)
    return Verdict(code is None, code, said.checks, reason, 0, ending.detail, said.labels, ending.drivers)


def _decide(ending: Ending, said: Said) -> tuple[FailureCode | None, str]:
    """Return the failure code and the reason; a pass needs every single thing to be in order."""
    if ending.cause is Cause.EVALUATOR:
        return FailureCode.GRADING_FAILED, ending.reason
    if ending.cause is Cause.SUBMISSION:
        return FailureCode.HIDDEN_CHECK, ending.reason
    if said.kind == "passed" and said.checks > 0 and ending.observations > 0:
        return None, ""
    # A proven grader that breaks on what it was shown was shown a wrong answer; one that breaks before is broken.
    own_fault = said.kind in ("broken", "unchecked", "passed") and ending.observations == 0
    prefix = "" if said.kind in ("failed", "threw") else f"{said.kind}: "
    reason = prefix + (said.reason or "a check without a label")
    return (FailureCode.GRADING_FAILED if own_fault else FailureCode.HIDDEN_CHECK), reason
