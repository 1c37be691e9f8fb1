from __future__ import annotations

import errno
import json
import os
import resource
import signal
import stat
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eval_tasks import digests
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.trials import lease
from tests import forks

ROOT = os.geteuid() == 0
AGENTS_USER = 65_534


def chatgpt(refresh: Any = "rt-1", account: Any = "account-1", **more: Any) -> bytes:
    """Return a login as Codex writes it for a subscription."""
    tokens = {"id_token": "id", "access_token": "at", "refresh_token": refresh, "account_id": account}
    return json.dumps({"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": tokens, **more}).encode()


def api_key(key: str = "sk-1") -> bytes:
    return json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": key}).encode()


OLD = chatgpt()
NEW = chatgpt("rt-2", last_refresh="2026-01-02T03:04:05Z")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a login home that is fit to be leased from."""
    found = tmp_path / "login"
    found.mkdir(mode=0o700)
    sign_in(found, OLD)
    return found


def sign_in(home: Path, content: bytes) -> None:
    """Write a login as `codex login` would, with its modes."""
    (home / "auth.json").write_bytes(content)
    (home / "auth.json").chmod(0o600)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path / "me"), **more}


def refusal(home: Path, env: dict[str, str]) -> str:
    with pytest.raises(ExperimentStopped) as caught:
        lease.check_login_home(home, env)
    said = str(caught.value)
    assert "\n" not in said
    assert str(home.parent) not in said
    return said


# Which homes are refused


def test_a_dedicated_home_is_accepted_also_by_a_link(home: Path, tmp_path: Path) -> None:
    assert lease.check_login_home(home, environment(tmp_path)) == home.resolve()
    (tmp_path / "link").symlink_to(home)
    assert lease.check_login_home(tmp_path / "link", environment(tmp_path, CODEX_HOME="")) == home.resolve()


OWN = "the login home is your own Codex home; make a dedicated one (docs/live-run.md)"


def make_own(tmp_path: Path) -> Path:
    """Make the user's own Codex home, which would pass in every other way."""
    own = tmp_path / "me" / ".codex"
    own.mkdir(mode=0o700, parents=True)
    sign_in(own, OLD)
    return own


def test_the_users_own_home_is_refused_under_each_of_its_names(home: Path, tmp_path: Path) -> None:
    own = make_own(tmp_path)
    (tmp_path / "link").symlink_to(own)
    (tmp_path / "again").symlink_to("link")
    (tmp_path / "me" / "sub").mkdir()
    for name in (own, tmp_path / "link", tmp_path / "again", tmp_path / "me" / "sub" / ".." / ".codex"):
        assert refusal(name, environment(tmp_path)) == OWN


def test_the_users_own_home_is_refused_if_it_is_itself_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / ".codex").symlink_to(home)
    assert refusal(home, environment(tmp_path)) == OWN


def test_the_users_own_home_is_refused_even_before_there_is_anything_in_it(tmp_path: Path) -> None:
    assert refusal(tmp_path / "me" / ".codex", environment(tmp_path)) == OWN


def test_what_codex_home_names_is_refused_also_by_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    for name in (str(home), str(tmp_path / "link"), f"{home}/"):
        assert refusal(home, environment(tmp_path, CODEX_HOME=name)) == OWN
    assert refusal(tmp_path / "link", environment(tmp_path, CODEX_HOME=str(home))) == OWN


def test_refusing_the_users_own_home_never_reads_its_login(tmp_path: Path) -> None:
    own = make_own(tmp_path)

    def refuse_and_watch() -> None:
        opened = []
        sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
        refusal(own, environment(tmp_path))
        assert [name for name in opened if ".codex" in name] == []

    assert forks.run(refuse_and_watch) == 0


def test_a_home_that_is_no_folder_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for name in ("nowhere", "loop", "login/auth.json"):
        assert refusal(tmp_path / name, environment(tmp_path)).startswith("the login home is no folder; make it")


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o770, 0o1700, 0o500])
def test_a_home_of_any_other_mode_than_0700_is_refused(home: Path, tmp_path: Path, mode: int) -> None:
    home.chmod(mode)
    assert refusal(home, environment(tmp_path)) == "the login home can be reached by others; run chmod 700 on it"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o700, 0o4600, 0o400])
def test_a_login_of_any_other_mode_than_0600_is_refused(home: Path, tmp_path: Path, mode: int) -> None:
    (home / "auth.json").chmod(mode)
    said = refusal(home, environment(tmp_path))
    assert said == "auth.json of the login home can be reached by others; run chmod 600 on it"


