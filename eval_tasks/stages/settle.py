"""`doit run_eval --settle`: record what will not run any more, under the code of the last stop.

Must never touch an outcome that is recorded, nor make a call.
"""

from __future__ import annotations

from pathlib import Path

from eval_tasks import files, records
from eval_tasks.errors import FailureCode
from eval_tasks.stages import recover
from eval_tasks.stages.completion import is_final
from eval_tasks.stages.session import Session


def settle(session: Session) -> list[str]:
    """Give each scheduled outcome without a record one, and make each `grading-failed` final.

    Returns
    -------
    list of str
        One line that says how many there were and under which code.
    """
    code = session.journal.last_stop() or FailureCode.ABANDONED
    count = 0
    for key, target, schema in _scheduled(session):
        if target.is_file():
            continue
        kind = "probe" if schema == "probe" else "trial"
        session.journal.claim(key, kind)
        records.write(target, schema, recover.unrun(session, key, code, None, []))
        session.journal.settle(key, code)
        count += 1
    ungraded = _close_grades(session)
    return [f"{count} outcomes recorded as {code}, {ungraded} grades closed as {FailureCode.GRADING_FAILED}"]


def _scheduled(session: Session) -> list[tuple[str, Path, str]]:
    experiment, found = session.experiment, session.registration
    trials = [(trial.name, experiment.arm_run(trial.name), "arm-run") for trial in found.trials]
    return trials + [(f"{recover.PROBE_PREFIX}{name}", experiment.probe(name), "probe") for name in found.probes]


def _close_grades(session: Session) -> int:
    """Record `grading-failed` for every submission that has no final grade, and remove the submissions."""
    count = 0
    graders = {case["id"]: case["graderDigest"] for case in session.registration.design["corpus"]["cases"]}
    for trial in session.registration.trials:
        arm_run = records.read(session.experiment.arm_run(trial.name), "arm-run")
        target = session.experiment.grade(trial.name)
        if arm_run["failure"] is not None or (target.is_file() and is_final(records.read(target, "grade"))):
            continue
        if not target.is_file():
            records.write(target, "grade", _ungraded(arm_run, graders[trial.case_id]))
        count += 1
    files.remove_tree(session.work.submissions)
    return count


def _ungraded(arm_run: dict[str, object], grader_digest: str) -> dict[str, object]:
    return {
        "schemaVersion": "context-eval.grade.v1",
        **{key: arm_run[key] for key in ("registration", "caseId", "arm", "repeat", "submissionDigest")},
        "passed": False,
        "failure": str(FailureCode.GRADING_FAILED),
        "checks": 0,
        "graderDigest": grader_digest,
        "elapsedMs": 0,
    }
