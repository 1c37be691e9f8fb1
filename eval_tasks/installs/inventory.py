"""The inventory of an install: every file of it by digest, and the comparison with what is on disk before each call.

Must never accept a file, link or folder that was not recorded, however it came there.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import digests
from eval_tasks.agents.contract import Discovery, Exposure
from eval_tasks.errors import ExperimentStopped, FailureCode


@dataclass(frozen=True)
class Observed:
    """An install as it was built and as the agent sees it.

    Parameters
    ----------
    name
        The install, such as `full`.
    files
        Digest of every file, by path relative to the install.
    own_skills
        Folder of the agent's own skills, relative to the install; empty if they are part of its binary.
    differences
        What an everyday home of this agent has and this one has not.
    """

    name: str
    files: Mapping[str, str]
    own_skills: str
    differences: tuple[str, ...]
    discovery: Discovery
    exposure: Exposure

    def record(self, registration: str) -> dict[str, Any]:
        """Return the inventory as its record holds it."""
        exposure = self.exposure
        return {
            "schemaVersion": "context-eval.inventory.v1",
            "registration": registration,
            "install": self.name,
            "digest": digests.of_entries(self.files),
            "files": dict(self.files),
            "listed": self.discovery.ids(system=False),
            "systemSkills": self._own_digests(),
            "differences": list(self.differences),
            "exposure": {
                "installed": exposure.installed,
                "listed": exposure.listed,
                "shortened": len(exposure.shortened_ids),
                "dropped": len(exposure.dropped_ids),
                "startupContextBytes": exposure.startup_context_bytes,
                "shortenedIds": list(exposure.shortened_ids),
                "droppedIds": list(exposure.dropped_ids),
            },
        }

    def _own_digests(self) -> dict[str, str]:
        """Return the digest of each skill that the agent lists as its own: of its files, else of what is said of it."""
        own = [skill for skill in self.discovery.skills if skill.system]
        if not self.own_skills:
            return {skill.id: digests.of_bytes(skill.description.encode("utf-8", "surrogatepass")) for skill in own}
        return {
            name: digests.of_entries(
                {path: digest for path, digest in self.files.items() if path.startswith(f"{self.own_skills}/{name}/")}
            )
            for name in sorted(skill.id for skill in own)
        }


def take(install: Path) -> dict[str, str]:
    """Return the digest of every file of an install, by relative path.

    Raises
    ------
    ExperimentStopped
        `environment-drift`, if there is a link or a special file in it.
    """
    return {name: _digest(path, name) for name, path in _walk(os.fspath(install), "")}


def verify(install: Path, record: Mapping[str, Any]) -> None:
    """Compare an install with its inventory; about 5 ms for 200 skills once their digests are known.

    Raises
    ------
    ExperimentStopped
        `environment-drift`, naming the first file that was changed, added or removed.
    """
    if not install.is_dir():
        raise _drift(record["install"], "it", "is missing")
    recorded = record["files"]
    found = set()
    for name, path in _walk(os.fspath(install), ""):
        found.add(name)
        if name not in recorded:
            raise _drift(record["install"], name, "was added")
        if _digest(path, name, record["install"]) != recorded[name]:
            raise _drift(record["install"], name, "has changed")
    missing = sorted(recorded.keys() - found)
    if missing:
        raise _drift(record["install"], missing[0], "is missing")


def verify_copy(home: Path, record: Mapping[str, Any], config: Mapping[str, bytes], unwanted: Collection[str]) -> None:
    """Compare a call's own copy of an install, after the call, with the inventory.

    Parameters
    ----------
    home
        The copy. Of what an agent leaves in it only what can change a later discovery or prompt counts.
    config
        The files that were written for this copy alone, with their bytes.
    unwanted
        Paths of the copy that must not be there.

    Raises
    ------
    ExperimentStopped
        `environment-drift`, naming the first difference.
    """
    for name, content in config.items():
        if not (home / name).is_file() or (home / name).read_bytes() != content:
            raise _drift(record["install"], name, "has changed")
    prefixes = sorted({name.split("/")[0] for name in record["files"] if "/" in name})
    found = dict(item for prefix in prefixes for item in _walk(os.fspath(home / prefix), f"{prefix}/"))
    for name, digest in record["files"].items():
        if "/" in name and (name not in found or _digest(found[name], name, record["install"]) != digest):
            raise _drift(record["install"], name, "has changed" if name in found else "is missing")
    added = sorted(found.keys() - record["files"].keys()) + [name for name in unwanted if (home / name).exists()]
    if added:
        raise _drift(record["install"], added[0], "was added")


def refuse_admin_settings(folder: Path) -> None:
    """Refuse a machine whose settings for all users an agent outside a box would read.

    Raises
    ------
    ExperimentStopped
        `environment-drift`.
    """
    if folder.exists():
        raise ExperimentStopped(
            f"environment-drift: {folder} would change every install at level agent-sandbox; "
            "remove it or set `isolation: sealed`",
            FailureCode.ENVIRONMENT_DRIFT,
        )


def _walk(folder: str, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield relative name and path of everything below a folder that is no folder, in sorted order."""
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.path


def _digest(path: str, name: str, install: str = "new") -> str:
    try:
        return digests.of_file(path)
    except ExperimentStopped as stopped:
        raise _drift(install, name, "is no readable regular file") from stopped


def _drift(install: str, name: str, what: str) -> ExperimentStopped:
    return ExperimentStopped(
        f"environment-drift: install {install}: {name} {what}; put it back, or remove the install and run again, "
        "which builds it anew",
        FailureCode.ENVIRONMENT_DRIFT,
    )
