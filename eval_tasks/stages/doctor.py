"""`doit doctor`: everything that a run needs, seen to work on this machine before anything is spent.

Must never contact a provider or lease a login: the agent that it runs talks to the loopback model.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from eval_tasks import files, processes, registration, sandbox, schedule
from eval_tasks.agents import AGENTS
from eval_tasks.agents.contract import Agent, Backend, Executable
from eval_tasks.errors import ExperimentStopped
from eval_tasks.grading.grader import Runtime
from eval_tasks.installs.build import Builder
from eval_tasks.paths import Project
from eval_tasks.processes import Level
from eval_tasks.rehearsal import script
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.stages import gate, session
from eval_tasks.stages.assemble import Assembly, Local, assemble, node_on_path
from eval_tasks.trials import lease

FREE_BYTES = 2 * 1024**3
EARLIEST = 1_735_689_600
"""1 January 2025 in seconds since the epoch: a clock before that is wrong."""
_PROOF = {"proof.txt": b"written by the agent\n"}
_SECONDS = 30.0


@dataclass(frozen=True)
class Check:
    """One line of the doctor's table."""

    name: str
    ok: bool
    said: str

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FIX '} {self.name:<22} {self.said}"


def doctor(project: Project) -> list[Check]:
    """Return the checks for the current experiment, or for `eval.yaml` as it is if none is registered."""
    found: list[Check] = [Check("Python", True, platform.python_version()), _clock()]
    try:
        assembly, local = _gather(project)
    except ExperimentStopped as stopped:
        return [*found, Check("settings", False, str(stopped))]
    settings = assembly.settings.value
    agent: Agent = AGENTS[settings["agent"]["kind"]]
    found += [
        Check("settings and corpus", True, f"{len(assembly.corpus.cases)} cases, {len(assembly.corpus.probes)} probes"),
        Check("agent", True, f"{assembly.executable.kind} {assembly.executable.version}"),
        _tried("credential", lambda: _credential(assembly, local)),
        _tried("limits", lambda: _limits(assembly)),
    ]
    with _bench() as bench:
        drop = os.geteuid() == 0
        executable = agent.adopted(assembly.executable, bench.parent / "packages")
        node = assembly.node
        place = sandbox.adopt(node.path, bench.parent / "packages", node.fingerprint) if drop else node.path
        found.append(_tried("free disk", lambda: _disk(bench)))
        found.append(_tried("graders' Node", lambda: _grading(executable, place, bench)))
        found += _agent_checks(assembly, agent, executable, place, bench)
    return found


def _gather(project: Project) -> tuple[Assembly, Local]:
    experiment = registration.current(project)
    if experiment is None:
        local = Local(None, node_on_path())
        return assemble(project, {}, local), local
    local, _ = gate.read_local(experiment)
    return assemble(project, registration.read(experiment).design["overrides"], local), local


@contextmanager
def _bench() -> Iterator[Path]:
    """Make a folder below the work root and remove it at the end."""
    root = sandbox.work_root(os.environ)
    drop = os.geteuid() == 0
    sandbox.make_work_folder(root, drop=drop)
    bench = root / secrets.token_hex(8)
    sandbox.make_work_folder(bench, drop=drop)
    try:
        yield bench
    finally:
        files.remove_tree(bench)


def _tried(name: str, work: Callable[[], str]) -> Check:
    try:
        return Check(name, True, work())
    except ExperimentStopped as stopped:
        return Check(name, False, str(stopped))


def _clock() -> Check:
    good = time.time() > EARLIEST
    return Check("clock", good, "plausible" if good else "stands in the past; set it, or logins will fail")


def _credential(assembly: Assembly, local: Local) -> str:
    mode = assembly.settings.value["authentication"]
    if mode == "none":
        return "none needed: the loopback model answers"
    agent: Agent = AGENTS[assembly.settings.agent["kind"]]
    if session.secret(agent, mode) is not None:
        return f"{agent.CREDENTIALS[mode]} is set"
    if local.login_home is None:
        raise ExperimentStopped("no login home is registered; register with --auth-home")
    lease.check_login_home(local.login_home, os.environ)
    return "the login home is fit to be leased from"


def _limits(assembly: Assembly) -> str:
    settings = assembly.settings.value
    count = len(assembly.corpus.cases) * len(settings["arms"]) * settings["repeats"]
    most = schedule.worst_case_calls(settings["arms"], count, len(assembly.corpus.probes))
    seconds = most * settings["limits"]["expectedCallSeconds"]
    said = f"at most {most} calls of {settings['limits']['calls']}, about {seconds // 60} of"
    return f"{said} {settings['limits']['deadlineSeconds'] // 60} min at the expected time a call"


