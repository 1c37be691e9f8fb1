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

from eval_tasks import actions, arms, boundary, deferred, digests, options, schedule
from eval_tasks.paths import PACKAGE, Experiment, Project
from eval_tasks.schedule import Lane, Trial

Task = dict[str, Any]

UNCAPTURED = {"capture": False}
"""For tasks that run side by side: doit captures by exchanging the one standard output of all threads."""

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
    if _in_lanes():
        deferred.load("eval_tasks.stages")
    return {
        "num_process": _jobs() if _in_lanes() else 0,
        "par_type": "thread",
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


def _experiment() -> Experiment | None:
    return actions.registered()[0]


@cache
def _schedule() -> tuple[list[Trial], list[str]]:
    """Return the registered trials and probes, or none for a command that can't come to them: they may be thousands.

    The schema's check is left to the stages.
    """
    found = actions.registered()[1]
    return ([], []) if found is None or options.only_reads(sys.argv) else (found.trials, found.probes)


def _jobs() -> int:
    """Return how many calls may run at once, as registered."""
    found = actions.registered()[1]
    return 1 if found is None else found.jobs


def _in_lanes() -> bool:
    """Return whether this command runs its outcomes on several threads."""
    return "run_eval" in sys.argv and _jobs() > 1 and not actions.is_closed()


def after(task: str) -> list[str]:
    """Return a task to wait for where tasks run side by side; one after the other they need no such word."""
    return [task] if _in_lanes() else []


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
    before: list[str] = []
    for install in arms.installs({trial.arm for trial in trials} or arms.DEFAULT, probes=bool(names)):
        yield {
            "name": install,
            "actions": [(actions.prepare, [install])],
            "file_dep": file("gate"),
            "task_dep": ["gate", "recover", *before],
            "uptodate": [False],
        }
        before = after(f"prepare:{install}")


@cache
def _lanes() -> list[Lane]:
    trials, names = _schedule()
    return schedule.lanes(trials, names, _jobs())


def arm_runs() -> Iterator[Task]:
    """Yield the trials, in each lane in the registered order, each after the grade of the one before."""
    for lane in _lanes():
        before = "canary"
        for trial in lane.trials:
            install = arms.ARMS[trial.arm].install
            yield _closed(actions.arm_run, trial.name) or _paid(
                actions.arm_run, trial.name, _record("arm_run", trial.name), install, before
            )
            before = f"grade:{trial.name}"


def probes() -> Iterator[Task]:
    """Yield the probes, in each lane in the registered order, after its last trial."""
    for lane in _lanes():
        before = f"grade:{lane.trials[-1].name}" if lane.trials else "canary"
        for name in lane.probes:
            yield _closed(actions.probe, name) or _paid(actions.probe, name, _record("probe", name), arms.LEAN, before)
            before = f"probe:{name}"


def grades() -> Iterator[Task]:
    """Yield the grade of each trial, after its arm-run."""
    for trial in _schedule()[0]:
        yield _closed(actions.grade, trial.name) or {
            "name": trial.name,
            "actions": [(actions.grade, [trial.name])],
            "file_dep": [_relative(actions.project(), _record("arm_run", trial.name)), *file("registration")],
            "task_dep": [f"arm_run:{trial.name}"],
            "uptodate": [partial(actions.is_graded, trial.name)],
            "io": UNCAPTURED,
        }


def _record(kind: str, name: str) -> Path:
    found: Path = getattr(_experiment(), kind)(name)
    return found


def _paid(work: object, name: str, record: Path, install: str, before: str) -> Task:
    """Return a task that may spend: done for good once its record exists, and never before the one it follows."""
    return {
        "name": name,
        "actions": [(work, [name])],
        "file_dep": [*file("registration"), _relative(actions.project(), _record("inventory", install))],
        "task_dep": [before],
        "uptodate": [record.is_file],
        "io": UNCAPTURED,
    }


@cache
def _is_closed() -> bool:
    """Return whether this command asks for outcomes of which none is left; the others need not know."""
    return "run_eval" in sys.argv and actions.is_closed()


def _closed(work: object, name: str) -> Task | None:
    """Return an outcome's task as it is once all of them are recorded: it looks at nothing and waits for nothing."""
    return {"name": name, "actions": [(work, [name])], "uptodate": [True]} if _is_closed() else None


def outcomes() -> list[str]:
    """Return every task that leaves an outcome, in the registered order, after what has to precede a call."""
    trials, names = _schedule()
    before = [] if _is_closed() else ["recover", "prepare"]
    pairs = [task for trial in trials for task in (f"arm_run:{trial.name}", f"grade:{trial.name}")]
    return [*before, *pairs, *(f"probe:{name}" for name in names)]


def report_exists() -> bool:
    """Return whether the current experiment has a report."""
    experiment = _experiment()
    return experiment is not None and (experiment.report / "report.json").is_file()
