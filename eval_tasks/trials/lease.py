"""The lease of a login: `auth.json` copied in for one call, refreshed tokens written back, the copy always removed.

Must never read the user's own Codex home, clobber a login that changed meanwhile, or leave a copy behind.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval_tasks import digests, files, journal
from eval_tasks.errors import ExperimentStopped, FailureCode

AUTH = "auth.json"
LOCK = ".evaluator.lock"
_NEW = ".auth.json.new"
"""What becomes the login when refreshed tokens are written back; one name, so that a kill leaves nothing for ever."""
MAXIMUM_BYTES = 256 * 1024


def check_login_home(home: Path, environment: Mapping[str, str]) -> Path:
    """Return the resolved login home if it is fit to be leased from.

    Raises
    ------
    ExperimentStopped
        One line for each way in which it is not: the user's own home, its owner, its modes, its `auth.json`.
    """
    resolved = Path(os.path.realpath(home))
    own = {Path(environment.get("HOME", "~")).expanduser() / ".codex"}
    if environment.get("CODEX_HOME"):
        own.add(Path(environment["CODEX_HOME"]))
    if any(_same(resolved, path) for path in own):
        raise _unfit("the login home is your own Codex home; make a dedicated one (docs/live-run.md)")
    if not resolved.is_dir():
        raise _unfit("the login home is no folder; make it and sign in once (docs/live-run.md)")
    _check_entry(resolved.lstat(), 0o700, "the login home")
    auth = resolved / AUTH
    if not os.path.lexists(auth):
        raise _unfit("the login home has no auth.json; sign in once (docs/live-run.md)")
    status = auth.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise _unfit("auth.json of the login home is no regular file; sign in again")
    _check_entry(status, 0o600, "auth.json of the login home")
    if _login(auth.read_bytes()) is None:
        raise _unfit("auth.json of the login home holds no login; sign in again")
    return resolved


def _same(home: Path, other: Path) -> bool:
    """Return whether two paths are one folder, by whatever links, mounts or letter case they lead there."""
    try:
        return os.path.realpath(other) == str(home) or os.path.samefile(home, other)
    except OSError:
        return False


def _check_entry(status: os.stat_result, mode: int, what: str) -> None:
    if status.st_uid != os.geteuid():
        raise _unfit(f"{what} belongs to another user; use one of your own")
    if stat.S_IMODE(status.st_mode) != mode:
        raise _unfit(f"{what} can be reached by others; run chmod {mode:o} on it")


def _unfit(message: str) -> ExperimentStopped:
    return ExperimentStopped(message, FailureCode.AUTHENTICATION)


def _login(content: bytes) -> tuple[str, str] | None:
    """Return the account and the refresh token, or the API key twice, of a valid login."""
    if len(content) > MAXIMUM_BYTES:
        return None
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    tokens = value.get("tokens")
    if isinstance(tokens, dict):
        account, refresh = tokens.get("account_id"), tokens.get("refresh_token")
        if isinstance(account, str) and isinstance(refresh, str) and refresh:
            return account, refresh
    key = value.get("OPENAI_API_KEY")
    return (key, key) if isinstance(key, str) and key else None


def lock(home: Path) -> Callable[[], None]:
    """Take the login home for this evaluator alone and return the function that gives it back."""
    return journal.acquire_lock(home / LOCK, "the login home")


@contextmanager
def lease(home: Path, copy: Path, note: Callable[[str], None], give: Callable[[Path], None]) -> Iterator[Path]:
    """Lend the login to one call.

    Parameters
    ----------
    home
        A login home that `check_login_home` accepted.
    copy
        Where the call reads `auth.json`; must not exist.
    note
        Called with the digest of the login before anything is copied, for the journal.
    give
        Called with the copy to make it the call's user's own.
    """
    content = _lendable(home / AUTH)
    source = digests.of_bytes(content)
    note(source)
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        give(copy)
        yield copy
    finally:
        give_back(home, copy, source)


def _lendable(auth: Path) -> bytes:
    """Return the login as it is now, since the user may have signed out after the home was checked."""
    content = _read(auth)
    if content is None or _login(content) is None:
        raise ExperimentStopped(
            "auth.json of the login home holds no login any more; sign in again, then run `doit run_eval` again",
            FailureCode.AUTHENTICATION,
        )
    return content


def give_back(home: Path, copy: Path, source: str) -> bool:
    """Write refreshed tokens back to the login home, then remove the copy; return whether the login was replaced.

    The login is replaced only if the copy changed, is valid, is of the same account, and the login is still what was
    copied: a newer login wins. Runs again safely after a kill at any point.

    Parameters
    ----------
    source
        The digest of the login when it was lent.

    Raises
    ------
    ExperimentStopped
        If the refreshed login can't be written; the copy is removed all the same.
    """
    try:
        content = _read(copy)
        return content is not None and _replace(home / AUTH, content, source)
    except OSError as error:
        raise ExperimentStopped(
            f"the refreshed login can't be written back ({error.strerror}); mend the login home and sign in again",
            FailureCode.AUTHENTICATION,
        ) from error
    finally:
        (home / _NEW).unlink(missing_ok=True)
        if copy.is_dir() and not copy.is_symlink():
            files.remove_tree(copy)
        else:
            copy.unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    """Return a regular file's bytes up to one more than a login may have, or None: an agent could write the copy."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(MAXIMUM_BYTES + 1)
    finally:
        os.close(descriptor)


def _replace(auth: Path, content: bytes, source: str) -> bool:
    refreshed, before = _login(content), _read(auth)
    if refreshed is None or digests.of_bytes(content) == source:
        return False
    if before is None or digests.of_bytes(before) != source:
        return False
    login = _login(before)
    if login is None or login[0] != refreshed[0]:
        return False
    temporary = auth.with_name(_NEW)
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, auth)
    return True
