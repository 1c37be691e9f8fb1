"""What `dodo.py` asks for: the trials and probes of the registered schedule as doit tasks.

Must never do any work of a stage: it only names tasks, files and what comes before what.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from eval_tasks import actions, arms, boundary, digests, options, records, registration
from eval_tasks.paths import PACKAGE, Experiment, Project
from eval_tasks.registration import Registration
from eval_tasks.schedule import Trial

Task = dict[str, Any]

ANALYSIS = ("analysis/*.py", "intervals.py", "stages/analyze.py", "schemas/metrics.schema.json")
"""Sources whose change asks for a new analysis."""


@boundary.outside
def configuration() -> dict[str, Any]:
    """Return `DOIT_CONFIG`, and make the folder of doit's database."""
    boundary.keep_private()
    boundary.end_in_good_order_on_signals()
    options.check(sys.argv)
    project = actions.project()
    project.experiments.mkdir(mode=0o700, exist_ok=True)
    boundary.drop_a_broken_database(project.doit_database)
    digests.CACHE.folder = project.cache / "digests"
    # Read here rather than in the table, where doit would show why it can't be read in its own way.
    _schedule()
    return {
        "default_tasks": ["report"],
        # `doit list` tells the commands in the order of an experiment.
        "sort": "definition",
        "minversion": "0.37.0",
        "backend": "sqlite3",
        "dep_file": _relative(project, project.doit_database),
        "verbosity": 2,
        "reporter": boundary.Reporter,
    }


def _relative(project: Project, path: Path) -> str:
    """Return a path as doit's database may hold it: without a name of this machine."""
    return os.path.relpath(path, project.root)


@cache
def _experiment() -> Experiment | None:
    return registration.current(actions.project())


@cache
def _schedule() -> tuple[list[Trial], list[str]]:
    """Return the registered trials and probes; the schema's check is left to the stages."""
    experiment = _experiment()
    if experiment is None:
        return [], []
    found = Registration(records.parse(experiment.registration.read_bytes(), experiment.registration.name))
    return found.trials, found.probes


def file(name: str) -> list[str]:
    """Return a file of the current experiment by its name in `paths.Experiment`, or nothing if none is registered."""
    experiment = _experiment()
    return [] if experiment is None else [_relative(actions.project(), getattr(experiment, name))]


def sources(*patterns: str) -> list[str]:
    """Return this package's files that match some patterns, as file dependencies."""
    found = {path for pattern in patterns for path in PACKAGE.glob(pattern) if path.is_file()}
    return sorted(_relative(actions.project(), path) for path in found)


def installs() -> Iterator[Task]:
    """Yield the preparation of each install, looked at in every run since its files lie outside the project."""
    trials, names = _schedule()
    for install in arms.installs({trial.arm for trial in trials} or arms.DEFAULT, probes=bool(names)):
        yield {
            "name": install,
            "actions": [(actions.prepare, [install])],
            "file_dep": file("gate"),
            "task_dep": ["gate", "recover"],
            "uptodate": [False],
        }


def arm_runs() -> Iterator[Task]:
    """Yield the trials in the registered order, each after the grade of the one before."""
    before = "canary"
    for trial in _schedule()[0]:
        install = arms.ARMS[trial.arm].install
        yield _paid(actions.arm_run, trial.name, _record("arm_run", trial.name), install, before)
        before = f"grade:{trial.name}"


def probes() -> Iterator[Task]:
    """Yield the probes in the registered order, after the last trial."""
    trials, names = _schedule()
    before = f"grade:{trials[-1].name}" if trials else "canary"
    for name in names:
        yield _paid(actions.probe, name, _record("probe", name), arms.LEAN, before)
        before = f"probe:{name}"


def grades() -> Iterator[Task]:
    """Yield the grade of each trial, after its arm-run."""
    for trial in _schedule()[0]:
        arm_run = _relative(actions.project(), _record("arm_run", trial.name))
        yield {
            "name": trial.name,
            "actions": [(actions.grade, [trial.name])],
            "file_dep": [arm_run, *file("registration")],
            "task_dep": [f"arm_run:{trial.name}"],
            "uptodate": [partial(actions.is_graded, trial.name)],
        }


def _record(kind: str, name: str) -> Path:
    found: Path = getattr(registration.require_current(actions.project()), kind)(name)
    return found


def _paid(work: object, name: str, record: Path, install: str, before: str) -> Task:
    """Return a task that may spend: done for good once its record exists, and never before the one it follows."""
    project = actions.project()
    inventory = _relative(project, registration.require_current(project).inventory(install))
    return {
        "name": name,
        "actions": [(work, [name])],
        "file_dep": [*file("registration"), inventory],
        "task_dep": [before],
        "uptodate": [record.is_file],
    }


def outcomes() -> list[str]:
    """Return every task that leaves an outcome, in the registered order."""
    trials, names = _schedule()
    pairs = [task for trial in trials for task in (f"arm_run:{trial.name}", f"grade:{trial.name}")]
    return pairs + [f"probe:{name}" for name in names]


def report_exists() -> bool:
    """Return whether the current experiment has a report."""
    experiment = _experiment()
    return experiment is not None and (experiment.report / "report.json").is_file()
