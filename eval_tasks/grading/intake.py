"""The submission on its way into a grade: a bounded copy of its regular files, and looks at them as data.

Must never follow a link, open a special file or hand on an odd mode: it is only ever listed and read.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eval_tasks.paths import RESERVED_GRADER

MAXIMUM_ENTRIES = 4_000
MAXIMUM_BYTES = 64 * 1024 * 1024
MAXIMUM_DEPTH = 32
READ_BYTES = 64 * 1024
"""How much of a submission's file a grader may read as data."""

_CHUNK = 1024 * 1024
_NO_FOLLOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class GraderPlanted(Exception):
    """The submission holds the grader's reserved name."""


class TooLarge(Exception):
    """The submission holds more entries, bytes or levels than a grade takes in."""


class LookRefused(Exception):
    """A look at a file can't be served.

    Parameters
    ----------
    code
        In the manner of Node: `ENOENT`, `EINVAL`, `EFBIG` or `EILSEQ`.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def take_in(submission: Path, fresh: Path) -> None:
    """Copy a submission's regular files into a new folder: directories 0755, files 0644.

    Links, hard-linked files, special files and what its owner could not read are left out, so that a check that needs
    one of them fails.

    Raises
    ------
    GraderPlanted
        If an entry of whatever kind has the reserved name, in any letter case.
    TooLarge
        If a bound is passed.
    """
    source = os.open(submission, _NO_FOLLOW | os.O_DIRECTORY)
    try:
        if any(name.casefold() == RESERVED_GRADER for name in os.listdir(source)):
            raise GraderPlanted
        os.mkdir(fresh)
        os.chmod(fresh, 0o755)
        target = os.open(fresh, _NO_FOLLOW | os.O_DIRECTORY)
        try:
            _Copy().folder(source, target, 0)
        finally:
            os.close(target)
    finally:
        os.close(source)


class _Copy:
    """One walk over a submission with its bounds."""

    def __init__(self) -> None:
        self._entries = 0
        self._bytes = 0

    def folder(self, source: int, target: int, depth: int) -> None:
        if depth > MAXIMUM_DEPTH:
            raise TooLarge
        for name in sorted(os.listdir(source)):
            self._entries += 1
            if self._entries > MAXIMUM_ENTRIES:
                raise TooLarge
            status = os.stat(name, dir_fd=source, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode) and _has(status, stat.S_IRUSR | stat.S_IXUSR):
                self._enter(name, source, target, depth)
            elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and _has(status, stat.S_IRUSR):
                self._file(name, source, target)

    def _enter(self, name: str, source: int, target: int, depth: int) -> None:
        inner = os.open(name, _NO_FOLLOW | os.O_DIRECTORY, dir_fd=source)
        try:
            os.mkdir(name, dir_fd=target)
            os.chmod(name, 0o755, dir_fd=target)
            fresh = os.open(name, _NO_FOLLOW | os.O_DIRECTORY, dir_fd=target)
            try:
                self.folder(inner, fresh, depth + 1)
            finally:
                os.close(fresh)
        finally:
            os.close(inner)

    def _file(self, name: str, source: int, target: int) -> None:
        reading = os.open(name, _NO_FOLLOW, dir_fd=source)
        try:
            if not stat.S_ISREG(os.fstat(reading).st_mode):
                return
            writing = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=target)
            try:
                while chunk := os.read(reading, _CHUNK):
                    self._bytes += len(chunk)
                    if self._bytes > MAXIMUM_BYTES:
                        raise TooLarge
                    _write_all(writing, chunk)
                os.fchmod(writing, 0o644)
            finally:
                os.close(writing)
        finally:
            os.close(reading)


def _has(status: os.stat_result, bits: int) -> bool:
    """Return whether the owner had these rights; asked of the mode, so that root finds what the owner would."""
    return status.st_mode & bits == bits


def _write_all(descriptor: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]


@dataclass(frozen=True)
class Submission:
    """The copied submission as data for the grader.

    Parameters
    ----------
    root
        The folder that `take_in` made.
    """

    root: Path

    def read(self, path: str) -> str:
        """Return the text of one file.

        Raises
        ------
        LookRefused
            If there is no such regular file, it is larger than `READ_BYTES`, or it is not UTF-8.
        """
        descriptor = self._open(path, os.O_RDONLY)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise LookRefused("EINVAL")
            content = _read_at_most(descriptor, READ_BYTES + 1)
        finally:
            os.close(descriptor)
        if len(content) > READ_BYTES:
            raise LookRefused("EFBIG")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise LookRefused("EILSEQ") from error

    def exists(self, path: str) -> bool:
        """Return whether there is a regular file or a folder of that name."""
        try:
            os.close(self._open(path, os.O_RDONLY))
        except LookRefused as refusal:
            if refusal.code == "ENOENT":
                return False
            raise
        return True

    def list(self, path: str) -> list[str]:
        """Return the sorted paths, relative to the submission, of all files below a folder."""
        os.close(self._open(path, os.O_DIRECTORY))
        base = self.root / path
        found = [
            os.path.relpath(os.path.join(folder, name), self.root)
            for folder, _, names in os.walk(base)
            for name in names
        ]
        return sorted(found)

    def _open(self, path: str, flags: int) -> int:
        parts = _parts(path)
        held = os.open(self.root, _NO_FOLLOW | os.O_DIRECTORY)
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            wanted = _NO_FOLLOW | (flags if last else os.O_DIRECTORY)
            try:
                inner = os.open(part, wanted, dir_fd=held)
            except OSError as error:
                raise LookRefused("ENOENT") from error
            finally:
                os.close(held)
            held = inner
        return held


def _parts(path: str) -> tuple[str, ...]:
    if "\0" in path or path.startswith("/") or len(path) > MAXIMUM_DEPTH * 256:
        raise LookRefused("EINVAL")
    parts = PurePosixPath(path).parts
    if ".." in parts:
        raise LookRefused("EINVAL")
    return parts


def _read_at_most(descriptor: int, count: int) -> bytes:
    content = b""
    while len(content) < count and (chunk := os.read(descriptor, count - len(content))):
        content += chunk
    return content
