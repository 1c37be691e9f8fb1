"""How far an experiment is: which scheduled records are there, which grades are final, and whether anything is left.

Must never write anything, nor take an experiment for closed on less than all of its records, grades and claims.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment
from eval_tasks.registration import Registration


def scheduled_records(experiment: Experiment, found: Registration) -> list[Path]:
    """Return the record of every scheduled outcome: of a trial its arm-run, and its grade if it was gradable."""
    paths = []
    for trial in found.trials:
        paths.append(experiment.arm_run(trial.name))
        if gradable(experiment, trial.name):
            paths.append(experiment.grade(trial.name))
    return paths + [experiment.probe(name) for name in found.probes]


def gradable(experiment: Experiment, trial: str) -> bool:
    """Return whether a trial's arm-run left a submission to grade."""
    path = experiment.arm_run(trial)
    return path.is_file() and _quick(path)["failure"] is None


def is_complete(experiment: Experiment, found: Registration) -> bool:
    """Return whether every scheduled outcome is recorded."""
    return all(path.is_file() for path in scheduled_records(experiment, found))


def is_final(grade: Mapping[str, Any]) -> bool:
    """Return whether a grade is a verdict on the submission rather than a fault of the grading."""
    return bool(grade["failure"] != FailureCode.GRADING_FAILED)


def is_graded(experiment: Experiment, trial: str) -> bool:
    """Return whether a trial needs no grade any more: it has a final one, or its arm-run left nothing to grade."""
    target = experiment.grade(trial)
    if target.is_file():
        return is_final(records.read(target, "grade"))
    arm_run = experiment.arm_run(trial)
    return arm_run.is_file() and records.read(arm_run, "arm-run")["failure"] is not None


def is_closed(experiment: Experiment, found: Registration) -> bool:
    """Return whether nothing is left to run, to grade, to settle or to remove.

    Quick, since it is asked before every command: whether the records fit their schemas is left to those who use them.
    A file that can't be read leaves the experiment open, so that the stage which needs it says so.
    """
    try:
        return _nothing_to_do(experiment, found) and _nothing_open(experiment, found)
    except (ExperimentStopped, KeyError, TypeError, OSError):
        return False


def said_when_closed(experiment: Experiment) -> str:
    """Return the line that ends a run of a closed experiment."""
    return f"every scheduled outcome of experiment {experiment.id} is recorded; run `doit report`"


def _nothing_to_do(experiment: Experiment, found: Registration) -> bool:
    # Names rather than paths, of which every command would make hundreds.
    arm_runs, grades, probes = (
        path.parent for path in (experiment.arm_run("x"), experiment.grade("x"), experiment.probe("x"))
    )
    trials = [f"{trial.name}.json" for trial in found.trials]
    graded = _names_in(grades)
    if not ({*trials} <= _names_in(arm_runs) and {f"{name}.json" for name in found.probes} <= _names_in(probes)):
        return False
    return all(
        is_final(_quick(grades / name)) if name in graded else _quick(arm_runs / name)["failure"] is not None
        for name in trials
    )


def _nothing_open(experiment: Experiment, found: Registration) -> bool:
    if os.path.exists(_quick(experiment.local)["workRoot"]):
        return False
    with Journal(experiment.journal, found.digest) as journal:
        claims = journal.claims()
    scheduled = {*(trial.name for trial in found.trials), *(f"probe:{name}" for name in found.probes)}
    return scheduled <= claims.keys() and all(claim.settled for claim in claims.values())


def _names_in(folder: Path) -> set[str]:
    return set(os.listdir(folder)) if folder.is_dir() else set()


def _quick(path: Path) -> Any:
    """Read a record without its schema, whose check takes ten times as long; who uses its numbers checks it."""
    content = path.read_bytes()
    try:
        return json.loads(content)
    except ValueError:
        return records.parse(content, path.name)