@pytest.mark.skipif(not ROOT, reason="only root can give a file away")
@pytest.mark.parametrize(("name", "what"), [(".", "the login home"), ("auth.json", "auth.json of the login home")])
def test_what_another_user_owns_is_refused(home: Path, tmp_path: Path, name: str, what: str) -> None:
    os.chown(home / name, AGENTS_USER, AGENTS_USER)
    assert refusal(home, environment(tmp_path)) == f"{what} belongs to another user; use one of your own"


@pytest.mark.skipif(ROOT, reason="root owns the system's folders")
def test_a_home_of_another_user_is_refused(tmp_path: Path) -> None:
    said = refusal(Path("/usr"), environment(tmp_path))
    assert said == "the login home belongs to another user; use one of your own"


def test_a_home_without_a_login_is_refused(home: Path, tmp_path: Path) -> None:
    (home / "auth.json").unlink()
    assert refusal(home, environment(tmp_path)) == "the login home has no auth.json; sign in once (docs/live-run.md)"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b'"sk-1"',
        b"\xff\xfe{}",
        b"[" * 100_000,
        chatgpt(refresh=""),
        chatgpt(refresh=None),
        chatgpt(refresh=7),
        chatgpt(account=None),
        api_key(""),
        b'{"OPENAI_API_KEY": null, "tokens": null}',
        chatgpt(padding="x" * lease.MAXIMUM_BYTES),
    ],
)
def test_a_login_that_is_empty_or_invalid_is_refused(home: Path, tmp_path: Path, content: bytes) -> None:
    sign_in(home, content)
    assert refusal(home, environment(tmp_path)) == "auth.json of the login home holds no login; sign in again"


@pytest.mark.parametrize("content", [OLD, NEW, api_key(), chatgpt(padding="x" * 1_000)])
def test_a_login_of_a_subscription_or_with_a_key_is_accepted(home: Path, tmp_path: Path, content: bytes) -> None:
    sign_in(home, content)
    assert lease.check_login_home(home, environment(tmp_path)) == home.resolve()


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_a_login_that_is_no_regular_file_is_refused_and_never_waited_for(home: Path, tmp_path: Path, kind: str) -> None:
    auth = home / "auth.json"
    auth.rename(tmp_path / "elsewhere.json")
    if kind == "link":
        auth.symlink_to(tmp_path / "elsewhere.json")
    elif kind == "dangling":
        auth.symlink_to(tmp_path / "nowhere.json")
    elif kind == "pipe":
        os.mkfifo(auth, 0o600)
    else:
        auth.mkdir(mode=0o600)
    said = refusal(home, environment(tmp_path))
    assert said == "auth.json of the login home is no regular file; sign in again"


def test_a_second_evaluator_on_one_login_home_is_refused_until_the_first_is_done(home: Path) -> None:
    give_up = lease.lock(home)

    def second() -> None:
        with pytest.raises(
            ExperimentStopped, match=f"^the login home is in use by process {os.getppid()}; wait for it"
        ):
            lease.lock(home)

    assert forks.run(second) == 0
    give_up()
    lease.lock(home)()
    assert lease.check_login_home(home, {"HOME": "/nonexistent"}) == home.resolve()


# What a call leaves


class Lent:
    """One lease: what was noted before it, what the agent found, and whether the login was replaced."""

    def __init__(self, home: Path, agent: Callable[[Path], object] = lambda copy: None) -> None:
        self.home = home
        self.copy = home.parent / "call" / "auth.json"
        self.noted: list[str] = []
        self.copy.parent.mkdir()
        with lease.lease(home, self.copy, self.note, self.give) as copy:
            assert copy == self.copy
            self.found = copy.read_bytes()
            self.mode = stat.S_IMODE(copy.stat().st_mode)
            agent(copy)

    def note(self, source: str) -> None:
        assert not self.copy.exists()
        self.noted.append(source)

    def give(self, copy: Path) -> None:
        if ROOT:
            os.chown(copy, AGENTS_USER, AGENTS_USER)

    @property
    def login(self) -> bytes:
        """Return what the login home holds now, after checking that nothing else was left anywhere."""
        assert os.listdir(self.copy.parent) == []
        assert os.listdir(self.home) == ["auth.json"]
        assert stat.S_IMODE((self.home / "auth.json").stat().st_mode) == 0o600
        assert (self.home / "auth.json").stat().st_uid == os.geteuid()
        return (self.home / "auth.json").read_bytes()


def test_a_call_reads_the_login_as_it_was_noted_and_nobody_else_can(home: Path) -> None:
    lent = Lent(home)
    assert (lent.found, lent.mode, lent.noted) == (OLD, 0o600, [digests.of_bytes(OLD)])
    assert lent.login == OLD


