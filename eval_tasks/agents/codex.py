"""Codex CLI: where its native binary is, how a home and a call of it look, and what it shows of its skills.

Must never start the npm launcher, run another version than the two it knows, or put a credential on a command line.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval_tasks import digests, processes, records, sandbox
from eval_tasks.agents import codex_events
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
from eval_tasks.processes import Finished, Level
from eval_tasks.rehearsal.catalog import pinned_catalog
from eval_tasks.sandbox import AgentBox, AgentFolder, AgentPlace, Bind, Bubblewrap

KIND = "codex"
VERSIONS: tuple[str, ...] = ("0.154.0", "0.155.1")
LEVELS: tuple[Level, ...] = (Level.SEALED, Level.AGENT_SANDBOX)
EFFORTS: tuple[str, ...] = ("none", "minimal", "low", "medium", "high", "xhigh")
CREDENTIALS: Mapping[Authentication, str | None] = {"api-key": "CODEX_API_KEY", "login-home": None}
ADMIN_FOLDER = Path("/etc/codex")
UNWANTED: tuple[str, ...] = (
    *("AGENTS.md", "AGENTS.override.md", "rules", "hooks.json", "hooks", "prompts", "plugins", "../.agents"),
)
CONFIG = "config.toml"
CATALOG = "models.json"
ANSWER_SCHEMA = "answer.schema.json"
SKILLS = "skills"
OWN_SKILLS = "skills/.system"
"""Codex keeps its own skills in a hidden folder among the user's."""

TASK_STDOUT_BYTES = 64 * 1024 * 1024
PROPOSAL_STDOUT_BYTES = 64 * 1024

_ALIASES = {"0.155.1": "codex", "0.154.0": "codex-0154"}
_TARGETS = {
    "x86_64": ("codex-linux-x64", "x86_64-unknown-linux-musl"),
    "aarch64": ("codex-linux-arm64", "aarch64-unknown-linux-musl"),
}
_NATIVE = "bin/codex"
_BUBBLEWRAP = "codex-resources/bwrap"
_HOME = ".codex"
_AUTH = "auth.json"
DIFFERENCES: tuple[str, ...] = (
    "no AGENTS.md, rules, hooks, prompts or MCP servers",
    "plugins, apps, memories and sub-agents are switched off",
    "no shell snapshot, no login shell, and only the core of the shell's environment",
    "no history and no session files",
    "no web search, no analytics and no look for updates",
    "approvals are never asked for, and commands run in the agent's own sandbox",
    "connection retries are bounded",
)
"""What an everyday Codex home has, or does, and ours has not; facts/codex.md 3 says why each."""

_CLOSED_PORT_URL = "http://127.0.0.1:9/v1"
_QUERY_SECONDS = 20.0
_QUERY_BYTES = 16 * 1024 * 1024
_VERSION_LINE = re.compile(r"codex-cli (\S+)")
_ENTRY = re.compile(r"- (?P<text>.*?) \(file: (?P<root>r\d+)/(?P<path>[^)\n]*)\)(?:\n|\Z)", re.DOTALL)
_ROOT = re.compile(r"- `(r\d+)` = `([^`\n]*)`")
_ANSWER = {
    "type": "object",
    "properties": {"selectedIds": {"type": "array", "items": {"type": "string"}}},
    "required": ["selectedIds"],
    "additionalProperties": False,
}

# Where it is


def in_modules(modules: Path, version: str) -> Executable:
    """Return the executable of a supported version from the toolchain's `node_modules`, checked by running it.

    Raises
    ------
    ExperimentStopped
        If the version is none of the supported or is not installed.
    """
    _check_version(version)
    launcher = modules / _ALIASES[version] / "bin" / "codex.js"
    if not launcher.is_file():
        raise ExperimentStopped(f"Codex {version} is not installed; run `doit toolchain`")
    return at(launcher, version, modules)


def at(path: Path, version: str, modules: Path) -> Executable:
    """Return the executable that a user's path means: a launcher, a link to one, or the native binary.

    Raises
    ------
    ExperimentStopped
        If the path is no Codex CLI or not the wanted version.
    """
    _check_version(version)
    native = _native_of(Path(os.path.realpath(path)))
    found = version_of(native, digests.of_file(native), _VERSION_LINE, _QUERY_SECONDS)
    if found != version:
        raise ExperimentStopped(
            f"the executable is Codex {found or 'of an unknown version'}, not {version}; "
            f"give --executable a Codex {version} or change agent.version (supported: {', '.join(VERSIONS)})"
        )
    package = native.parent.parent
    return Executable(KIND, version, native, package, digests.of_file(native), package / _BUBBLEWRAP)


