"""SHA-256 digests of bytes, files and folders, with a cache by file identity.

Must never take a cached digest for a file whose device, inode, size or either time has changed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped

Identity = tuple[int, int, int, int, int]
"""Device, inode, size in bytes, mtime and ctime in nanoseconds."""

_RACY_NANOSECONDS = 50_000_000
"""A file younger than this may still change within one tick of the clock, so that its digest is not cached."""


_LARGE_BYTES = 4 * 1024 * 1024
"""From this size on, reading a file again takes longer than a start should."""


def of_bytes(content: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def of_value(value: object) -> str:
    """Return the digest of a JSON value's canonical bytes."""
    return of_bytes(records.canonical(value))


def of_entries(entries: Mapping[str, str]) -> str:
    """Return one digest for named digests, such as the files of a folder."""
    return of_value(dict(entries))


def short(digest: str) -> str:
    """Return the first 12 digits, as messages and ids show them."""
    return digest[:12]


class DigestCache:
    """Digests of files, remembered by file identity for the life of the process; those of large files on disk too.

    Parameters
    ----------
    folder
        Where digests of large files are kept between processes, each under the digest of its identity, so that no
        path is written; None keeps nothing.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._known: dict[str, tuple[Identity, str]] = {}
        self._lock = Lock()

    def of_file(self, path: Path | str) -> str:
        """Return the SHA-256 of a regular file; a link or a special file is refused.

        Raises
        ------
        ExperimentStopped
            If the path is no regular file or can't be read.
        """
        name = os.fspath(path)
        try:
            status = os.stat(name, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise ExperimentStopped(f"{os.path.basename(name)} is not a regular file; replace it by one")
            identity = _identity(status)
            known = self._known.get(name)
            if known is not None and known[0] == identity:
                return known[1]
            kept = self._kept(identity)
            if kept is not None and kept.is_file():
                return self._remember(name, identity, kept.read_text("ascii"))
            with open(name, "rb", buffering=0) as stream:
                small = identity[2] < _LARGE_BYTES
                digest = of_bytes(stream.read()) if small else hashlib.file_digest(stream, "sha256").hexdigest()
                after = _identity(os.fstat(stream.fileno()))
        except OSError as error:
            raise ExperimentStopped(f"{os.path.basename(name)} can't be read ({error.strerror}); restore it") from error
        newest = max(identity[3], identity[4])
        if after == identity and time.time_ns() - newest > _RACY_NANOSECONDS:
            self._remember(name, identity, digest)
            if kept is not None:
                records.write_bytes(kept, digest.encode("ascii"))
        return digest

    def _kept(self, identity: Identity) -> Path | None:
        if self.folder is None or identity[2] < _LARGE_BYTES:
            return None
        return self.folder / of_value(list(identity))

    def _remember(self, name: str, identity: Identity, digest: str) -> str:
        with self._lock:
            self._known[name] = (identity, digest)
        return digest


def _identity(status: os.stat_result) -> Identity:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


CACHE = DigestCache()
"""The process-wide cache; every digest of a file goes through it."""


def of_file(path: Path | str) -> str:
    """Return the SHA-256 of a regular file through the process-wide cache."""
    return CACHE.of_file(path)


def of_files(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the digest of each named file below a folder, by its relative name in sorted order."""
    return {name: of_file(root / name) for name in sorted(names)}


def of_folder(root: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, by relative POSIX path; links are refused."""
    found: dict[str, str] = {}
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in [*names, *folders]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                raise ExperimentStopped(f"{os.path.relpath(path, root)} is a link; replace it by a regular file")
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = of_file(path)
    return dict(sorted(found.items()))


def identities(places: Iterable[Path]) -> dict[str, Identity]:
    """Return the identity of each file and of every file below each folder, so that any change can be noticed at once.

    Cheap beside digests: one `lstat` a file. Compiled Python and a place that is missing are left out.
    """
    found: dict[str, Identity] = {}
    pending = [os.fspath(place) for place in places]
    while pending:
        path = pending.pop()
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            found[path] = _identity(status)
        elif os.path.basename(path) != "__pycache__":
            pending.extend(entry.path for entry in os.scandir(path))
    return found