def test_an_unchanged_login_is_not_even_touched(home: Path) -> None:
    before = (home / "auth.json").stat()
    lent = Lent(home, lambda copy: copy.write_bytes(OLD))
    after = (home / "auth.json").stat()
    assert lent.login == OLD
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def in_place(content: bytes) -> Callable[[Path], object]:
    return lambda copy: copy.write_bytes(content)


def replaced(content: bytes) -> Callable[[Path], object]:
    def replace(copy: Path) -> None:
        fresh = copy.with_name("fresh")
        fresh.write_bytes(content)
        fresh.replace(copy)

    return replace


@pytest.mark.parametrize("write", [in_place, replaced])
def test_a_refresh_is_written_back_however_the_agent_writes_it(
    home: Path, write: Callable[[bytes], Callable[[Path], object]]
) -> None:
    assert Lent(home, write(NEW)).login == NEW


def test_whoever_reads_the_login_meanwhile_never_sees_half_of_a_new_one(home: Path) -> None:
    with open(home / "auth.json", "rb") as reader:
        assert Lent(home, in_place(NEW)).login == NEW
        assert reader.read() == OLD


@pytest.mark.parametrize(
    "rewrite",
    [
        b"",
        NEW[:-1],
        NEW[: len(NEW) // 2],
        b"{}",
        b"\xff",
        chatgpt(refresh=""),
        chatgpt(refresh=None),
        chatgpt("rt-2", account="account-2"),
        chatgpt("rt-2", account=None),
        chatgpt("rt-2", padding="x" * lease.MAXIMUM_BYTES),
        api_key(),
    ],
)
def test_a_rewrite_that_is_invalid_or_of_another_account_is_ignored(home: Path, rewrite: bytes) -> None:
    assert Lent(home, in_place(rewrite)).login == OLD


def test_a_login_with_a_key_is_lent_and_never_replaced(home: Path) -> None:
    sign_in(home, api_key())
    lent = Lent(home, in_place(api_key("sk-2")))
    assert (lent.found, lent.login) == (api_key(), api_key())


@pytest.mark.parametrize("newer", [chatgpt("rt-9"), chatgpt("rt-9", account="account-9"), api_key(), b"", b"{"])
def test_a_login_that_changed_meanwhile_wins_over_a_refresh(home: Path, newer: bytes) -> None:
    def sign_in_and_refresh(copy: Path) -> None:
        sign_in(home, newer)
        copy.write_bytes(NEW)

    assert Lent(home, sign_in_and_refresh).login == newer


def test_a_login_that_was_removed_meanwhile_stays_removed(home: Path) -> None:
    def sign_out_and_refresh(copy: Path) -> None:
        (home / "auth.json").unlink()
        copy.write_bytes(NEW)

    lent = Lent(home, sign_out_and_refresh)
    assert os.listdir(home) == []
    assert os.listdir(lent.copy.parent) == []


def link_away(copy: Path) -> None:
    target = copy.parent.parent / "target.json"
    target.write_bytes(NEW)
    copy.unlink()
    copy.symlink_to(target)


def pipe(copy: Path) -> None:
    copy.unlink()
    os.mkfifo(copy)


def folder(copy: Path) -> None:
    copy.unlink()
    (copy / "deep").mkdir(parents=True)
    (copy / "deep" / "x").write_bytes(NEW)


@pytest.mark.parametrize("agent", [Path.unlink, link_away, pipe, folder])
def test_what_an_agent_put_in_the_place_of_the_copy_is_never_followed_or_waited_for_and_always_gone(
    home: Path, agent: Callable[[Path], object]
) -> None:
    assert Lent(home, agent).login == OLD
    target = home.parent / "target.json"
    assert not target.exists() or target.read_bytes() == NEW


@pytest.mark.parametrize("error", [RuntimeError("a fault"), ExperimentStopped("mend it"), KeyboardInterrupt()])
@pytest.mark.parametrize("rewrite", [OLD, NEW])
def test_a_refresh_survives_whatever_ends_the_call(home: Path, error: BaseException, rewrite: bytes) -> None:
    copy = home.parent / "auth.json"

    def call() -> None:
        with lease.lease(home, copy, void, void):
            copy.write_bytes(rewrite)
            raise error

    with pytest.raises(type(error)):
        call()
    assert not copy.exists()
    assert (home / "auth.json").read_bytes() == rewrite


def test_a_fault_before_the_call_leaves_no_copy(home: Path) -> None:
    copy = home.parent / "auth.json"

    def fail(_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    for note, give in ((fail, void), (void, fail)):
        with pytest.raises(OSError, match="not permitted"), lease.lease(home, copy, note, give):
            raise AssertionError("a call was made")
        assert not copy.exists()
        assert (home / "auth.json").read_bytes() == OLD


@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_a_login_that_is_gone_before_it_is_lent_stops_the_run_in_one_line(home: Path, content: bytes | None) -> None:
    (home / "auth.json").unlink()
    if content is not None:
        sign_in(home, content)
    with pytest.raises(ExperimentStopped, match=r"^auth\.json of the login home holds no login any more; ") as caught:
        Lent(home)
    assert caught.value.code is FailureCode.AUTHENTICATION
    assert os.listdir(home.parent / "call") == []


def test_a_file_that_lies_where_the_copy_would_be_is_neither_read_nor_removed(home: Path) -> None:
    copy = home.parent / "auth.json"
    copy.write_bytes(NEW)
    with pytest.raises(FileExistsError), lease.lease(home, copy, void, void):
        raise AssertionError("a call was made")
    assert copy.read_bytes() == NEW
    assert (home / "auth.json").read_bytes() == OLD


def test_a_full_disk_stops_the_run_in_one_line_with_the_old_login_whole_and_no_copy_left(home: Path) -> None:
    copy = home.parent / "auth.json"

    def refresh_with_no_room() -> None:
        with lease.lease(home, copy, void, void):
            copy.write_bytes(NEW)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))

    def stopped() -> None:
        with pytest.raises(ExperimentStopped, match=r"^the refreshed login can't be written back \(") as caught:
            refresh_with_no_room()
        assert caught.value.code is FailureCode.AUTHENTICATION

    assert forks.run(stopped) == 0
    assert not copy.exists()
    assert os.listdir(home) == ["auth.json"]
    assert (home / "auth.json").read_bytes() == OLD


