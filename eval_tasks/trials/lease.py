"""The lease of a login: `auth.json` copied in for one call, refreshed tokens written back, the copy always removed.

Must never read the user's own Codex home, clobber a login that changed meanwhile, or leave a copy behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval_tasks import digests, journal
from eval_tasks.errors import ExperimentStopped

AUTH = "auth.json"
LOCK = ".evaluator.lock"
MAXIMUM_BYTES = 256 * 1024


def check_login_home(home: Path, environment: Mapping[str, str]) -> Path:
    """Return the resolved login home if it is fit to be leased from.

    Raises
    ------
    ExperimentStopped
        One line for each way in which it is not: the user's own home, its owner, its modes, its `auth.json`.
    """
    resolved = home.resolve()
    own = {Path(environment.get("HOME", "~")).expanduser() / ".codex"}
    if environment.get("CODEX_HOME"):
        own.add(Path(environment["CODEX_HOME"]))
    if resolved in {path.resolve() for path in own}:
        raise ExperimentStopped("the login home is your own Codex home; make a dedicated one (docs/live-run.md)")
    if not resolved.is_dir():
        raise ExperimentStopped("the login home is no folder; make it and sign in once (docs/live-run.md)")
    _check_entry(resolved.lstat(), 0o700, "the login home")
    auth = resolved / AUTH
    if not os.path.lexists(auth):
        raise ExperimentStopped("the login home has no auth.json; sign in once (docs/live-run.md)")
    status = auth.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise ExperimentStopped("auth.json of the login home is no regular file; sign in again")
    _check_entry(status, 0o600, "auth.json of the login home")
    if _login(auth.read_bytes()) is None:
        raise ExperimentStopped("auth.json of the login home holds no login; sign in again")
    return resolved


def _check_entry(status: os.stat_result, mode: int, what: str) -> None:
    if status.st_uid != os.geteuid():
        raise ExperimentStopped(f"{what} belongs to another user; use one of your own")
    if stat.S_IMODE(status.st_mode) != mode:
        raise ExperimentStopped(f"{what} can be reached by others; run chmod {mode:o} on it")


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
    content = (home / AUTH).read_bytes()
    source = digests.of_bytes(content)
    note(source)
    try:
        descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        give(copy)
        yield copy
    finally:
        give_back(home, copy, source)


def give_back(home: Path, copy: Path, source: str) -> bool:
    """Write refreshed tokens back to the login home, then remove the copy; return whether the login was replaced.

    The login is replaced only if the copy changed, is valid, is of the same account, and the login is still what was
    copied: a newer login wins. Runs again safely after a kill at any point.

    Parameters
    ----------
    source
        The digest of the login when it was lent.
    """
    replaced = False
    try:
        with contextlib.suppress(FileNotFoundError):
            replaced = _replace(home / AUTH, _read_copy(copy), source)
    finally:
        copy.unlink(missing_ok=True)
    return replaced


def _read_copy(copy: Path) -> bytes:
    descriptor = os.open(copy, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(MAXIMUM_BYTES + 1)


def _replace(auth: Path, content: bytes, source: str) -> bool:
    refreshed = _login(content)
    before = auth.read_bytes()
    if refreshed is None or digests.of_bytes(content) == source or digests.of_bytes(before) != source:
        return False
    login = _login(before)
    if login is None or login[0] != refreshed[0]:
        return False
    temporary = auth.with_name(f".{AUTH}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, auth)
    return True
