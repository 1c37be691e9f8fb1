"""The tiny agent of the tests: all that the evaluator needs to know of it, in one module.

Must never be a row of the real table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from eval_tasks import digests, processes, sandbox
from eval_tasks.agents import outer_bubblewrap
from eval_tasks.agents.contract import (
    Authentication,
    Backend,
    Call,
    Discovery,
    Executable,
    Exposure,
    ListedSkill,
    Reading,
    Usage,
)
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.processes import Finished, Level
from eval_tasks.sandbox import AgentBox, AgentFolder, AgentPlace, Bind, Bubblewrap

KIND = "tiny"
VERSIONS: tuple[str, ...] = ("1.0.0",)
LEVELS: tuple[Level, ...] = (Level.SEALED,)
EFFORTS: tuple[str, ...] = ()
CREDENTIALS: Mapping[Authentication, str | None] = {"api-key": "TINY_KEY"}
ADMIN_FOLDER = Path("/etc/tiny")
UNWANTED: tuple[str, ...] = ()
OWN_SKILLS = ""
DIFFERENCES: tuple[str, ...] = ("everything but the skills",)


def in_modules(modules: Path, version: str) -> Executable:
    return at(modules / "tiny" / "tiny", version, modules)


def at(path: Path, version: str, modules: Path) -> Executable:
    native = Path(os.path.realpath(path))
    if version not in VERSIONS or not native.is_file():
        raise ExperimentStopped(f"tiny {version} is not here; known is {VERSIONS[0]}")
    return Executable(
        KIND, version, native, native.parent, digests.of_file(native), outer_bubblewrap.in_modules(modules)
    )


def adopted(executable: Executable, folder: Path) -> Executable:
    package = sandbox.adopt(executable.package, folder, executable.fingerprint)
    outer = sandbox.adopt(executable.bubblewrap, folder, sandbox.fingerprint_of(executable.bubblewrap))
    return replace(executable, package=package, native=package / "tiny", bubblewrap=outer)


def misread(prompt: str) -> str | None:
    return None


def sealed(
    executable: Executable,
    install: Path,
    workspace: Path | None,
    node: Path | None = None,
    auth: Path | None = None,
    *,
    network: bool = True,
) -> AgentBox:
    home = f"{sandbox.HOME}/.tiny"
    return AgentBox(
        Bubblewrap.at(executable.bubblewrap),
        executable.package,
        workspace,
        binds=(Bind(install / "skills", f"{home}/skills"),),
        folders=(home,),
        node=node,
        network=network,
        nested=False,
    )


def unsealed(
    executable: Executable, install: Path, backend: Backend, *, call: Path, workspace: Path, node: Path | None = None
) -> AgentFolder:
    raise NotImplementedError


def install_copy(place: AgentFolder) -> Path:
    raise NotImplementedError


def write_home(install: Path, backend: Backend, executable: Executable, level: Level = Level.SEALED) -> None:
    sandbox.make_readable(install)


def task_call(
    place: AgentPlace, backend: Backend, prompt: bytes, base_url: str | None = None, api_key: str | None = None
) -> Call:
    return _call(place, prompt, base_url, "yes")


def proposal_call(
    place: AgentPlace, backend: Backend, prompt: bytes, base_url: str | None = None, api_key: str | None = None
) -> Call:
    return _call(place, prompt, base_url, "")


def _call(place: AgentPlace, prompt: bytes, base_url: str | None, may_work: str) -> Call:
    program = [f"{place.seen_package}/tiny", "work", base_url or "", may_work]
    return Call(place.command(program), _environment(place), prompt, 1 << 20)


def _environment(place: AgentPlace) -> dict[str, str]:
    return {"PATH": place.search_path, "HOME": place.home, "TMPDIR": place.temp}


def read(finished: Finished, installed: Collection[str], place: AgentPlace | None = None) -> Reading:
    if finished.stopped_by is not None or finished.exit_status != 0:
        return Reading(FailureCode.CALL_TIMEOUT if finished.stopped_by == "wall" else FailureCode.AGENT_FAILED)
    answer = json.loads(finished.stdout)
    spent = answer["spent"]
    usage = Usage(spent["input"], spent["cached"], spent["output"])
    return Reading(None, usage=usage, commands=spent["commands"], message=answer["text"])


def discover(place: AgentPlace) -> Discovery:
    names = _asked(place, "list").split()
    return Discovery(tuple(ListedSkill(name, name, "", system=False, enabled=True) for name in names), (), 0)


def exposure(place: AgentPlace, backend: Backend, discovery: Discovery) -> Exposure:
    told = _asked(place, "start")
    return Exposure(len(discovery.skills), told.count("- "), (), (), 0, 0, len(told))


def _asked(place: AgentPlace, question: str) -> str:
    finished = processes.run(
        place.command([f"{place.seen_package}/tiny", question]),
        environment=_environment(place),
        wall_seconds=10,
        stdout_bytes=1 << 20,
    )
    return finished.stdout.decode("utf-8")
