"""`doit manifest`: the digest of every scheduled record, or a refusal if one is missing.

Must never look at anything but the schedule and the files that it names, so that it can't make a call.
"""

from __future__ import annotations

from pathlib import Path

from eval_tasks import digests, records, registration
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Experiment, Project
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
    return path.is_file() and records.read(path, "arm-run")["failure"] is None


def missing_records(experiment: Experiment, found: Registration) -> list[Path]:
    """Return the scheduled records that are not there yet."""
    return [path for path in scheduled_records(experiment, found) if not path.is_file()]


def is_complete(experiment: Experiment, found: Registration) -> bool:
    """Return whether every scheduled outcome is recorded."""
    return not missing_records(experiment, found)


def manifest(project: Project) -> list[str]:
    """Write `manifest.json` if it would change.

    Raises
    ------
    ExperimentStopped
        If a scheduled record is missing; the line says how many and what to run.
    """
    experiment = registration.require_current(project)
    found = registration.read(experiment)
    paths = scheduled_records(experiment, found)
    missing = missing_records(experiment, found)
    if missing:
        consent = "" if found.rehearsing else " --allow-real-provider"
        raise ExperimentStopped(
            f"{len(missing)} of the scheduled records of experiment {experiment.id} are missing"
            f" (the first: {missing[0].parent.name}/{missing[0].name}); run `doit run_eval{consent}`"
        )
    value = {
        "schemaVersion": "context-eval.manifest.v1",
        "registration": found.digest,
        "records": {f"{path.parent.name}/{path.name}": digests.of_file(path) for path in paths},
    }
    records.check("manifest", value, "manifest.json")
    records.write_if_different(experiment.manifest, records.pretty(value))
    return []
