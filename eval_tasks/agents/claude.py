"""Claude Code: where its native binary is, how a home and a call of it look, and what it shows of its skills.

Must never start the npm launcher, run a version that it does not know, or put a credential on a command line.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval_tasks import digests, processes, records, sandbox
from eval_tasks.agents import claude_events, outer_bubblewrap
from eval_tasks.agents.contract import (
    Authentication,
    Backend,
    Call,
    Discovery,
    Executable,
    Exposure,
    ListedSkill,
    Reading,
)
from eval_tasks.agents.native import version_of
from eval_tasks.errors import ExperimentStopped
from eval_tasks.processes import Boxed, Finished, Level
from eval_tasks.rehearsal import messages
from eval_tasks.rehearsal.behaviour import Behaviour, Say
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.sandbox import AgentBox, AgentFolder, AgentPlace, Bind, Bubblewrap

KIND = "claude"
VERSIONS: tuple[str, ...] = ("2.1.332",)
LEVELS: tuple[Level, ...] = (Level.SEALED,)
"""Its own sandbox leaves the whole disk readable, and where it can't start commands run without it."""

EFFORTS: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")
CREDENTIALS: Mapping[Authentication, str | None] = {
    "api-key": "ANTHROPIC_API_KEY",
    "oauth-token": "CLAUDE_CODE_OAUTH_TOKEN",
}
ADMIN_FOLDER = Path("/etc/claude-code")
UNWANTED: tuple[str, ...] = ()
OWN_SKILLS = ""
"""Its own skills are part of the binary."""

DIFFERENCES: tuple[str, ...] = (
    "no CLAUDE.md, AGENTS.md, rules, commands, sub-agents, hooks, plugins or MCP servers of the user",
    "only the tools Bash, Edit, Read, Write and Skill: no sub-agents, workflows, to-do lists or web access",
    "no memory between calls, no session files and no background commands",
    "no mention of a file by `@` in a prompt",
    "no remote feature flags, no telemetry and no look for updates",
    "permissions are never asked for, and commands run in the outer sandbox with its network",
    "retries are bounded",
)
"""What an everyday home of Claude Code has, or does, and ours has not; facts/claude.md 9 says why each."""

SETTINGS = "settings.json"
SKILLS = "skills"
TASK_STDOUT_BYTES = 64 * 1024 * 1024
PROPOSAL_STDOUT_BYTES = 64 * 1024