# A kill at every step

STEPS = ("open", "os.rename", "os.remove", "os.chmod", "os.chown")


def die_at(point: int, folder: Path) -> None:
    """Kill this process before the step of that number that touches a folder."""
    reached = forks.kill_at(point)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in STEPS and str(arguments[0]).startswith(str(folder)):
            reached()

    sys.addaudithook(watch)


def lend_and_die(home: Path, point: int) -> None:
    """Lend a login to a call that refreshes it, and die at a step; the note stands for the journal's."""
    base = home.parent
    die_at(point, base)
    with lease.lease(home, base / "copy", lambda source: void((base / "note").write_text(source)), give) as copy:
        copy.write_bytes(NEW)


def give(copy: Path) -> None:
    os.chmod(copy, 0o600)


def void(_: object) -> None:
    """Drop what a function returns."""


def heal(home: Path) -> None:
    """Do what the next start does: give a noted lease back if its copy is there."""
    base = home.parent
    source = (base / "note").read_text() if (base / "note").exists() else ""
    if source:
        lease.give_back(home, base / "copy", source)


def heal_and_die(home: Path, point: int) -> None:
    die_at(point, home.parent)
    heal(home)


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def healed(home: Path) -> bytes:
    """Return the login after checking that no copy and nothing half-written is left."""
    assert not (home.parent / "copy").exists()
    assert os.listdir(home) == ["auth.json"]
    assert stat.S_IMODE((home / "auth.json").stat().st_mode) == 0o600
    return (home / "auth.json").read_bytes()


def test_a_kill_at_any_step_is_healed_and_no_finished_refresh_is_lost(tmp_path: Path) -> None:
    kept = []
    for point in range(40):
        home = tmp_path / str(point) / "login"
        home.mkdir(mode=0o700, parents=True)
        sign_in(home, OLD)
        status = forks.run(partial(lend_and_die, home, point))
        if status == 0:
            assert healed(home) == NEW
            break
        assert status == -signal.SIGKILL
        assert (home.parent / "note").exists() or not (home.parent / "copy").exists()
        refreshed = NEW in (content_of(home / "auth.json"), content_of(home.parent / "copy"))
        for _ in range(2):
            heal(home)
            assert healed(home) == (NEW if refreshed else OLD)
        kept.append(refreshed)
    else:
        raise AssertionError("the lease never ended")
    assert kept == sorted(kept)
    assert kept.count(False) >= 5
    assert kept.count(True) >= 5


def test_a_kill_at_any_step_of_the_healing_is_healed_as_well(tmp_path: Path) -> None:
    killed = 0
    for point in range(40):
        home = tmp_path / str(point) / "login"
        home.mkdir(mode=0o700, parents=True)
        sign_in(home, OLD)
        (home.parent / "note").write_text(digests.of_bytes(OLD))
        (home.parent / "copy").write_bytes(NEW)
        (home / ".auth.json.new").write_bytes(NEW[:10])
        status = forks.run(partial(heal_and_die, home, point))
        if status == 0:
            break
        assert status == -signal.SIGKILL
        heal(home)
        assert healed(home) == NEW
        killed += 1
    assert healed(home) == NEW
    assert killed >= 5
