"""`doit manifest`: the digest of every scheduled record, or a refusal if one is missing.

Must never look at anything but the schedule and the files that it names, so that it can't make a call.
"""

from __future__ import annotations

from eval_tasks import digests, records, registration
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project
from eval_tasks.stages import completion


def manifest(project: Project) -> list[str]:
    """Write `manifest.json` if it would change.

    Raises
    ------
    ExperimentStopped
        If a scheduled record is missing; the line says how many and what to run.
    """
    experiment = registration.require_current(project)
    found = registration.read(experiment)
    paths = completion.scheduled_records(experiment, found)
    missing = [path for path in paths if not path.is_file()]
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