def _check_version(version: str) -> None:
    if version not in VERSIONS:
        raise ExperimentStopped(f"Codex {version} is not supported; choose one of {', '.join(VERSIONS)}")


def _native_of(path: Path) -> Path:
    """Return the native binary that a resolved path means."""
    package, target = _platform()
    if path.name == "codex.js":
        # As Node resolves it: the platform's package in node_modules of any folder above the launcher.
        for folder in path.parents:
            native = folder / "node_modules" / "@openai" / package / "vendor" / target / _NATIVE
            if native.is_file():
                return Path(os.path.realpath(native))
        raise ExperimentStopped(f"this Codex lacks its platform package @openai/{package}; install it again with npm")
    if path.name == "codex" and (path.parent.parent / "codex-package.json").is_file():
        return path
    raise ExperimentStopped(
        "--executable is no Codex CLI; give the path of node_modules/.bin/codex, of codex.js or of the native binary"
    )


def _platform() -> tuple[str, str]:
    found = _TARGETS.get(platform.machine()) if platform.system() == "Linux" else None
    if found is None:
        raise ExperimentStopped("Codex is run on Linux on x86_64 or aarch64 only; use such a machine")
    return found


def adopted(executable: Executable, folder: Path) -> Executable:
    """Return the executable below `folder`, where children can reach it and no path names the project."""
    package = sandbox.adopt(executable.package, folder, executable.fingerprint)
    return replace(executable, package=package, native=package / _NATIVE, bubblewrap=package / _BUBBLEWRAP)


def bubblewrap_in(modules: Path) -> Path:
    """Return where the toolchain's `node_modules` hold the bubblewrap that ships with Codex."""
    package, target = _platform()
    return modules / "@openai" / package / "vendor" / target / _BUBBLEWRAP


def misread(prompt: str) -> str | None:
    """Return None: Codex reads every prompt as words; the corpus has no `$word` that would call a skill."""
    _ = prompt
    return None


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
    """Return the box of a call on a golden install; without a workspace it is empty and in memory.

    Parameters
    ----------
    auth
        The leased login, bound as a single file that Codex can rewrite in place.
    """
    home = f"{sandbox.HOME}/{_HOME}"
    binds = [Bind(install / name, f"{home}/{name}") for name in _bound(install)]
    if auth is not None:
        binds.append(Bind(auth, f"{home}/{_AUTH}", writable=True))
    return AgentBox(
        Bubblewrap.at(executable.bubblewrap),
        executable.package,
        workspace,
        binds=tuple(binds),
        folders=(home,),
        node=node,
        network=network,
    )


def unsealed(
    executable: Executable, install: Path, backend: Backend, *, call: Path, workspace: Path, node: Path | None = None
) -> AgentFolder:
    """Copy a golden install into a call's folder and return the place of a call at level `agent-sandbox`."""
    place = _folder(executable, call, workspace, node)
    home = place.home_folder / _HOME
    for name in _bound(install):
        if name == SKILLS:
            shutil.copytree(install / name, home / name)
        else:
            shutil.copyfile(install / name, home / name)
    (home / CONFIG).write_text(config_text(backend, place), encoding="utf-8")
    sandbox.own(home, drop=place.drop)
    return place


def install_copy(place: AgentFolder) -> Path:
    """Return the call's own copy of the install at level `agent-sandbox`, which the agent can write."""
    return place.home_folder / _HOME


def _folder(executable: Executable, call: Path, workspace: Path, node: Path | None = None) -> AgentFolder:
    """Make an empty home and a temporary folder in a call's folder, owned by the user that the call runs as."""
    drop = os.geteuid() == 0
    home, temp = call / "home", call / "temp"
    sandbox.make_work_folder(call, drop=drop)
    (home / _HOME).mkdir(mode=0o755, parents=True)
    temp.mkdir(mode=0o700)
    for path in (home, temp):
        sandbox.own(path, drop=drop)
    return AgentFolder(executable.package, workspace, home, temp, drop, node)


def _bound(install: Path) -> list[str]:
    """Return the names of what an install holds."""
    return [name for name in (CONFIG, SKILLS, CATALOG) if (install / name).exists()]


# What a home holds


