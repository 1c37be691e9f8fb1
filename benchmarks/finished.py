"""A finished experiment of synthetic records in a project of its own, for what is timed after the last call.

Must never be taken for a result: no agent made its records.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval_tasks import records
from eval_tasks.errors import FailureCode
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.registration import Registration
from tests import synthetic_records
from tests.laboratory import Laboratory

KINDS = (("arm_runs", "arm_run"), ("grades", "grade"), ("probes", "probe"))


def make(root: Path, *, cases: int, probes: int = 32) -> Experiment:
    """Write a project with a finished experiment of three arms and one repeat, and make it the current one."""
    project = Project(Laboratory(root, probes=["none-train"]).root)
    made = synthetic_records.make(cases=cases, probes=probes, fate=synthetic_records.mixed_fate)
    value = Registration(made.registration)
    experiment = project.experiment(value.id)
    project.experiments.mkdir(mode=0o700)
    records.write(experiment.registration, "registration", value.value)
    records.write(experiment.local, "local", _local(root))
    for name, inventory in made.inventories.items():
        records.write(experiment.inventory(name), "inventory", {**inventory, "registration": value.digest})
    for folder, kind in KINDS:
        for name, record in getattr(made, folder).items():
            path: Path = getattr(experiment, kind)(name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(records.pretty({**record, "registration": value.digest}))
    _settle(experiment, value, made)
    records.write_bytes(project.current, f"{value.id}\n".encode("ascii"))
    return experiment


def _local(root: Path) -> dict[str, Any]:
    return {
        "schemaVersion": "context-eval.local.v1",
        "executable": None,
        "node": "/usr/bin/node",
        "loginHome": None,
        "workRoot": str(root / "gone"),
    }


def _settle(experiment: Experiment, value: Registration, made: Any) -> None:
    """Enter a settled claim for every record, all in one transaction: thousands of commits would take minutes."""
    Journal(experiment.journal, value.digest, create=True).close()
    with Journal(experiment.journal, value.digest) as journal:
        session, now = journal.begin_session(), journal.now_ms()
        rows = [(name, "trial", record["failure"]) for name, record in made.arm_runs.items()]
        rows += [(f"probe:{name}", "probe", record["failure"]) for name, record in made.probes.items()]
        with journal._transaction():
            journal._db.executemany(
                "INSERT INTO claims (key, kind, session, claimed_ms, settled_ms, code) VALUES (?, ?, ?, ?, ?, ?)",
                [(key, kind, session, now, now, code and FailureCode(code)) for key, kind, code in rows],
            )