def _disk(bench: Path) -> str:
    free = shutil.disk_usage(bench).free
    if free < FREE_BYTES:
        raise ExperimentStopped(f"{free >> 20} MiB are free where trials run; make room for {FREE_BYTES >> 20} MiB")
    return f"{free >> 30} GiB"


def _grading(executable: Executable, node: Path, bench: Path) -> str:
    runtime = Runtime.find(node, executable.bubblewrap, bench)
    if runtime.fault is not None:
        raise ExperimentStopped(runtime.fault)
    return f"{runtime.version} with {' '.join(runtime.machine.flags)}: a right answer passes, a wrong one is found out"


def _agent_checks(assembly: Assembly, agent: Agent, executable: Executable, node: Path, bench: Path) -> Iterator[Check]:
    """Build both installs, look at them through the agent, and let it write a file in a sealed call."""
    settings = assembly.settings.value
    backend = Backend(rehearsal=True, model=settings["agent"]["model"], effort=settings["agent"]["effort"])
    builder = Builder(agent, executable, backend, assembly.library, Level(settings["isolation"]))
    for number, (name, profile) in enumerate(sorted(assembly.profiles.items())):
        install = bench / f"i{number}"

        def build(install: Path = install, name: str = name, number: int = number) -> str:
            exposure = builder.build(install, name, assembly.profiles[name]).exposure
            _ = number
            return (
                f"{exposure.installed} skills, {exposure.listed} listed, {len(exposure.shortened_ids)} shortened,"
                f" {len(exposure.dropped_ids)} dropped, {exposure.startup_context_bytes:,} bytes at the start"
            )

        _ = profile
        yield _tried(f"install {name}", build)
    yield _tried(
        "isolation",
        lambda: _isolation(agent, executable, node, bench, wanted=settings["isolation"], root=assembly.project.root),
    )
    yield _tried("agent writes a file", lambda: _write(agent, executable, backend, node, bench))


def _isolation(agent: Agent, executable: Executable, node: Path, bench: Path, *, wanted: str, root: Path) -> str:
    if sandbox.shown(root):
        raise ExperimentStopped("the project lies below /usr, which every call can read: move it elsewhere")
    box = agent.sealed(executable, bench / "i1", workspace=_workspace(bench, "preflight"), node=node)
    level = sandbox.attainable(box)
    if level is None or (wanted == Level.SEALED and level is not Level.SEALED):
        raise ExperimentStopped(
            f"this machine can do {level or 'no isolation'}, but {wanted} is asked for:"
            " allow unprivileged user namespaces, or set `isolation: agent-sandbox`"
        )
    return f"{level} attainable, {wanted} asked for"


def _workspace(bench: Path, name: str) -> Path:
    workspace = bench / name
    files.write_tree(workspace, {"README.md": b"nothing\n"})
    sandbox.own(workspace, drop=os.geteuid() == 0)
    return workspace


def _write(agent: Agent, executable: Executable, backend: Backend, node: Path, bench: Path) -> str:
    """Run one whole call in which the scripted model writes a file through the agent's own tools."""
    workspace = _workspace(bench, "w")
    box = replace(agent.sealed(executable, bench / "i1", workspace=workspace, node=node))
    behaviour = script.task_behaviour("oracle", {"README.md": b"nothing\n"}, script.Opponents(reference=_PROOF))
    with LoopbackModel() as model, model.play(behaviour) as endpoint:
        call = agent.task_call(box, backend, b"Write proof.txt.", base_url=endpoint.base_url)
        finished = processes.run(
            call.command,
            environment=call.environment,
            stdin=call.stdin,
            wall_seconds=_SECONDS,
            stdout_bytes=call.stdout_bytes,
        )
    reading = agent.read(finished, ())
    written = workspace / "proof.txt"
    if reading.failure is not None or not written.is_file() or written.read_bytes() != _PROOF["proof.txt"]:
        raise ExperimentStopped(
            "a scripted call left no file: the agent's own sandbox can't start here; see docs/isolation.md"
        )
    if not finished.contained.quiescent:
        raise ExperimentStopped("the call's processes were not seen to end; see docs/isolation.md")
    return f"through its own tools, in {finished.elapsed_ms} ms, and nothing was left running"


def lines(found: list[Check]) -> list[str]:
    """Return the table.

    Raises
    ------
    ExperimentStopped
        If a check failed; the table is in its message.
    """
    said = [str(check) for check in found]
    failed = sum(not check.ok for check in found)
    if failed:
        raise ExperimentStopped("\n".join([f"{failed} of {len(found)} checks want mending", *said]))
    return said
