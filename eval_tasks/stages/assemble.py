"""Everything that a registration binds, gathered from the project folder as it is now.

Must never write anything: `register` retains what is gathered here, and every later stage gathers it again to compare.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import corpus, experiment, library, origin
from eval_tasks.agents import AGENTS
from eval_tasks.agents.contract import Agent, Executable
from eval_tasks.arms import BASELINE, PINNED
from eval_tasks.binding import AgentIdentity, Node, Parts
from eval_tasks.corpus import Corpus
from eval_tasks.errors import ExperimentStopped
from eval_tasks.experiment import Settings
from eval_tasks.installs import profiles
from eval_tasks.installs.profiles import Profile
from eval_tasks.library import Library
from eval_tasks.paths import PACKAGE, Project
from eval_tasks.selection import command
from eval_tasks.selection.command import Command
from eval_tasks.selection.resolver import Resolve

MINIMUM_NODE = 20


@dataclass(frozen=True)
class Local:
    """Places on this machine; kept in `local.json` and nowhere else."""

    executable: Path | None
    node: Path
    login_home: Path | None = None


@dataclass(frozen=True)
class Assembly:
    """The gathered parts, with what execution needs of them."""

    project: Project
    settings: Settings
    corpus: Corpus
    library: Library
    pinned: Library | None
    profiles: Mapping[str, Profile]
    selector: Command | None
    executable: Executable
    node: Node

    def library_of(self, install: str) -> Library:
        """Return the library that an install is built from."""
        return self.pinned if install == PINNED and self.pinned is not None else self.library

    @property
    def resolve(self) -> Resolve:
        """Return the registered selector."""
        return command.resolve_by(self.selector)

    def parts(self, *, proof: str | None = None, accepted_shortfall: bool = False) -> Parts:
        """Return what a design is made from."""
        agent = AgentIdentity(self.executable.kind, self.executable.version, self.executable.fingerprint)
        return Parts(
            settings=self.settings,
            corpus=self.corpus,
            proof=proof,
            library=self.library,
            profiles=self.profiles,
            agent=agent,
            node=self.node,
            pinned=self.pinned,
            selector=self.selector,
            accepted_shortfall=accepted_shortfall,
        )

    @property
    def watched(self) -> list[Path]:
        """Return the files and folders in which every change may be a drift."""
        root = self.project.root
        folder = experiment.folder(self.project, self.settings.corpus, "corpus")
        profiles = [root / place for place in _profile_places(self.settings).values()]
        libraries = [found.root for found in (self.library, self.pinned) if found is not None]
        selector = [] if self.selector is None else self.selector.files
        tools = [self.executable.native, self.node.path, *selector]
        return [root / "dodo.py", self.project.settings, PACKAGE, folder, *profiles, *libraries, *tools]


def assemble(project: Project, overrides: Mapping[str, Any], local: Local) -> Assembly:
    """Gather and check everything that a registration binds.

    Raises
    ------
    ExperimentStopped
        With one line for the first thing that is missing or wrong.
    """
    settings = experiment.load(project, overrides)
    agent = _agent(settings)
    found_corpus = corpus.load(experiment.folder(project, settings.corpus, "corpus"), settings.corpus)
    found_library = library.load(origin.locate(settings.value["library"], project))
    pinned = _pinned(project, settings)
    _check_skills(found_corpus, found_library)
    _check_prompts(found_corpus, agent)
    return Assembly(
        project=project,
        settings=settings,
        corpus=found_corpus,
        library=found_library,
        pinned=pinned,
        profiles=_profiles(project, settings, found_library, pinned),
        selector=command.chosen(settings.value["selector"], project.root),
        executable=_executable(project, settings, agent, local.executable),
        node=find_node(local.node),
    )


def _agent(settings: Settings) -> Agent:
    """Return the agent of the settings, if it can do what they ask of it."""
    wanted = settings.agent
    agent = AGENTS.get(wanted["kind"])
    if agent is None:
        raise ExperimentStopped(f"eval.yaml: agent.kind: must be one of {', '.join(AGENTS)}, not {wanted['kind']}")
    asked: list[tuple[str, str | None, Collection[str | None]]] = [
        ("agent.effort", wanted["effort"], (None, *agent.EFFORTS)),
        ("authentication", settings.value["authentication"], ("none", *agent.CREDENTIALS)),
        ("isolation", settings.value["isolation"], [str(level) for level in agent.LEVELS]),
    ]
    for place, value, known in asked:
        if value not in known:
            choices = ", ".join(choice for choice in known if choice is not None)
            raise ExperimentStopped(f"{place}: {value} is not for {agent.KIND}; set it to one of {choices}")
    return agent


def _check_prompts(found: Corpus, agent: Agent) -> None:
    for case in found.cases:
        other = agent.misread(case.prompt)
        if other is not None:
            raise ExperimentStopped(
                f"corpus/cases/{case.id}/case.yaml: prompt: {agent.KIND} would take it for {other}; reword it"
            )


def _check_skills(found: Corpus, available: Library) -> None:
    """Refuse a case or probe that expects a skill which the library does not have."""
    for case in found.cases:
        if case.skill is not None and case.skill not in available.skills:
            raise ExperimentStopped(f"corpus/cases/{case.id}/case.yaml: skill: the library has no {case.skill}")
    for probe in found.probes:
        for skill in probe.expected_ids or ():
            if skill not in available.skills:
                raise ExperimentStopped(f"corpus/probes.yaml: {probe.id}: the library has no {skill}")


def _pinned(project: Project, settings: Settings) -> Library | None:
    """Return the library of the arm `pinned`, or None without that arm."""
    source, wanted = settings.value.get("pinned"), PINNED in settings.value["arms"]
    if source is None:
        if wanted:
            raise ExperimentStopped(
                "eval.yaml: arms: `pinned` needs a library and a profile of its own:"
                " add `pinned: {library: {...}, profile: corpus/profiles/full.yaml}`"
            )
        return None
    if not wanted:
        raise ExperimentStopped("eval.yaml: pinned: no arm uses it; add `pinned` to arms, or remove the setting")
    return library.load(origin.locate(source["library"], project, "pinned.library"))


def _profile_places(settings: Settings) -> dict[str, str]:
    """Return where each profile of the settings lies, relative to the project, by the install's name."""
    pinned = settings.value.get("pinned")
    return {**settings.value["profiles"], **({} if pinned is None else {PINNED: pinned["profile"]})}


