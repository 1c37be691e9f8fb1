"""A bench below the work root, on which the doctor tries what a run needs: both installs, isolation, a call, graders.

Must never contact a provider or lend a login: the agent that it runs talks to the loopback model, or to nobody.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from eval_tasks import files, processes, sandbox
from eval_tasks.agents import AGENTS
from eval_tasks.agents.contract import Agent, Backend, Executable
from eval_tasks.arms import LEAN
from eval_tasks.errors import ExperimentStopped
from eval_tasks.grading.grader import Runtime
from eval_tasks.installs.build import Builder
from eval_tasks.library import Library
from eval_tasks.processes import Level
from eval_tasks.rehearsal import script
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.sandbox import AgentPlace
from eval_tasks.stages.assemble import Assembly

FREE_BYTES = 2 * 1024**3
_PROOF = {"proof.txt": b"written by the agent\n"}
_SECONDS = 30.0
_LANES = 2
"""What is tried at once: nearly all of the time is spent waiting for a child, and small machines have two cores."""

_Result = TypeVar("_Result")

Trying = tuple[str, Callable[[], str]]
"""What is tried, by its name in the table, and how; it returns what to say or raises `ExperimentStopped`."""


@dataclass(frozen=True)
class Bench:
    """Where everything is tried: a folder that is gone afterwards, and the parts as children can reach them."""

    assembly: Assembly
    agent: Agent
    executable: Executable
    node: Path
    folder: Path

    @property
    def level(self) -> Level:
        """Return the isolation level that is asked for."""
        return Level(self.assembly.settings.value["isolation"])

    @property
    def backend(self) -> Backend:
        """Return the backend of a rehearsal, whatever is asked for."""
        asked = self.assembly.settings.value["agent"]
        return Backend(rehearsal=True, model=asked["model"], effort=asked["effort"])

    def builder(self, library: Library) -> Builder:
        """Return what builds an install from a library."""
        return Builder(self.agent, self.executable, self.backend, library, self.level)

    def install(self, name: str) -> Path:
        """Return where an install is built."""
        return self.folder / f"i-{name}"

    def workspace(self, name: str) -> Path:
        """Make a small workspace, owned by the user that calls run as."""
        workspace = self.folder / name
        files.write_tree(workspace, {"README.md": b"nothing\n"})
        sandbox.own(workspace, drop=os.geteuid() == 0)
        return workspace


@contextmanager
def set_up(assembly: Assembly) -> Iterator[Bench]:
    """Make a bench and remove it at the end."""
    drop = os.geteuid() == 0
    root = sandbox.work_root(os.environ)
    folder = root / secrets.token_hex(8)
    for place in (root, folder):
        sandbox.make_work_folder(place, drop=drop)
    try:
        agent: Agent = AGENTS[assembly.settings.value["agent"]["kind"]]
        packages, node = root / "packages", assembly.node
        yield Bench(
            assembly,
            agent,
            agent.adopted(assembly.executable, packages),
            sandbox.adopt(node.path, packages, node.fingerprint) if drop else node.path,
            folder,
        )
    finally:
        files.remove_tree(folder)


def lanes(bench: Bench) -> list[Sequence[Trying]]:
    """Return what is to be tried: each lane in its order, the lanes beside each other."""
    others = sorted(
        bench.assembly.profiles.keys() - {LEAN}, key=lambda name: -len(bench.assembly.profiles[name].skills)
    )
    return [
        [("free disk", lambda: _disk(bench.folder)), ("graders' Node", lambda: _grading(bench))],
        *([(f"install {name}", partial(_build, bench, name))] for name in others),
        [
            (f"install {LEAN}", lambda: _build(bench, LEAN)),
            ("isolation", lambda: _isolation(bench)),
            ("agent writes a file", lambda: _write(bench)),
        ],
    ]


def in_lanes(work: Callable[[Sequence[Trying]], _Result], all_lanes: Sequence[Sequence[Trying]]) -> list[_Result]:
    """Return what each lane comes to, a few lanes at once."""
    with ThreadPoolExecutor(_LANES) as pool:
        return list(pool.map(work, all_lanes))


def _disk(folder: Path) -> str:
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES:
        raise ExperimentStopped(f"{free >> 20} MiB are free where trials run; make room for {FREE_BYTES >> 20} MiB")
    return f"{free >> 30} GiB"


def _grading(bench: Bench) -> str:
    runtime = Runtime.find(bench.node, bench.executable.bubblewrap, bench.folder)
    if runtime.fault is not None:
        raise ExperimentStopped(runtime.fault)
    return f"{runtime.version} with {' '.join(runtime.machine.flags)}: a right answer passes, a wrong one is found out"


def _build(bench: Bench, name: str) -> str:
    builder = bench.builder(bench.assembly.library_of(name))
    exposure = builder.build(bench.install(name), name, bench.assembly.profiles[name]).exposure
    return (
        f"{exposure.installed} skills, {exposure.listed} listed, {len(exposure.shortened_ids)} shortened,"
        f" {len(exposure.dropped_ids)} dropped, {exposure.startup_context_bytes:,} bytes at the start"
    )


def _isolation(bench: Bench) -> str:
    if sandbox.shown(bench.assembly.project.root):
        raise ExperimentStopped("the project lies below /usr, which every call can read: move it elsewhere")
    workspace = bench.workspace("preflight")
    box = bench.agent.sealed(bench.executable, bench.install(LEAN), workspace=workspace, node=bench.node)
    level = sandbox.attainable(box)
    if level is None or (bench.level is Level.SEALED and level is not Level.SEALED):
        raise ExperimentStopped(
            f"this machine can do {level or 'no isolation'}, but {bench.level} is asked for:"
            " allow unprivileged user namespaces, or set `isolation: agent-sandbox`"
        )
    return f"{level} attainable, {bench.level} asked for"


def _place(bench: Bench, workspace: Path) -> AgentPlace:
    """Return where a call runs at the level that is asked for."""
    install = bench.install(LEAN)
    if bench.level is Level.SEALED:
        return bench.agent.sealed(bench.executable, install, workspace=workspace, node=bench.node)
    return bench.agent.unsealed(
        bench.executable, install, bench.backend, call=bench.folder / "call", workspace=workspace, node=bench.node
    )


def _write(bench: Bench) -> str:
    """Run one whole call in which the scripted model writes a file through the agent's own tools."""
    workspace = bench.workspace("w")
    place = _place(bench, workspace)
    behaviour = script.task_behaviour("oracle", {"README.md": b"nothing\n"}, script.Opponents(reference=_PROOF))
    with LoopbackModel() as model, model.play(behaviour) as endpoint:
        call = bench.agent.task_call(place, bench.backend, b"Write proof.txt.", base_url=endpoint.base_url)
        finished = processes.run(
            call.command,
            environment=call.environment,
            stdin=call.stdin,
            wall_seconds=_SECONDS,
            stdout_bytes=call.stdout_bytes,
        )
    reading = bench.agent.read(finished, (), place)
    written = workspace / "proof.txt"
    if reading.failure is not None or not written.is_file() or written.read_bytes() != _PROOF["proof.txt"]:
        raise ExperimentStopped(
            "a scripted call left no file: the agent's own sandbox can't start here; see docs/isolation.md"
        )
    if not finished.contained.quiescent:
        raise ExperimentStopped("the call's processes were not seen to end; see docs/isolation.md")
    return f"through its own tools, in {finished.elapsed_ms} ms, and nothing was left running"
