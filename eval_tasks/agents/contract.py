"""What the evaluator needs from an agent CLI: one narrow protocol and the values that cross it.

Must never know a detail of one agent: versions, arguments, home and event stream belong to its own module.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from eval_tasks.errors import FailureCode
from eval_tasks.processes import Command, Finished, Level
from eval_tasks.sandbox import AgentBox, AgentFolder, AgentPlace

Authentication = Literal["none", "login-home", "api-key", "oauth-token"]


@dataclass(frozen=True)
class Executable:
    """A supported agent CLI on this machine.

    Parameters
    ----------
    kind, version
        Such as `codex`, `0.155.1`.
    native
        The native binary, never a launcher script.
    package
        The folder that holds it with all it needs.
    fingerprint
        SHA-256 of the native binary.
    bubblewrap
        The outer sandbox of its calls: the one in the package, or for an agent that ships none the toolchain's.
    """

    kind: str
    version: str
    native: Path
    package: Path
    fingerprint: str
    bubblewrap: Path


@dataclass(frozen=True)
class Backend:
    """What the agent talks to, as registered.

    Parameters
    ----------
    rehearsal
        Whether a loopback model answers; its address is given to each call.
    model, effort
        The model's name and its reasoning effort; None leaves the agent's default.
    authentication
        Which credential a call gets.
    denied
        Host folders that the agent's own sandbox must not read at level `agent-sandbox`; unused when sealed.
    refresh_url
        Where logins are refreshed instead of at the provider, for tests.
    """

    rehearsal: bool
    model: str
    effort: str | None = None
    authentication: Authentication = "none"
    denied: tuple[str, ...] = ()
    refresh_url: str | None = None


@dataclass(frozen=True)
class Call:
    """One call, ready for `processes.run`; private, never recorded."""

    command: Command
    environment: Mapping[str, str] = field(repr=False)
    stdin: bytes = field(repr=False)
    stdout_bytes: int


@dataclass(frozen=True)
class Usage:
    """Token counters of one call, all nonnegative and cached at most input; an unknown usage is None instead."""

    input_tokens: int
    cached_input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Reading:
    """What one call's event stream and end say.

    Parameters
    ----------
    failure
        Why the call is no completed turn, or None.
    stops_run
        Whether the failure is one that no further call can escape: a credential, a quota or a usage limit.
    retry_after_seconds, retry_at
        When the provider says to come back: in seconds, or a time of day such as `2:30 PM`, maybe with a date.
    usage
        From the one completed turn, or None where it is missing, malformed, all zero or ambiguous.
    transient_errors
        Errors that the agent reported and overcame, or reported before it gave up.
    commands, failed_commands
        Shell commands, and those that did not end with status zero.
    patches, failed_patches
        The agent's own file changes, and those that failed.
    sandbox_dead
        Whether there was at least one command or patch and each failed with the sandbox's own error.
    opened_skills
        Ids of installed skills whose text the agent read through a command, sorted.
    unknown_opens
        How many other skill files it read or tried to read.
    install_alarms
        Reports that a skill could not be loaded.
    message
        The last message, for a proposal; in memory only.
    """

    failure: FailureCode | None
    stops_run: bool = False
    retry_after_seconds: float | None = None
    retry_at: str | None = None
    usage: Usage | None = None
    transient_errors: int = 0
    commands: int = 0
    failed_commands: int = 0
    patches: int = 0
    failed_patches: int = 0
    sandbox_dead: bool = False
    opened_skills: tuple[str, ...] = ()
    unknown_opens: int = 0
    install_alarms: int = 0
    message: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ListedSkill:
    """A skill as the agent itself lists it; the id is its folder's name."""

    id: str
    name: str
    description: str = field(repr=False)
    system: bool
    enabled: bool


@dataclass(frozen=True)
class Discovery:
    """What the agent's own discovery finds in a home.

    Parameters
    ----------
    skills
        Every skill, the agent's own included.
    strangers
        Names of skills that lie outside the home's skill folder.
    faults
        How many skill files the agent could not read.
    """

    skills: tuple[ListedSkill, ...]
    strangers: tuple[str, ...]
    faults: int

    def ids(self, *, system: bool) -> list[str]:
        """Return the sorted ids of the agent's own skills, or of all others."""
        return sorted(skill.id for skill in self.skills if skill.system is system)