_PACKAGE = "@anthropic-ai/claude-code"
_TARGETS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
_NATIVE = "claude"
_HOME = ".claude"
_TOOLS = "Bash,Edit,Read,Write,Skill"
_SETTINGS = {"disableAllHooks": True}
_SWITCHES = (
    *("DISABLE_AUTO_MEMORY", "DISABLE_BACKGROUND_TASKS", "DISABLE_CLAUDE_MDS", "DISABLE_FEATURE_FLAGS"),
    *("DISABLE_FILE_MENTIONS", "DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_NONSTREAMING_FALLBACK"),
)
_PLAIN_SWITCHES = ("DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "DISABLE_TELEMETRY")
_RETRIES = 6
_REHEARSED_RETRIES = 2
"""Each further one takes twice as long as the one before it, and a scripted fault does not go away."""

_NO_KEY = "rehearsal"
_NO_SANDBOX = "Claude Code has no sandbox of its own that shuts it in: set `isolation: sealed`"
_DESCRIPTORS = {
    "api-key": "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "oauth-token": "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
}
"""Where it looks for the number of a pipe that holds its key or token."""

_QUERY_SECONDS = 30.0
_QUERY_BYTES = 16 * 1024 * 1024
_VERSION_LINE = re.compile(r"(\S+) \(Claude Code\)")
_PROMPT = "Say hello."
_LISTING = "The following skills are available for use with the Skill tool:"
_REMINDER_END = "</system-reminder>"
_OF_USER = " (user)"

# Where it is


def in_modules(modules: Path, version: str) -> Executable:
    """Return the executable of a supported version from the toolchain's `node_modules`, checked by running it.

    Raises
    ------
    ExperimentStopped
        If the version is none of the supported or is not installed.
    """
    _check_version(version)
    native = modules / f"{_PACKAGE}-{_platform()}" / _NATIVE
    if not native.is_file():
        raise ExperimentStopped(f"Claude Code {version} is not installed; run `doit toolchain`")
    return at(native, version, modules)


def at(path: Path, version: str, modules: Path) -> Executable:
    """Return the executable that a user's path means: the native binary, or the npm package's launcher.

    Raises
    ------
    ExperimentStopped
        If the path is no Claude Code or not the wanted version.
    """
    _check_version(version)
    native = _native_of(Path(os.path.realpath(path)))
    fingerprint = digests.of_file(native)
    found = version_of(native, fingerprint, _VERSION_LINE, _QUERY_SECONDS)
    if found != version:
        raise ExperimentStopped(
            f"the executable is Claude Code {found or 'of an unknown version'}, not {version}; "
            f"give --executable a Claude Code {version} or change agent.version (supported: {', '.join(VERSIONS)})"
        )
    return Executable(KIND, version, native, native.parent, fingerprint, outer_bubblewrap.in_modules(modules))


def _check_version(version: str) -> None:
    if version not in VERSIONS:
        raise ExperimentStopped(f"Claude Code {version} is not supported; choose one of {', '.join(VERSIONS)}")


def _native_of(path: Path) -> Path:
    """Return the native binary that a resolved path means; without npm's install scripts the launcher is a stub."""
    if path.parent.name == "bin" and path.parent.parent.name == "claude-code":
        path = path.parent.parent.with_name(f"claude-code-{_platform()}") / _NATIVE
    if path.name == _NATIVE and (path.parent / "package.json").is_file() and path.is_file():
        return path
    raise ExperimentStopped(
        "--executable is no Claude Code; give the path of the binary in its platform's package of node_modules"
    )


def _platform() -> str:
    found = _TARGETS.get(platform.machine()) if platform.system() == "Linux" else None
    if found is None:
        raise ExperimentStopped("Claude Code is run on Linux on x86_64 or aarch64 only; use such a machine")
    return found


def adopted(executable: Executable, folder: Path) -> Executable:
    """Return the executable below `folder`, where children can reach it and no path names the project."""
    package = sandbox.adopt(executable.package, folder, executable.fingerprint)
    outer = sandbox.adopt(executable.bubblewrap, folder, sandbox.fingerprint_of(executable.bubblewrap))
    return replace(executable, package=package, native=package / _NATIVE, bubblewrap=outer)


def misread(prompt: str) -> str | None:
    """Return what Claude Code would take a prompt for, other than for words to a model."""
    return "a command of its own (it begins with `/`)" if prompt.lstrip().startswith("/") else None


# Where a call runs


def sealed(
    executable: Executable,
    install: Path,
    workspace: Path | None,
    node: Path | None = None,
    auth: Path | None = None,
    *,
    network: bool = True,
) -> AgentBox:
    """Return the box of a call on a golden install; without a workspace it is empty and in memory."""
    if auth is not None:
        raise ValueError("a login is lent to Codex only; Claude Code gets a key or a token")
    home = f"{sandbox.HOME}/{_HOME}"
    return AgentBox(
        Bubblewrap.at(executable.bubblewrap),
        executable.package,
        workspace,
        binds=tuple(Bind(install / name, f"{home}/{name}") for name in (SETTINGS, SKILLS) if (install / name).exists()),
        folders=(home,),
        node=node,
        network=network,
        nested=False,
    )


def unsealed(
    executable: Executable, install: Path, backend: Backend, *, call: Path, workspace: Path, node: Path | None = None
) -> AgentFolder:
    """Refuse a call without the outer box."""
    raise ExperimentStopped(_NO_SANDBOX)


def install_copy(place: AgentFolder) -> Path:
    """Refuse what only exists at level `agent-sandbox`."""
    raise ExperimentStopped(_NO_SANDBOX)


# What a home holds


def write_home(install: Path, backend: Backend, executable: Executable, level: Level = Level.SEALED) -> None:
    """Write Claude Code's settings into a golden install that already holds the profile's skills."""
    (install / SETTINGS).write_bytes(records.pretty(_SETTINGS))
    sandbox.make_readable(install)


# The calls


def task_call(
    place: AgentPlace, backend: Backend, prompt: bytes, base_url: str | None = None, api_key: str | None = None
) -> Call:
    """Return the call that works on a case.

    Parameters
    ----------
    prompt
        Written to stdin: an argument is limited in size.
    base_url
        Where the loopback model listens, at the rehearsal backend.
    api_key
        The key or token, read by the agent process from a pipe: what it runs could read its environment.
    """
    program = [
        *_print(place, backend, _TOOLS),
        # The outer box is what shuts it in; every other mode denies commands that no person is there to allow.
        *("--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--verbose"),
    ]
    return _call(place, backend, program, prompt, base_url=base_url, api_key=api_key, stdout_bytes=TASK_STDOUT_BYTES)


def proposal_call(
    place: AgentPlace, backend: Backend, prompt: bytes, base_url: str | None = None, api_key: str | None = None
) -> Call:
    """Return the call that proposes a skill: no tools at all, one result."""
    program = [*_print(place, backend, ""), "--output-format", "json"]
    return _call(
        place, backend, program, prompt, base_url=base_url, api_key=api_key, stdout_bytes=PROPOSAL_STDOUT_BYTES
    )


def _call(
    place: AgentPlace,
    backend: Backend,
    program: Sequence[str],
    prompt: bytes,
    *,
    base_url: str | None,
    api_key: str | None,
    stdout_bytes: int,
) -> Call:
    environment = _environment(place, backend, base_url)
    return Call(_shut_in(place, program, backend, api_key), environment, prompt, stdout_bytes)


def _print(place: AgentPlace, backend: Backend, tools: str) -> list[str]:
    return [
        *(f"{place.seen_package}/{_NATIVE}", "-p", "--model", backend.model, "--no-session-persistence"),
        *("--setting-sources", "user", "--strict-mcp-config", "--tools", tools),
        *([] if backend.effort is None else ["--effort", backend.effort]),
    ]


def _environment(place: AgentPlace, backend: Backend, base_url: str | None) -> dict[str, str]:
    if backend.rehearsal != (base_url is not None):
        raise ValueError("a loopback address belongs to the rehearsal backend, and only to it")
    environment = _plain_environment(place)
    if base_url is not None:
        # The agent adds the version of the protocol itself.
        environment["ANTHROPIC_BASE_URL"] = base_url.removesuffix("/v1")
        environment["CLAUDE_CODE_MAX_RETRIES"] = str(_REHEARSED_RETRIES)
    return environment


def _shut_in(place: AgentPlace, program: Sequence[str], backend: Backend, api_key: str | None) -> Boxed:
    """Return the boxed program with its key or token; a rehearsal without one gets a word that stands for a key."""
    if (CREDENTIALS.get(backend.authentication) is not None) != (api_key is not None):
        raise ValueError("a key or token belongs to an authentication by one, and only to it")
    command = place.command(program)
    if not isinstance(command, Boxed):
        raise ExperimentStopped(_NO_SANDBOX)
    variable = _DESCRIPTORS["api-key" if api_key is None else backend.authentication]
    return replace(command, secrets=((variable, (api_key or _NO_KEY).encode("utf-8")),))


def _plain_environment(place: AgentPlace) -> dict[str, str]:
    return {
        "PATH": place.search_path,
        "HOME": place.home,
        "CLAUDE_CONFIG_DIR": f"{place.home}/{_HOME}",
        "TMPDIR": place.temp,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "SHELL": "/bin/bash",
        "CLAUDE_CODE_MAX_RETRIES": str(_RETRIES),
        **{f"CLAUDE_CODE_{name}": "1" for name in _SWITCHES},
        **dict.fromkeys(_PLAIN_SWITCHES, "1"),
    }


def read(finished: Finished, installed: Collection[str], place: AgentPlace | None = None) -> Reading:
    """Return what a finished call's output says; all places have the same paths inside."""
    home = sandbox.HOME
    return claude_events.read(
        finished,
        installed,
        skills=f"{home}/{_HOME}/{SKILLS}",
        roots={"HOME": home, "CLAUDE_CONFIG_DIR": f"{home}/{_HOME}"},
        cwd=sandbox.WORKSPACE,
    )


# What it shows of its skills


def discover(place: AgentPlace) -> Discovery:
    """Return what Claude Code itself discovers in a home, without a model call.

    A skill that is installed under the name of one of its own takes that one's place.

    Raises
    ------
    ExperimentStopped
        If it gives no answer.
    """
    # The first request tells descriptions and what is built in, the second (a command that asks no model) which of
    # the commands are skills.
    requests: Sequence[dict[str, Any]] = (
        {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}},
        {"type": "user", "message": {"role": "user", "content": "/cost"}},
    )
    finished = processes.run(
        place.command(
            [
                *(f"{place.seen_package}/{_NATIVE}", "-p", "--no-session-persistence", "--setting-sources", "user"),
                *("--strict-mcp-config", "--tools", _TOOLS, "--input-format", "stream-json"),
                *("--output-format", "stream-json", "--verbose"),
            ]
        ),
        environment=_plain_environment(place),
        stdin=b"".join(json.dumps(request).encode("ascii") + b"\n" for request in requests),
        wall_seconds=_QUERY_SECONDS,
        stdout_bytes=_QUERY_BYTES,
    )
    commands, names = _answers(finished)
    skills = [_skill(name, commands[name]) for name in sorted(names & commands.keys())]
    return Discovery(tuple(skills), tuple(sorted(names - commands.keys())), 0)


