"""A skill library: what each of its skills is called, says, weighs and is allowed to do.

Must never change a byte of the library, follow a link in it, or read it at import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from eval_tasks import digests
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import SKILL_FILE

INTERFACE_FILE = "agents/openai.yaml"
"""Where Codex keeps its own settings of a skill, among them whether it may be used unasked."""

AUTHORITY_KEYS = ("allowed-tools", "tools", "context", "agent", "hooks")
"""Front matter by which a host grants a skill something; text in a prompt cannot grant it, so delivery would differ."""

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FENCE = re.compile(r"-{3,}[ \t]*")
# A live command of a skill: `!` at the start of a line or after white space, then a code span that is closed on the
# same line. `assert!` in prose and a lone exclamation mark in a code span are no commands.
_LIVE_COMMAND = re.compile(r"(?<!\S)!(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
# libyaml, where PyYAML has it, reads a few hundred front matters five times faster.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Skill:
    """One skill folder as the selection and the installs see it.

    Parameters
    ----------
    id
        The folder's name, which every record uses.
    name
        The front matter's name, which may differ from the folder's.
    text, body
        The whole `SKILL.md`, and what of it follows the front matter.
    files
        Digest of every file of the folder, by relative POSIX path.
    manual_only
        Whether only a person may start it.
    native_authority
        What only a host can grant: front matter keys, and `live-command` for dynamic content.
    """

    id: str
    name: str
    description: str
    text: str
    body: str
    files: Mapping[str, str]
    manual_only: bool = False
    native_authority: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The digest of the folder: of its files' names and digests."""
        return digests.of_entries(self.files)


@dataclass(frozen=True)
class Library:
    """All skills of one folder, by id in sorted order."""

    root: Path
    skills: Mapping[str, Skill]

    @cached_property
    def digest(self) -> str:
        """The digest of every file of every skill, without the place where the library lies."""
        return digests.of_entries(
            {f"{skill.id}/{path}": digest for skill in self.skills.values() for path, digest in skill.files.items()}
        )

    @cached_property
    def ids_by_name(self) -> Mapping[str, str]:
        """The id for every name by which a prompt may cite a skill; a folder's name wins over a front matter's."""
        aliases: dict[str, str | None] = {}
        for skill in self.skills.values():
            aliases[skill.name] = skill.id if skill.name not in aliases else None
        unambiguous = {name: skill_id for name, skill_id in aliases.items() if skill_id is not None}
        return {**unambiguous, **{skill_id: skill_id for skill_id in self.skills}}


def load(root: Path) -> Library:
    """Read every `<id>/SKILL.md` below a folder and digest every file beside it.

    Folders without a `SKILL.md`, hidden folders and loose files are no skills, as for every host.

    Raises
    ------
    ExperimentStopped
        If there is no skill, or one breaks the Agent Skills specification in a way that hosts refuse: no front
        matter, no YAML mapping, no name or description, invalid UTF-8, an id that is no lower-case name.
    """
    try:
        entries = sorted(root.iterdir())
    except OSError as error:
        raise ExperimentStopped(f"library: {root.name} can't be read ({error.strerror}); mend it") from error
    folders = [entry for entry in entries if not entry.name.startswith(".") and (entry / SKILL_FILE).is_file()]
    if not folders:
        raise ExperimentStopped(
            f"library: {root.name} holds no <id>/{SKILL_FILE}; point `library` at the skills' folder"
        )
    return Library(root=root, skills={folder.name: _load_skill(folder) for folder in folders})


def _load_skill(folder: Path) -> Skill:
    if not _ID.fullmatch(folder.name):
        raise ExperimentStopped(
            f"library: {folder.name} is no skill id (at most 64 lower-case letters, digits, hyphens); rename the folder"
        )
    if folder.is_symlink():
        raise ExperimentStopped(f"library: {folder.name} is a link; replace it by the folder that it points to")
    place = f"{folder.name}/{SKILL_FILE}"
    files = digests.of_folder(folder)
    text = _read_text(folder / SKILL_FILE, place)
    matter, body = _front_matter(text, place)
    return Skill(
        id=folder.name,
        name=_required_text(matter, "name", place),
        description=_required_text(matter, "description", place),
        text=text,
        body=body,
        files=files,
        manual_only=_is_manual_only(matter, folder),
        native_authority=_native_authority(matter, body),
    )


def _read_text(path: Path, place: str) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ExperimentStopped(f"library: {place}:{line}: invalid UTF-8; save the file as UTF-8") from error


def _front_matter(text: str, place: str) -> tuple[Mapping[str, Any], str]:
    """Split a skill into its front matter and its body; a byte order mark and CRLF are tolerated, as hosts do."""
    lines = text.removeprefix("\ufeff").split("\n")
    if not _FENCE.fullmatch(lines[0].rstrip("\r")):
        raise ExperimentStopped(f"library: {place}:1: no front matter; start the file with --- and name, description")
    ends = (number for number, line in enumerate(lines[1:], start=1) if _FENCE.fullmatch(line.rstrip("\r")))
    end = next(ends, None)
    if end is None:
        raise ExperimentStopped(f"library: {place}:1: the front matter is never closed; end it with ---")
    return _parse_yaml("\n".join(lines[1:end]), place, first_line=2), "\n".join(lines[end + 1 :])


def _parse_yaml(text: str, place: str, first_line: int) -> Mapping[str, Any]:
    try:
        # The loader is safe: it is PyYAML's own, by libyaml where there is one.
        content = yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = first_line + (error.problem_mark.line if error.problem_mark else 0)
        raise ExperimentStopped(f"library: {place}:{line}: no valid YAML ({error.problem}); correct it") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ExperimentStopped(f"library: {place}:{first_line}: no valid YAML; correct it") from error
    if not isinstance(content, dict):
        raise ExperimentStopped(f"library: {place}:{first_line}: not a mapping of keys to values; correct it")
    return content


def _required_text(matter: Mapping[str, Any], key: str, place: str) -> str:
    value = matter.get(key)
    text = " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""
    if not text:
        raise ExperimentStopped(f"library: {place}:2: the front matter has no {key}; add one")
    return text


def _is_manual_only(matter: Mapping[str, Any], folder: Path) -> bool:
    if _is_set(matter.get("disable-model-invocation"), wanted=True) or _forbids_implicit_use(matter):
        return True
    interface = folder / INTERFACE_FILE
    if not interface.is_file():
        return False
    place = f"{folder.name}/{INTERFACE_FILE}"
    text = _read_text(interface, place)
    return bool(text.strip()) and _forbids_implicit_use(_parse_yaml(text, place, first_line=1))


def _forbids_implicit_use(settings: Mapping[str, Any]) -> bool:
    policy = settings.get("policy")
    return isinstance(policy, dict) and _is_set(policy.get("allow_implicit_invocation"), wanted=False)


def _is_set(value: object, *, wanted: bool) -> bool:
    """Whether a flag has the wanted value; authors also write it in quotes."""
    return value is wanted or (isinstance(value, str) and value.strip().lower() == str(wanted).lower())


def _native_authority(matter: Mapping[str, Any], body: str) -> tuple[str, ...]:
    keys = tuple(key for key in AUTHORITY_KEYS if key in matter)
    # The substring is looked for first: it is absent almost everywhere, and the pattern alone takes half of a load.
    return (*keys, "live-command") if "!`" in body and _LIVE_COMMAND.search(body) else keys