@dataclass(frozen=True)
class Exposure:
    """How much of an install's skills a model sees at the start; the agent's own skills are not counted.

    Parameters
    ----------
    installed
        Skills that the agent discovers.
    listed
        Those that the model is told of.
    shortened_ids, dropped_ids
        Told of with a cut description; not told of at all.
    own_installed, own_listed
        How many skills of its own the agent discovers, and tells the model of.
    startup_context_bytes
        All that the model reads before the prompt, without base instructions and tools.
    """

    installed: int
    listed: int
    shortened_ids: tuple[str, ...]
    dropped_ids: tuple[str, ...]
    own_installed: int
    own_listed: int
    startup_context_bytes: int


class Agent(Protocol):
    """What the module of an agent CLI offers; a module satisfies it, not a class."""

    KIND: str
    VERSIONS: tuple[str, ...]
    DIFFERENCES: tuple[str, ...]
    LEVELS: tuple[Level, ...]
    """The isolation levels that it can be run at."""
    EFFORTS: tuple[str, ...]
    CREDENTIALS: Mapping[Authentication, str | None]
    """The ways to authenticate with its provider: the variable of ours that holds the secret, None for a lent login."""
    ADMIN_FOLDER: Path
    """Settings and skills for all users of a machine, which a call outside a box would read as well."""
    UNWANTED: tuple[str, ...]
    """What would change a later prompt if a call left it in its own copy of an install."""
    OWN_SKILLS: str
    """Folder of the agent's own skills in an install; empty if they are part of the binary."""

    def in_modules(self, modules: Path, version: str) -> Executable:
        """Return the executable of a supported version from the toolchain's `node_modules`, checked by running it."""

    def at(self, path: Path, version: str, modules: Path) -> Executable:
        """Return the executable that a user's path means: a launcher, a link to one, or the native binary."""

    def adopted(self, executable: Executable, folder: Path) -> Executable:
        """Return the executable below `folder`, where children can reach it and no path names the project."""

    def misread(self, prompt: str) -> str | None:
        """Return what the agent would take a prompt for, if not for words to the model."""

    def sealed(
        self,
        executable: Executable,
        install: Path,
        workspace: Path | None,
        node: Path | None = None,
        auth: Path | None = None,
        *,
        network: bool = True,
    ) -> AgentBox:
        """Return the box of a call on a golden install; without a workspace it is empty and in memory."""

    def unsealed(
        self,
        executable: Executable,
        install: Path,
        backend: Backend,
        *,
        call: Path,
        workspace: Path,
        node: Path | None = None,
    ) -> AgentFolder:
        """Copy a golden install into a call's folder and return the place of a call at level `agent-sandbox`."""

    def install_copy(self, place: AgentFolder) -> Path:
        """Return the call's own copy of the install at level `agent-sandbox`, which the agent can write."""

    def write_home(self, install: Path, backend: Backend, executable: Executable, level: Level) -> None:
        """Write the agent's configuration files and its own skills into a golden install that holds the skills."""

    def task_call(
        self,
        place: AgentPlace,
        backend: Backend,
        prompt: bytes,
        base_url: str | None = None,
        api_key: str | None = None,
    ) -> Call:
        """Return the call that works on a case."""

    def proposal_call(
        self,
        place: AgentPlace,
        backend: Backend,
        prompt: bytes,
        base_url: str | None = None,
        api_key: str | None = None,
    ) -> Call:
        """Return the read-only call that proposes a skill."""

    def read(self, finished: Finished, installed: Collection[str], place: AgentPlace | None = None) -> Reading:
        """Return what a finished call's stream says; at level `agent-sandbox` the place tells its paths."""

    def discover(self, place: AgentPlace) -> Discovery:
        """Return what the agent itself discovers, without a model call."""

    def exposure(self, place: AgentPlace, backend: Backend, discovery: Discovery) -> Exposure:
        """Return what a model would be told at the start, without a model call."""
