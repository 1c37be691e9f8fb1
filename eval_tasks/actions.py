"""The stages as doit actions: each gathers what its stage needs, calls it and prints what it says.

Must never hold a rule of its own beyond one: consent to paid calls is the literal argument of this command line.
"""

from __future__ import annotations

import atexit
import sys
from functools import cache
from pathlib import Path
from typing import Any

from eval_tasks import deferred, progress, records, registration
from eval_tasks.boundary import Lines, action, outside
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Experiment, Project
from eval_tasks.registration import Registration

with deferred.below("eval_tasks.stages"):
    from eval_tasks.stages import canary as stage_canary
    from eval_tasks.stages import check_corpus as stage_check_corpus
    from eval_tasks.stages import compare as stage_compare
    from eval_tasks.stages import completion
    from eval_tasks.stages import doctor as stage_doctor
    from eval_tasks.stages import gate as stage_gate
    from eval_tasks.stages import grade as stage_grade
    from eval_tasks.stages import manifest as stage_manifest
    from eval_tasks.stages import plan as stage_plan
    from eval_tasks.stages import prepare as stage_prepare
    from eval_tasks.stages import publish as stage_publish
    from eval_tasks.stages import purge as stage_purge
    from eval_tasks.stages import recover as stage_recover
    from eval_tasks.stages import register as stage_register
    from eval_tasks.stages import run_arm as stage_run_arm
    from eval_tasks.stages import run_probe as stage_run_probe
    from eval_tasks.stages import selector as stage_selector
    from eval_tasks.stages import session as stage_session
    from eval_tasks.stages import settle as stage_settle
    from eval_tasks.stages import shelf as stage_shelf
    from eval_tasks.stages import status as stage_status
    from eval_tasks.stages import toolchain as stage_toolchain
    from eval_tasks.stages import verify as stage_verify


@cache
def project() -> Project:
    """Return the project of this folder, in which doit runs."""
    return Project(Path.cwd())


@cache
def _session() -> stage_session.Session:
    """Return this process's session, opened by the first action that needs one and closed at the end."""
    found = stage_session.Session.open(project(), consent=stage_session.CONSENT in sys.argv[1:])
    atexit.register(_close, found)
    return found


def _progress() -> progress.Progress:
    """Return what this process shows of its run, from the first outcome to the end."""
    with _session().alone:
        return _only_progress()


@cache
def _only_progress() -> progress.Progress:
    found = progress.Progress(_session(), live=progress.is_live())
    atexit.register(found.close)
    return found


def _close(session: stage_session.Session) -> None:
    """End what a signal has cut short in other threads, settle it, and close the session."""
    try:
        if session.lanes.end():
            stage_recover.recover(session)
    finally:
        session.close()


@cache
def is_closed() -> bool:
    """Return whether the current experiment had nothing left to do when this command began."""
    experiment, found = registered()
    return experiment is not None and found is not None and completion.is_closed(experiment, found)


@cache
def registered() -> tuple[Experiment, Registration] | tuple[None, None]:
    """Return the experiment that was the current one when this command began, with its registration as it is read."""
    experiment = registration.current(project())
    return (None, None) if experiment is None else (experiment, registration.unchecked(experiment))


@action
def toolchain() -> Lines:
    """Install the pinned agents and the library."""
    return stage_toolchain.toolchain(project())


@action
def register(**options: Any) -> Lines:
    """Bind everything by digest."""
    return stage_register.register(project(), _request(options))


def _request(options: dict[str, Any]) -> stage_register.Request:
    given = {name: value or None for name, value in options.items()}
    overrides = {
        "backend": given["backend"],
        "agentVersion": given["agent_version"],
        "model": given["model"],
        "effort": given["effort"],
        "isolation": given["isolation"],
        "repeats": given["repeats"],
        "maxCalls": given["max_calls"],
        "deadline": given["deadline"],
        "callTimeout": given["call_timeout"],
        "authentication": "login-home" if given["auth_home"] else None,
    }
    return stage_register.Request(
        overrides={name: value for name, value in overrides.items() if value is not None},
        executable=_path(given["executable"]),
        login_home=_path(given["auth_home"]),
        new=bool(given["new"]),
        reason=given["reason"],
        dry_run=bool(given["dry_run"]),
        accept_shortfall=bool(given["accept_shortfall"]),
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).expanduser().absolute()


@action
def digest() -> Lines:
    """Derive the digests of what is bound."""
    return stage_gate.digest(project())