def write_home(install: Path, backend: Backend, executable: Executable, level: Level = Level.SEALED) -> None:
    """Write Codex's configuration and its own skills into a golden install that already holds the profile's skills.

    Raises
    ------
    ExperimentStopped
        If Codex doesn't run or leaves no skills of its own.
    """
    with _throw_away_home(executable, install, level) as (place, home):
        if backend.rehearsal:
            (install / CATALOG).write_bytes(catalog(place, backend.model))
        # Without these settings Codex looks for the network first, for five seconds.
        (home / CONFIG).write_text(config_text(replace(backend, rehearsal=False), place), encoding="utf-8")
        _skills_list(place)
        own = home / OWN_SKILLS
        if not own.is_dir():
            raise ExperimentStopped("Codex wrote no skills of its own into a new home; run `doit doctor`")
        shutil.copytree(own, install / OWN_SKILLS)
    box = AgentBox(Bubblewrap.at(executable.bubblewrap), executable.package, None)
    (install / CONFIG).write_text(config_text(backend, box), encoding="utf-8")
    sandbox.make_readable(install)


@contextmanager
def _throw_away_home(executable: Executable, install: Path, level: Level) -> Iterator[tuple[AgentPlace, Path]]:
    """Give a place with an empty, writable home, and that home on disk; it is removed at the end."""
    scratch = install.with_name(f".{secrets.token_hex(8)}")
    try:
        folder = _folder(executable, scratch, scratch)
        home = folder.home_folder / _HOME
        box = AgentBox(Bubblewrap.at(executable.bubblewrap), executable.package, None, network=False)
        bind = Bind(home, f"{box.home}/{_HOME}", writable=True)
        yield (replace(box, binds=(bind,)) if level is Level.SEALED else folder), home
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def config_text(backend: Backend, place: AgentPlace) -> str:
    """Return `config.toml` for a home and workspace as the agent sees them.

    All settings stand here rather than on command lines, so that the inventory covers them.
    """
    home = f"{place.home}/{_HOME}"
    top: dict[str, Any] = {
        "model": backend.model,
        **({"model_reasoning_effort": backend.effort} if backend.effort is not None else {}),
        "allow_login_shell": False,
        "approval_policy": "never",
        "check_for_update_on_startup": False,
        "cli_auth_credentials_store": "file",
        "default_permissions": "work",
        "web_search": "disabled",
        **({"model_catalog_json": f"{home}/{CATALOG}", "model_provider": "local"} if backend.rehearsal else {}),
    }
    # Plugins and apps would fetch skills and tools from the network, memories would carry over between calls, a shell
    # snapshot would write the API key to disk, and without the last one Codex waits for a lost network for ever.
    features = (
        *("apps", "memories", "multi_agent", "plugins", "remote_plugin", "shell_snapshot"),
        "unbounded_connection_retries",
    )
    tables: dict[str, dict[str, Any]] = {
        # Sub-agents would spend outside the turn's usage; `features.multi_agent` does not stop code-mode models.
        "agents": {"enabled": False},
        "analytics": {"enabled": False},
        "features": dict.fromkeys(features, False),
        "history": {"persistence": "none"},
        # Keeps the API key and CODEX_HOME from what the model runs.
        "shell_environment_policy": {"inherit": "core"},
        # Codex would write this entry itself, and fail on a file that it can't change.
        f'projects."{place.seen_workspace}"': {"trust_level": "trusted"},
        "permissions.work.filesystem": _permissions(backend, place, home, write=True),
        "permissions.look.filesystem": _permissions(backend, place, home, write=False),
    }
    if backend.rehearsal:
        tables["model_providers.local"] = {
            "name": "local",
            "base_url": _CLOSED_PORT_URL,
            "wire_api": "responses",
            "requires_openai_auth": backend.authentication != "none",
            "request_max_retries": 0,
            "stream_max_retries": 4,
        }
    return _toml(top) + "".join(f"\n[{name}]\n{_toml(values)}" for name, values in tables.items())


def _permissions(backend: Backend, place: AgentPlace, home: str, *, write: bool) -> dict[str, Any]:
    """Return the file rules of a permission profile; the login is denied as a file, not with the home around it."""
    rules: dict[str, Any] = {":root": "read"}
    if place.level is Level.AGENT_SANDBOX:
        rules |= dict.fromkeys(backend.denied, "deny")
        rules |= {f"{home}/{SKILLS}": "read", place.seen_package: "read"}
    if write:
        rules[":workspace_roots"] = {".": "write"}
        if place.level is Level.AGENT_SANDBOX:
            rules[place.seen_workspace] = "write"
    return {**rules, f"{home}/{_AUTH}": "deny"}


