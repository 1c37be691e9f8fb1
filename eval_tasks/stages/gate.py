"""`doit digest` and `doit gate`: derive again what is bound, and stop if it is not what was registered.

Must never change a registration.
"""

from __future__ import annotations

from pathlib import Path

from eval_tasks import binding, records, registration
from eval_tasks.errors import FailureCode
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.stages.assemble import Assembly, Local, assemble


def read_local(experiment: Experiment) -> tuple[Local, Path]:
    """Return the places on this machine that were kept at registration, and the work folder of the experiment."""
    value = records.read(experiment.local, "local")
    local = Local(
        executable=Path(value["executable"]) if value["executable"] else None,
        node=Path(value["node"]),
        login_home=Path(value["loginHome"]) if value["loginHome"] else None,
    )
    return local, Path(value["workRoot"])


def derive(project: Project, experiment: Experiment) -> tuple[Assembly, dict[str, object]]:
    """Gather what is bound as it is now, under the overrides that were registered; return it and its design."""
    found = registration.read(experiment)
    local, _ = read_local(experiment)
    assembly = assemble(project, found.design["overrides"], local)
    parts = assembly.parts(proof=found.design["corpus"]["proof"], accepted_shortfall=found.design["acceptedShortfall"])
    return assembly, binding.design(project, parts)


def digest(project: Project) -> list[str]:
    """Write the digest of the present design, without the sources of the analysis, if it would change."""
    experiment = registration.require_current(project)
    _, design = derive(project, experiment)
    value = {"schemaVersion": "context-eval.digests.v1", "design": registration.execution_digest(design)}
    records.check("digests", value, experiment.digests.name)
    records.write_if_different(experiment.digests, records.pretty(value))
    return []


def gate(project: Project) -> list[str]:
    """Compare the present digest with the registered one.

    Raises
    ------
    ExperimentStopped
        `source-drift`, naming what has changed.
    """
    experiment = registration.require_current(project)
    found = registration.read(experiment)
    derived = records.read(experiment.digests, "digests")["design"]
    if derived != registration.execution_digest(found.design):
        experiment.gate.unlink(missing_ok=True)
        with Journal(experiment.journal, found.digest) as journal:
            journal.stop(FailureCode.SOURCE_DRIFT)
        _, design = derive(project, experiment)
        registration.refuse_drift(found.design, design)
    value = {"schemaVersion": "context-eval.gate.v1", "registration": found.digest, "design": derived}
    records.check("gate", value, experiment.gate.name)
    records.write_if_different(experiment.gate, records.pretty(value))
    return []
