"""Where a skill library comes from: an installed npm package, a folder, or one commit of a git checkout.

Must never change what it finds, nor take anything of a checkout but what the named commit holds.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval_tasks import digests
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project

_GIT_SECONDS = 120


def locate(source: Mapping[str, str], project: Project, setting: str = "library") -> Path:
    """Return the folder that holds the skills.

    Parameters
    ----------
    source
        `{npm, version, skills}`: a folder inside an installed package; `{folder}`: any folder, relative to the project
        unless absolute; `{git, commit, skills}`: a folder of one commit of a checkout.
    setting
        Which setting of `eval.yaml` it is, for messages.

    Raises
    ------
    ExperimentStopped
        If the package is missing or has another version, or the folder, checkout or commit does not exist.
    """
    if "folder" in source:
        return _folder(source["folder"], project, setting)
    if "git" in source:
        return _exported(source, project, setting)
    return _in_package(source, project, setting)


def public(source: Mapping[str, str]) -> dict[str, str]:
    """Return a source as it may be bound and reported: without a place of this machine.

    Examples
    --------
    >>> public({"folder": "/home/somebody/skills"})
    {'folder': 'a folder'}
    """
    if "folder" in source:
        return {"folder": "a folder"}
    return {**source, "git": "a checkout"} if "git" in source else dict(source)


def words(source: Mapping[str, Any]) -> str:
    """Return a public source in words.

    Examples
    --------
    >>> words({"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"})
    'npm ecc-universal 2.0.0'
    """
    if "npm" in source:
        return f"npm {source['npm']} {source['version']}"
    return f"git commit {digests.short(source['commit'])}" if "git" in source else "a local folder"


def _folder(place: str, project: Project, setting: str) -> Path:
    folder = project.root / Path(place).expanduser()
    if not folder.is_dir():
        raise ExperimentStopped(f"{setting}: there is no folder {place}; correct `{setting}` in eval.yaml")
    return folder.resolve()


def _in_package(source: Mapping[str, str], project: Project, setting: str) -> Path:
    package = project.modules / source["npm"]
    found = _installed_version(package, source["npm"], setting)
    if found != source["version"]:
        raise ExperimentStopped(
            f"{setting}: {source['npm']} {found} is installed, but eval.yaml asks for {source['version']}; "
            "make toolchain/package.json and eval.yaml agree, then run `doit toolchain`"
        )
    folder = package / source["skills"]
    if not folder.is_dir():
        raise ExperimentStopped(
            f"{setting}: {source['npm']} has no folder {source['skills']}; correct `{setting}.skills` in eval.yaml"
        )
    return folder.resolve()


def _installed_version(package: Path, name: str, setting: str) -> str:
    try:
        content = json.loads((package / "package.json").read_bytes())
    except FileNotFoundError as error:
        raise ExperimentStopped(f"{setting}: {name} is not installed; run `doit toolchain`") from error
    except ValueError as error:
        raise ExperimentStopped(f"{setting}: {name}/package.json is damaged; run `doit toolchain`") from error
    return str(content.get("version")) if isinstance(content, dict) else "of unknown version"


def _exported(source: Mapping[str, str], project: Project, setting: str) -> Path:
    """Export a folder of a commit into the project's cache, once: what a commit holds can't change."""
    commit, skills = source["commit"], source["skills"]
    kept = project.cache / "libraries" / digests.short(digests.of_value({"commit": commit, "skills": skills}))
    if (kept / skills).is_dir():
        return (kept / skills).resolve()
    checkout = _folder(source["git"], project, setting)
    archive = _archive(checkout, commit, skills, setting)
    fresh = kept.with_name(f".{secrets.token_hex(8)}")
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # The filter refuses whatever would lie outside the folder.
            tar.extractall(fresh, filter="data")
        _close(fresh)
        os.rename(fresh, kept)
    except (OSError, tarfile.TarError) as error:
        raise ExperimentStopped(
            f"{setting}: commit {digests.short(commit)} can't be exported; check it out, and point to its folder"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return (kept / skills).resolve()


def _archive(checkout: Path, commit: str, skills: str, setting: str) -> bytes:
    """Return a tar archive of a commit's folder."""
    command = ["git", "-C", str(checkout), "archive", "--format=tar", commit, "--", skills]
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=_GIT_SECONDS).stdout
    except FileNotFoundError as error:
        raise ExperimentStopped(f"{setting}: git is not installed; install it, or point to a folder") from error
    except subprocess.SubprocessError as error:
        raise ExperimentStopped(
            f"{setting}: {checkout.name} is no git checkout with a folder {skills} at commit {digests.short(commit)};"
            f" correct `{setting}` in eval.yaml"
        ) from error


def _close(folder: Path) -> None:
    """Take the permission to write from every file of a folder."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
