"""`grade:<trial>`: the hidden check of one sealed submission.

Must never grade what has no completed call, nor with a grader other than the registered one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval_tasks import digests, files, records
from eval_tasks.corpus import Case
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.grading import grader
from eval_tasks.grading.grader import Verdict
from eval_tasks.schedule import trial_of_name
from eval_tasks.stages.completion import is_final
from eval_tasks.stages.session import Session


def grade(session: Session, name: str) -> None:
    """Grade one trial unless its grade is final or its arm-run has a failure code.

    A grade of `grading-failed` is no final one: it keeps the submission, and the next run grades again without a call.

    Raises
    ------
    ExperimentStopped
        If the submission is gone, or the grader is not the registered one.
    """
    arm_run = records.read(session.experiment.arm_run(name), "arm-run")
    target = session.experiment.grade(name)
    if arm_run["failure"] is not None or (target.is_file() and is_final(records.read(target, "grade"))):
        return
    with session.alone:
        session.require()
        runtime = session.runtime
    submission = session.work.submissions / _task_call(arm_run)
    if not submission.is_dir():
        raise ExperimentStopped(
            f"{name} has no grade and its submission is gone; `doit run_eval --settle` records grading-failed"
        )
    case = session.assembly.corpus.case(trial_of_name(name).case_id)
    _refuse_other_grader(case)
    verdict = grader.grade(submission, case.grader, runtime)
    # Once more, since the grade read the file after the first look; a verdict of another grader is none.
    _refuse_other_grader(case)
    records.write(target, "grade", _record(arm_run, verdict, case.grader_digest))
    if verdict.failure is not FailureCode.GRADING_FAILED:
        files.remove_tree(submission)


def _refuse_other_grader(case: Case) -> None:
    if digests.of_file(case.grader) != case.grader_digest:
        raise ExperimentStopped(
            f"source-drift: the grader of {case.id} has changed; restore it and run again", FailureCode.SOURCE_DRIFT
        )


def _task_call(arm_run: dict[str, Any]) -> Path:
    return Path(next(call["callId"] for call in arm_run["calls"] if call["phase"] == "task"))


def _record(arm_run: dict[str, Any], verdict: Verdict, grader_digest: str) -> dict[str, Any]:
    return {
        "schemaVersion": "context-eval.grade.v1",
        "registration": arm_run["registration"],
        **{key: arm_run[key] for key in ("caseId", "arm", "repeat", "submissionDigest")},
        "passed": verdict.passed,
        "failure": None if verdict.failure is None else str(verdict.failure),
        "checks": verdict.checks,
        "graderDigest": grader_digest,
        "elapsedMs": verdict.elapsed_ms,
    }