def _toml(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in values.items())


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_value(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def catalog(place: AgentPlace, model: str) -> bytes:
    """Return the binary's own model catalog with this model's context window pinned, for a rehearsal."""
    return pinned_catalog(_query(place, ["debug", "models", "--bundled"]), model)


# The calls


def task_call(
    place: AgentPlace, backend: Backend, prompt: bytes, base_url: str | None = None, api_key: str | None = None
) -> Call:
    """Return the call that works on a case.

    Parameters
    ----------
    prompt
        Written to stdin: an argument could be taken for a subcommand and is limited in size.
    base_url
        Where the loopback model listens, at the rehearsal backend.
    api_key
        Given to the agent process by its environment only, and only with authentication `api-key`.
    """
    program = [*_exec(place), *_provider(backend, base_url), "-"]
    return Call(place.command(program), _environment(place, backend, api_key), prompt, TASK_STDOUT_BYTES)


def proposal_call(
    place: AgentPlace, backend: Backend, prompt: bytes, base_url: str | None = None, api_key: str | None = None
) -> Call:
    """Return the read-only call that proposes a skill: no shell, nothing writable, an answer of a fixed shape."""
    place, schema = _with_file(place, ANSWER_SCHEMA, records.pretty(_ANSWER))
    program = [
        *_exec(place),
        *_provider(backend, base_url),
        *("-c", 'default_permissions="look"', "-c", "features.shell_tool=false", "-c", "features.view_image=false"),
        *("--output-schema", schema, "-"),
    ]
    return Call(place.command(program), _environment(place, backend, api_key), prompt, PROPOSAL_STDOUT_BYTES)


def _exec(place: AgentPlace) -> list[str]:
    return [
        *(_native(place), "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--strict-config"),
        *("--ignore-rules", "-C", place.seen_workspace),
    ]


def _native(place: AgentPlace) -> str:
    return f"{place.seen_package}/{_NATIVE}"


def _provider(backend: Backend, base_url: str | None) -> list[str]:
    if backend.rehearsal != (base_url is not None):
        raise ValueError("a loopback address belongs to the rehearsal backend, and only to it")
    return [] if base_url is None else ["-c", f"model_providers.local.base_url={json.dumps(base_url)}"]


def _environment(place: AgentPlace, backend: Backend, api_key: str | None) -> dict[str, str]:
    if (backend.authentication == "api-key") != (api_key is not None):
        raise ValueError("a key belongs to authentication `api-key`, and only to it")
    environment = _plain_environment(place)
    if api_key is not None:
        environment["CODEX_API_KEY"] = api_key
    if backend.refresh_url is not None:
        environment["CODEX_REFRESH_TOKEN_URL_OVERRIDE"] = backend.refresh_url
    return environment


def _plain_environment(place: AgentPlace) -> dict[str, str]:
    return {
        "PATH": place.search_path,
        "HOME": place.home,
        "CODEX_HOME": f"{place.home}/{_HOME}",
        "TMPDIR": place.temp,
        "LANG": "C.UTF-8",
    }


def _with_file(place: AgentPlace, name: str, content: bytes) -> tuple[AgentPlace, str]:
    """Return a place whose home holds one more file, and the file's path there."""
    seen = f"{place.home}/{_HOME}/{name}"
    if isinstance(place, AgentBox):
        return replace(place, files=(*place.files, (seen, content))), seen
    Path(seen).write_bytes(content)
    return place, seen


def read(finished: Finished, installed: Collection[str], place: AgentPlace | None = None) -> Reading:
    """Return what a finished call's stream says.

    Parameters
    ----------
    place
        Where the call ran; only needed at level `agent-sandbox`, whose paths differ from call to call.
    """
    home, workspace = (sandbox.HOME, sandbox.WORKSPACE) if place is None else (place.home, place.seen_workspace)
    return codex_events.read(
        finished,
        installed,
        skills=f"{home}/{_HOME}/{SKILLS}",
        # CODEX_HOME is kept from the shell by the environment policy, so it means nothing there.
        roots={"HOME": home},
        cwd=workspace,
    )


# What it shows of its skills


def discover(place: AgentPlace) -> Discovery:
    """Return what Codex itself discovers in a home, without a model call.

    Raises
    ------
    ExperimentStopped
        If Codex gives no answer.
    """
    answer = _skills_list(place)
    folder = f"{place.home}/{_HOME}/{SKILLS}/"
    skills = []
    strangers = []
    for entry in answer["skills"]:
        parts = entry["path"].removeprefix(folder).split("/")
        system = parts[0] == os.path.basename(OWN_SKILLS)
        if not entry["path"].startswith(folder) or len(parts) != (3 if system else 2):
            strangers.append(entry["name"])
            continue
        skills.append(ListedSkill(parts[-2], entry["name"], entry["description"], system, entry["enabled"]))
    return Discovery(tuple(sorted(skills, key=lambda skill: skill.id)), tuple(strangers), len(answer["errors"]))


def _skills_list(place: AgentPlace) -> dict[str, Any]:
    requests: Sequence[dict[str, Any]] = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "e", "title": "e", "version": "0"}}},
        {"method": "initialized"},
        {"id": 2, "method": "skills/list", "params": {"cwds": [place.seen_workspace], "forceReload": True}},
    )
    stdin = b"".join(json.dumps(request).encode("ascii") + b"\n" for request in requests)
    stdout = _query(place, ["app-server"], stdin, keep_open_until=b'{"id":2,')
    for line in stdout.splitlines():
        answer = _json(line)
        if answer.get("id") == 2 and "result" in answer:
            found: dict[str, Any] = answer["result"]["data"][0]
            return found
    raise ExperimentStopped("Codex did not answer which skills it discovers; run `doit doctor`")


