"""Folders that are copied, sealed and removed without ever following a link.

Must never trust what an agent left: links, special files and odd modes are expected in every folder it could write.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from eval_tasks import digests
from eval_tasks.errors import FailureCode, TrialFailed

SEALED_FILES = 2_000
"""How many entries a submission may hold."""
SEALED_BYTES = 64 * 1024 * 1024
"""How many bytes a submission may hold."""
_LEFT_BY_A_KILLED_SANDBOX = (".git", ".agents", ".codex")


def write_tree(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files below a new folder: directories 0755, files 0644, the same in every arm.

    Parameters
    ----------
    contents
        Bytes by relative POSIX path; the paths were checked when the corpus was loaded.
    """
    folder.mkdir(mode=0o755)
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)


def digest_of_contents(contents: Mapping[str, bytes]) -> str:
    """Return the digest that `seal` gives to a folder with exactly these regular files."""
    return digests.of_value({name: f"file:{digests.of_bytes(content)}" for name, content in contents.items()})


def seal(workspace: Path, sealed: Path) -> str:
    """Move a workspace out of every agent's reach and return the digest of what it holds.

    Links and special files stay as they are but are entered by kind only, directories only if they are empty; setuid
    bits and odd modes are dropped. The empty folders that a killed sandbox leaves behind are removed first.

    Raises
    ------
    TrialFailed
        `output-limit` if the submission holds too many entries or bytes.
    """
    sealed.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.rename(workspace, sealed)
    for name in _LEFT_BY_A_KILLED_SANDBOX:
        _remove_if_empty(sealed / name)
    entries: dict[str, str] = {}
    total = 0
    for relative, status in _walk(sealed, _own):
        if len(entries) >= SEALED_FILES:
            raise TrialFailed(FailureCode.OUTPUT_LIMIT, "output")
        path = sealed / relative
        if stat.S_ISREG(status.st_mode):
            total += status.st_size
            if total > SEALED_BYTES:
                raise TrialFailed(FailureCode.OUTPUT_LIMIT, "output")
            entries[_name(relative)] = f"file:{digests.of_bytes(path.read_bytes())}"
        elif stat.S_ISLNK(status.st_mode):
            entries[_name(relative)] = "link"
        elif not stat.S_ISDIR(status.st_mode):
            entries[_name(relative)] = "special"
        elif not any(path.iterdir()):
            entries[_name(relative)] = "folder"
    return digests.of_value(entries)


def _name(relative: str) -> str:
    """Return a path as text that JSON can hold, whatever bytes its name has."""
    raw = os.fsencode(relative)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return f"bytes:{hashlib.sha256(raw).hexdigest()}"


def _own(path: Path, status: os.stat_result) -> None:
    """Make one entry readable and writable by us alone, without following a link."""
    if stat.S_ISDIR(status.st_mode):
        path.chmod(0o700)
    elif stat.S_ISREG(status.st_mode):
        path.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)


def _walk(root: Path, visit: Callable[[Path, os.stat_result], None]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every entry below a folder in sorted order with its lstat; `visit` comes before a folder is opened."""
    status = root.lstat()
    visit(root, status)
    pending = [""]
    while pending:
        folder = pending.pop()
        for name in sorted(os.listdir(root / folder)):
            relative = os.path.join(folder, name)
            status = os.lstat(root / relative)
            visit(root / relative, status)
            yield relative, status
            if stat.S_ISDIR(status.st_mode):
                pending.append(relative)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        try:
            folder.rmdir()
        except OSError:
            return


def remove_tree(folder: Path) -> bool:
    """Remove a folder whatever an agent did to its modes; return whether it is gone.

    Never raises: a folder that can't be removed must not cost a recorded outcome, and `doit purge` tries again.
    """
    if folder.is_dir() and not folder.is_symlink():
        _open_folders(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


def _open_folders(folder: Path) -> None:
    """Make each folder passable before it is entered, since an owner can't list one of mode 000."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    for place, names, _files in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(0o700)
