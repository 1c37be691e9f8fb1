"""`doit register`: bind everything by digest, once, before the first paid call.

Must never replace a registration: a changed design is refused, or becomes a new experiment beside the old one.
"""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import attempts, binding, digests, records, registration, sandbox, schedule
from eval_tasks.errors import ExperimentStopped
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.processes import Level
from eval_tasks.registration import Registration
from eval_tasks.stages import check_corpus
from eval_tasks.stages.assemble import Assembly, Local, assemble, node_on_path
from eval_tasks.stages.session import read_script
from eval_tasks.trials import lease


@dataclass(frozen=True)
class Request:
    """What the command line of `doit register` asked for."""

    overrides: Mapping[str, Any]
    executable: Path | None = None
    login_home: Path | None = None
    new: bool = False
    reason: str | None = None
    dry_run: bool = False
    accept_shortfall: bool = False


def register(project: Project, request: Request) -> list[str]:
    """Retain the registration of what is here now, or say that it is retained already.

    Returns
    -------
    list of str
        What to tell the user, or with `dry_run` the registration itself.

    Raises
    ------
    ExperimentStopped
        If something is missing, if the design can't fit its limits, or if it differs from the one that is registered.
    """
    if request.login_home is not None:
        lease.check_login_home(request.login_home, os.environ)
    local = Local(request.executable, node_on_path(), request.login_home)
    assembly = assemble(project, request.overrides, local)
    if assembly.settings.rehearsing:
        read_script(assembly)
    parts = assembly.parts(proof=check_corpus.require(project), accepted_shortfall=request.accept_shortfall)
    design = binding.design(project, parts)
    _refuse_login_without_box(design)
    forecast = _forecast(design)
    _refuse_shortfall(design, accepted=request.accept_shortfall)
    existing = registration.current(project)
    if existing is not None and not request.dry_run and not request.new:
        found = registration.changes(_registered(existing).design, design)
        if not found:
            return [f"up to date: experiment {existing.id} is registered", *forecast]
        raise ExperimentStopped("\n".join(_refusal(existing.id, found)))
    value = Registration(_retained(project, design, request.reason))
    if request.dry_run:
        return [records.pretty(value.value).decode("utf-8").rstrip("\n")]
    _retain(project, value, assembly, local)
    return [f"registered experiment {value.id}", *forecast]


def _registered(existing: Experiment) -> Registration:
    """Return the current registration.

    Raises
    ------
    ExperimentStopped
        With the way on, if another version of the evaluator wrote it, or nobody did as it is now.
    """
    try:
        return registration.read(existing)
    except ExperimentStopped as stopped:
        raise ExperimentStopped(
            f"experiment {existing.id}: {stopped}, or register a new experiment beside it:"
            ' doit register --new --reason "..."'
        ) from stopped


def _refusal(experiment_id: str, found: list[str]) -> list[str]:
    head = f"experiment {experiment_id} is registered, and this is not what it binds any more:"
    way_on = 'put it back, or register a new experiment beside it: doit register --new --reason "..."'
    return [head, *(f"  {line}" for line in found), way_on]


def _forecast(design: Mapping[str, Any]) -> list[str]:
    calls, seconds = _worst_case(design)
    trials, probes = len(design["schedule"]["trials"]), len(design["schedule"]["probes"])
    expected = design["limits"]["expectedCallSeconds"]
    return [
        f"{len(design['corpus']['cases'])} cases x {len(design['arms'])} arms x {design['repeats']} repeats"
        f" = {trials} trials, and {probes} probes",
        f"at most {calls} calls (limit {design['limits']['calls']}), {design['jobs']} at a time; at {expected} s a call"
        f" {seconds / 60:.0f} min (limit {design['limits']['deadlineSeconds'] / 60:.0f} min)",
    ]


def _worst_case(design: Mapping[str, Any]) -> tuple[int, int]:
    """Return the most calls that the schedule can make and the seconds that they are expected to take."""
    plan = design["schedule"]
    canaries = 0 if design["evidence"] == "rehearsal" else len(design["profiles"])
    calls = schedule.worst_case_calls(design["arms"], len(plan["trials"]), len(plan["probes"]), canaries)
    return calls, schedule.expected_seconds(calls, design["jobs"], design["limits"]["expectedCallSeconds"])


def _refuse_login_without_box(design: Mapping[str, Any]) -> None:
    if design["authentication"] == "login-home" and design["isolation"] != Level.SEALED:
        raise ExperimentStopped(
            "a login is only lent to sealed calls: set `isolation: sealed`, or use an API key without --auth-home"
        )


def _refuse_shortfall(design: Mapping[str, Any], *, accepted: bool) -> None:
    if design["evidence"] == "rehearsal" or accepted:
        return
    calls, seconds = _worst_case(design)
    limits = design["limits"]
    if calls > limits["calls"]:
        raise ExperimentStopped(
            f"the schedule can make {calls} calls but the limit is {limits['calls']}: raise it with --max-calls,"
            " or register the shortfall with --accept-shortfall"
        )
    if seconds > limits["deadlineSeconds"]:
        raise ExperimentStopped(
            f"{calls} calls are expected to take {seconds} s but the deadline is {limits['deadlineSeconds']} s:"
            " raise it with --deadline, or register the shortfall with --accept-shortfall"
        )


def _retained(project: Project, design: dict[str, Any], reason: str | None) -> dict[str, Any]:
    evidence = design["evidence"]
    attempt = {
        "number": len(attempts.read(project, evidence)) + 1,
        "reason": reason,
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "commit": _clean_commit(project.root),
    }
    return {"schemaVersion": "context-eval.registration.v1", "design": design, "attempt": attempt}


def _clean_commit(root: Path) -> str | None:
    """Return the commit of the project, or None if it is not in git, has none or differs from it."""
    try:
        status = _git(root, "status", "--porcelain")
        return None if status else _git(root, "rev-parse", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True, timeout=30)
    return ran.stdout.strip()


def _retain(project: Project, value: Registration, assembly: Assembly, local: Local) -> None:
    """Write the experiment's folder, the registration in it as the last file, and then make it the current one."""
    experiment = project.experiment(value.id)
    # One that is not listed was about to be retained when something ended us, and is retained now.
    listed = any(attempt["id"] == value.id for attempt in attempts.read(project, value.design["evidence"]))
    if listed and experiment.registration.is_file():
        raise ExperimentStopped(f"experiment {value.id} exists already; give this attempt a reason: --reason")
    project.experiments.mkdir(mode=0o700, exist_ok=True)
    experiment.root.mkdir(mode=0o700, exist_ok=True)
    records.write(experiment.local, "local", _local(project, experiment, assembly, local))
    if not experiment.journal.exists():
        Journal(experiment.journal, value.digest, create=True).close()
    records.write(experiment.registration, "registration", value.value)
    attempts.add(project, value)
    records.write_bytes(project.current, f"{value.id}\n".encode("ascii"))


def _local(project: Project, experiment: Experiment, assembly: Assembly, local: Local) -> dict[str, Any]:
    place = digests.short(digests.of_bytes(str(project.root.resolve()).encode("utf-8", "surrogateescape")))
    return {
        "schemaVersion": "context-eval.local.v1",
        "executable": str(local.executable) if local.executable is not None else None,
        "node": str(assembly.node.path),
        "workRoot": str(sandbox.work_root(os.environ) / f"{experiment.id}-{place}"),
        "loginHome": str(local.login_home) if local.login_home is not None else None,
    }