def _skill(name: str, command: Mapping[str, Any]) -> ListedSkill:
    description = command.get("description", "").removesuffix(_OF_USER)
    return ListedSkill(name, command["name"], description, bool(command.get("builtin")), enabled=True)


def _by_name(commands: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return commands by name, and by folder where that differs: then it is an alias."""
    aliases = {alias: command for command in commands for alias in command.get("aliases", ())}
    return aliases | {command["name"]: command for command in commands}


def _answers(finished: Finished) -> tuple[dict[str, Mapping[str, Any]], set[str]]:
    """Return the commands by name, and the names of those that are skills."""
    commands: dict[str, Mapping[str, Any]] | None = None
    names: set[str] | None = None
    for line in finished.stdout.splitlines():
        event = records.parse(line, "the agent's answer")
        if event.get("type") == "control_response":
            commands = _by_name(event["response"]["response"]["commands"])
        elif (event.get("type"), event.get("subtype")) == ("system", "init"):
            names = set(event["skills"])
    if commands is None or names is None or finished.exit_status != 0:
        raise ExperimentStopped("Claude Code did not answer which skills it discovers; run `doit doctor`")
    return commands, names


def exposure(place: AgentPlace, backend: Backend, discovery: Discovery) -> Exposure:
    """Return what a model would be told at the start, read off the request that a loopback server gets.

    Nothing else shows it: the agent says nowhere that it leaves descriptions out.
    """
    told = _told_at_the_start(place, backend)
    if told.count(_PROMPT) != 1:
        raise ExperimentStopped("Claude Code did not show what it tells a model at the start; run `doit doctor`")
    listing = _listed(told, {skill.id for skill in discovery.skills})
    ours = {skill.id: skill for skill in discovery.skills if not skill.system}
    return Exposure(
        installed=len(ours),
        listed=len(listing.keys() & ours.keys()),
        shortened_ids=tuple(
            sorted(key for key in listing.keys() & ours.keys() if listing[key] != _words(ours[key].description))
        ),
        dropped_ids=tuple(sorted(ours.keys() - listing.keys())),
        own_installed=len(discovery.skills) - len(ours),
        own_listed=len(listing.keys() - ours.keys()),
        startup_context_bytes=sum(len(text.encode("utf-8", "surrogatepass")) for text in told if text != _PROMPT),
    )


def _told_at_the_start(place: AgentPlace, backend: Backend) -> list[str]:
    """Return the texts of the first request of a task call, the prompt among them; only we are asked, no provider."""
    if isinstance(place, AgentBox):
        place = replace(place, network=True)
    rehearsed = replace(backend, rehearsal=True, authentication="none")
    with LoopbackModel() as model, model.play(Behaviour("look", (Say("Seen."),))) as endpoint:
        call = task_call(place, rehearsed, _PROMPT.encode("ascii"), endpoint.base_url)
        processes.run(
            call.command,
            environment=call.environment,
            stdin=call.stdin,
            wall_seconds=_QUERY_SECONDS,
            stdout_bytes=_QUERY_BYTES,
        )
        return [text for _, text in messages.messages(endpoint.requests[0])] if endpoint.requests else []


def _listed(texts: Sequence[str], known: Collection[str]) -> dict[str, str]:
    """Return the description of each skill that the model is told of, empty where only its name is told."""
    told: dict[str, str] = {}
    current = ""
    for text in texts:
        if _LISTING not in text:
            continue
        for line in text.partition(_LISTING)[2].partition(_REMINDER_END)[0].split("\n"):
            name, _, description = line.removeprefix("- ").partition(":")
            name = name.split(" (")[0]
            if line.startswith("- ") and name in known:
                current, told[name] = name, description
            elif current:
                told[current] += f"\n{line}"
    return {name: _words(description) for name, description in told.items()}


def _words(text: str) -> str:
    return " ".join(text.split())