def exposure(place: AgentPlace, backend: Backend, discovery: Discovery) -> Exposure:
    """Return what a model would be told at the start, without a model call.

    At a real backend the binary's own catalog decides the budget: Codex would otherwise look for a newer one on the
    network, as it does for every provider but a custom one.
    """
    settings = {}
    if not backend.rehearsal:
        place, models = _with_file(place, CATALOG, catalog(place, backend.model))
        settings = {
            "model_catalog_json": models,
            "model_provider": "local",
            "model_providers.local": {"name": "local", "base_url": _CLOSED_PORT_URL},
        }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={_value(value)}")]
    prompt = "x"
    stdout = _query(place, ["debug", "prompt-input", *options, prompt])
    texts = [part.get("text", "") for message in _json(stdout) for part in message["content"]]
    if not texts or texts.pop() != prompt:
        raise ExperimentStopped("Codex did not show what it tells a model at the start; run `doit doctor`")
    told = _told(texts, f"{place.home}/{_HOME}/{SKILLS}")
    ours = {skill.id: skill for skill in discovery.skills if not skill.system}
    shown = {key: text for key, text in told.items() if key in ours}
    return Exposure(
        installed=len(ours),
        listed=len(shown),
        shortened_ids=tuple(sorted(key for key, text in shown.items() if text != _entry(ours[key]))),
        dropped_ids=tuple(sorted(ours.keys() - shown.keys())),
        own_installed=sum(skill.system for skill in discovery.skills),
        own_listed=sum(key.startswith(f"{os.path.basename(OWN_SKILLS)}/") for key in told),
        startup_context_bytes=sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
    )


def _told(texts: Sequence[str], folder: str) -> dict[str, str]:
    """Return the text of each entry in the list of skills, by the skill's path below the home's skills."""
    told = {}
    for text in texts:
        if "<skills_instructions>" not in text:
            continue
        head, _, listing = text.partition("### Available skills\n")
        roots = dict(_ROOT.findall(head))
        for entry in _ENTRY.finditer(listing):
            path = f"{roots.get(entry['root'], '')}/{entry['path']}"
            told[os.path.dirname(os.path.relpath(path, folder))] = _words(entry["text"])
    return told


def _entry(skill: ListedSkill) -> str:
    return _words(f"{skill.name}: {skill.description}")


def _words(text: str) -> str:
    return " ".join(text.split())


def _query(
    place: AgentPlace, arguments: Sequence[str], stdin: bytes = b"", keep_open_until: bytes | None = None
) -> bytes:
    """Run a command of Codex that calls no model, and return what it prints."""
    finished = processes.run(
        place.command([_native(place), *arguments]),
        environment=_plain_environment(place),
        stdin=stdin,
        wall_seconds=_QUERY_SECONDS,
        stdout_bytes=_QUERY_BYTES,
        keep_open_until=keep_open_until,
    )
    if finished.exit_status != 0:
        raise ExperimentStopped(f"`codex {arguments[0]}` failed in its sandbox; run `doit doctor`")
    return finished.stdout


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ExperimentStopped("Codex printed no JSON where it should; run `doit doctor`") from error
