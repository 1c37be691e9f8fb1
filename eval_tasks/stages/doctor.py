"""`doit doctor`: everything that a run needs, seen to work on this machine before anything is spent.

Must never contact a provider or lease a login: the agent that it runs talks to the loopback model.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval_tasks import digests, registration, schedule
from eval_tasks.agents import AGENTS
from eval_tasks.agents.contract import Agent, Executable
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.paths import Project
from eval_tasks.stages import bench, completion, gate
from eval_tasks.stages.assemble import Assembly, Local, assemble, node_on_path
from eval_tasks.stages.bench import Trying
from eval_tasks.stages.session import Session, secret
from eval_tasks.trials import lease

EARLIEST = 1_735_689_600
"""1 January 2025 in seconds since the epoch: a clock before that is wrong."""


@dataclass(frozen=True)
class Check:
    """One line of the doctor's table."""

    name: str
    ok: bool
    said: str
    code: FailureCode | None = None

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FIX '} {self.name:<22} {self.said}"


def doctor(project: Project) -> list[Check]:
    """Return the checks for the current experiment, or for `eval.yaml` as it is if none is registered."""
    found: list[Check] = [Check("Python", True, platform.python_version()), _clock()]
    try:
        assembly, local = _gather(project)
    except ExperimentStopped as stopped:
        return [*found, Check("settings", False, str(stopped))]
    found += [
        Check("settings and corpus", True, f"{len(assembly.corpus.cases)} cases, {len(assembly.corpus.probes)} probes"),
        Check("agent", True, _agent(assembly.executable)),
        _tried("credential", lambda: _credential(assembly, local)),
        _tried("limits", lambda: _limits(assembly)),
    ]
    with bench.set_up(assembly) as there:
        for checks in bench.in_lanes(_try, bench.lanes(there)):
            found += checks
    return found


def examine(session: Session) -> list[str]:
    """Run the doctor before a real provider is called, if anything is left to run.

    Raises
    ------
    ExperimentStopped
        With the table, if something wants mending.
    """
    if session.registration.rehearsing or completion.is_complete(session.experiment, session.registration):
        return []
    found = doctor(session.project)
    with session.noting_a_stop():
        lines(found)
    return [f"doctor: all {len(found)} checks are ok"]


def _try(lane: Sequence[Trying]) -> list[Check]:
    return [_tried(name, work) for name, work in lane]


def _agent(executable: Executable) -> str:
    return f"{executable.kind} {executable.version}, native binary {digests.short(executable.fingerprint)}"


def _gather(project: Project) -> tuple[Assembly, Local]:
    experiment = registration.current(project)
    if experiment is None:
        local = Local(None, node_on_path())
        return assemble(project, {}, local), local
    local, _ = gate.read_local(experiment)
    return assemble(project, registration.read(experiment).design["overrides"], local), local


def _tried(name: str, work: Callable[[], str]) -> Check:
    try:
        return Check(name, True, work())
    except ExperimentStopped as stopped:
        return Check(name, False, str(stopped), stopped.code)


def _clock() -> Check:
    good = time.time() > EARLIEST
    return Check("clock", good, "plausible" if good else "stands in the past; set it, or logins will fail")


def _credential(assembly: Assembly, local: Local) -> str:
    mode = assembly.settings.value["authentication"]
    if mode == "none":
        return "none needed: the loopback model answers"
    agent: Agent = AGENTS[assembly.settings.agent["kind"]]
    if secret(agent, mode) is not None:
        return f"{agent.CREDENTIALS[mode]} is set"
    if local.login_home is None:
        raise ExperimentStopped("no login home is registered; register with --auth-home", FailureCode.AUTHENTICATION)
    lease.check_login_home(local.login_home, os.environ)
    return "the login home is fit to be leased from"


def _limits(assembly: Assembly) -> str:
    settings = assembly.settings.value
    count = len(assembly.corpus.cases) * len(settings["arms"]) * settings["repeats"]
    canaries = 0 if assembly.settings.rehearsing else len(assembly.profiles)
    most = schedule.worst_case_calls(settings["arms"], count, len(assembly.corpus.probes), canaries)
    seconds = schedule.expected_seconds(most, settings["jobs"], settings["limits"]["expectedCallSeconds"])
    said = f"at most {most} calls of {settings['limits']['calls']}, about {seconds // 60} of"
    return f"{said} {settings['limits']['deadlineSeconds'] // 60} min at the expected time a call"


def lines(found: list[Check]) -> list[str]:
    """Return the table.

    Raises
    ------
    ExperimentStopped
        If a check failed; the table is in its message, and the first code that a check has is its code.
    """
    said = [str(check) for check in found]
    failed = [check for check in found if not check.ok]
    if failed:
        code = next((check.code for check in failed if check.code is not None), None)
        raise ExperimentStopped("\n".join([f"{len(failed)} of {len(found)} checks want mending", *said]), code)
    return said
