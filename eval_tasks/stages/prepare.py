"""`prepare:<install>`: build an install, observe it through the agent, and write its inventory last.

Must never replace an install that has drifted, nor change an inventory that is recorded.
"""

from __future__ import annotations

from typing import Any

from eval_tasks import records
from eval_tasks.arms import ARMS, LEAN
from eval_tasks.installs.build import Builder
from eval_tasks.processes import Level
from eval_tasks.stages.session import Session


def prepare(session: Session, install: str) -> list[str]:
    """Make sure that an install is there and as recorded, if anything scheduled still needs it.

    Raises
    ------
    ExperimentStopped
        `environment-drift`, if it is not as recorded or the agent does not list exactly what was planned.
    """
    if not is_needed(session, install):
        return []
    place, target = session.work.install(install), session.experiment.inventory(install)
    recorded = records.read(target, "inventory") if target.is_file() else None
    if place.is_dir() and recorded is not None:
        session.verify_install(install)
        return []
    profile = session.assembly.profiles[install]
    observed = _builder(session, install).build(place, install, profile, recorded)
    if recorded is None:
        records.write(target, "inventory", observed.record(session.registration.digest))
    return [describe(records.read(target, "inventory"))]


def is_needed(session: Session, install: str) -> bool:
    """Return whether a scheduled trial or probe that runs on an install lacks its record."""
    experiment, found = session.experiment, session.registration
    trials = any(
        ARMS[trial.arm].install == install and not experiment.arm_run(trial.name).is_file() for trial in found.trials
    )
    proposals = install == LEAN and any(not experiment.probe(name).is_file() for name in found.probes)
    return trials or proposals


def _builder(session: Session, install: str) -> Builder:
    session.make_work_area()
    return Builder(
        agent=session.agent,
        executable=session.executable,
        backend=session.backend,
        library=session.assembly.library_of(install),
        level=Level(session.registration.design["isolation"]),
    )


def describe(inventory: dict[str, Any]) -> str:
    """Return in one line how much of an install a model gets to see."""
    exposure = inventory["exposure"]
    return (
        f"install {inventory['install']}: {exposure['installed']} skills installed, {exposure['listed']} listed,"
        f" {exposure['shortened']} shortened, {exposure['dropped']} dropped;"
        f" start-up context {exposure['startupContextBytes']:,} bytes"
    )