@action
def gate() -> Lines:
    """Compare them with the registration."""
    return stage_gate.gate(project())


@action
def agree(allow_real_provider: bool, settle: bool, repeats: int, model: str, executable: str) -> Lines:
    """Refuse a run that this command line does not allow, that is not the registered one, or that can't work here."""
    if allow_real_provider and stage_session.CONSENT not in sys.argv[1:]:
        raise ExperimentStopped(
            f"{stage_session.CONSENT} must stand on the command line itself; no setting can stand for it"
        )
    if is_closed() and not (repeats or model or executable):
        return None
    session = _session()
    if not completion.is_complete(session.experiment, session.registration):
        session.require_consent()
    session.require_same(repeats=repeats or None, model=model or None, executable=_path(executable or None))
    return None if settle else stage_doctor.examine(session)


@action
def recover() -> Lines:
    """Settle what a killed session left open."""
    return stage_recover.recover(_session())


@action
def prepare(install: str) -> Lines:
    """Build and observe an install."""
    return stage_prepare.prepare(_session(), install)


@action
def canary() -> Lines:
    """Make one small call on each install of a real provider."""
    session = _session()
    with session.lanes.work():
        return stage_canary.canary(session)


@action
def arm_run(name: str) -> Lines:
    """Run one trial."""
    if is_closed():
        return None
    session = _session()
    with session.lanes.work(), _progress().working(name) as said:
        stage_run_arm.run_arm(session, name)
    return said


@action
def grade(name: str) -> Lines:
    """Grade one trial."""
    if is_closed():
        return None
    session = _session()
    with session.lanes.work():
        stage_grade.grade(session, name)
    return None


@outside
def is_graded(name: str) -> bool:
    """Return whether a trial needs no grade any more."""
    return completion.is_graded(registration.require_current(project()), name)


@action
def probe(name: str) -> Lines:
    """Ask one probe."""
    if is_closed():
        return None
    session = _session()
    with session.lanes.work(), _progress().working(f"probe:{name}") as said:
        stage_run_probe.run_probe(session, name)
    return said


@action
def settle() -> Lines:
    """Record what will not run any more."""
    return stage_settle.settle(_session())


@action
def finish() -> Lines:
    """Remove the installs of a complete experiment."""
    if is_closed():
        return [completion.said_when_closed(registration.require_current(project()))]
    _progress().close()
    return stage_purge.finish(_session())


@action
def manifest() -> Lines:
    """List the digest of every scheduled record."""
    return stage_manifest.manifest(project())


@action
def analyze() -> Lines:
    """Compute the metrics from the records."""
    return stage_publish.publish_metrics(project())


@action
def report() -> Lines:
    """Write the report from the metrics."""
    return stage_publish.publish_report(project())


@action
def status(json: bool) -> Lines:
    """Show how far the experiment is."""
    value = stage_status.status(project())
    return [records.pretty(value).decode("utf-8").rstrip("\n")] if json else stage_status.lines(value)


@action
def check_corpus(thorough: bool, anew: bool) -> Lines:
    """Prove the corpus; on the way to a registration, which may be piped into a file, say nothing."""
    said = stage_check_corpus.check_corpus(project(), thorough=thorough, anew=anew)
    return said if "check_corpus" in sys.argv else None


@action
def library() -> Lines:
    """List the skills of the library."""
    return stage_shelf.shelf(project())


@action
def selector() -> Lines:
    """See that the selector keeps to its contract."""
    return stage_selector.selector(project())


@action
def doctor() -> Lines:
    """See that this machine can run what is registered."""
    return stage_doctor.lines(stage_doctor.doctor(project()))


@action
def plan(pilot: str) -> Lines:
    """Say what the registered design could show, and what it would cost."""
    found = registration.read(registration.require_current(project()))
    metrics = stage_publish.metrics_of(project(), pilot) if pilot else None
    return stage_plan.plan(found.design, metrics).rstrip("\n").split("\n")


@action
def verify() -> Lines:
    """Derive every digest and number of the experiment again."""
    return stage_verify.lines(stage_verify.verify(project()))


@action
def compare(**options: Any) -> Lines:
    """Put two finished experiments side by side."""
    return stage_compare.compare(project(), options["with"])


@action
def purge() -> Lines:
    """Remove what earlier runs left outside the project."""
    registration.require_current(project())
    return stage_purge.purge(_session())