def _profiles(project: Project, settings: Settings, available: Library, pinned: Library | None) -> dict[str, Profile]:
    found = {}
    for name, place in _profile_places(settings).items():
        held = pinned if name == PINNED and pinned is not None else available
        found[name] = profiles.load(experiment.folder(project, place, f"profile {name}"), place, held)
    if BASELINE in settings.value["arms"]:
        found[BASELINE] = profiles.NOTHING
    return found


def _executable(project: Project, settings: Settings, agent: Agent, given: Path | None) -> Executable:
    version = settings.agent["version"]
    return agent.in_modules(project.modules, version) if given is None else agent.at(given, version, project.modules)


def node_on_path() -> Path:
    """Return the Node.js that stands first in PATH.

    Raises
    ------
    ExperimentStopped
        If there is none.
    """
    found = shutil.which("node")
    if found is None:
        raise ExperimentStopped(f"there is no Node.js on this PATH; install version {MINIMUM_NODE} or later")
    return Path(found).resolve()


def find_node(path: Path) -> Node:
    """Return a Node.js with its version.

    Raises
    ------
    ExperimentStopped
        If it can't be run or is too old.
    """
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, timeout=20, check=True, text=True)
        version = ran.stdout.strip().removeprefix("v")
        major = int(version.split(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ExperimentStopped("Node.js can't be run; install it anew and register again") from error
    if major < MINIMUM_NODE:
        raise ExperimentStopped(f"Node.js {version} is too old to shut graders in; install {MINIMUM_NODE} or later")
    return Node(path, version)
