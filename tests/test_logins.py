"""A lent login through the real Codex, renewed by a loopback authority whose refresh tokens work once."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import authority
from tests.authority import Authority
from tests.chaos import agents, places
from tests.laboratory import Laboratory

pytestmark = pytest.mark.agent

RUN = ("run_eval", "--allow-real-provider")

PLAY = r"""
login=/h/.codex/auth.json
export CODEX_REFRESH_TOKEN_URL_OVERRIDE={address}{refresh}
printf '%s' "$prompt" > /h/prompt
waits() {{ bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf "GET {waits} HTTP/1.0\r\n\r\n" >&3; cat <&3'; }}
"$here/codex-real" "$@" -c 'model_provider="ours"' -c 'model_providers.ours={{name="ours",base_url="{address}{model}",wire_api="responses",requires_openai_auth=true,request_max_retries=0,stream_max_retries=0}}' < /h/prompt &
while kill -0 $! 2> /dev/null; do
  waits | grep -q crash && kill -9 $!
  sleep 0.1
done
wait $!; status=$?
grep -q rt-spoil $login && echo '{{"tokens": ' > $login
exit $status
"""  # noqa: E501


class Signed:
    """A login home, and laboratories whose agent is the real Codex, talking to an authority of ours."""

    def __init__(self, folder: Path, stack: ExitStack, make: Callable[..., Laboratory]) -> None:
        self.folder = folder
        self.home = folder / "login"
        self.home.mkdir(mode=0o700)
        self._stack = stack
        self._make = make

    def laboratory(self, server: Authority, *, repeats: int, call_seconds: int) -> Laboratory:
        """Return a registered experiment on a case without proposals."""
        lab = self._make(cases=[places.silent_case()], probes=[places.silent_probe()])
        lab.settings(library=places.give_small_library(lab.root), repeats=repeats)
        address = self._stack.enter_context(authority.serving(server))
        play = PLAY.format(
            address=address,
            port=address.rpartition(":")[2],
            refresh=authority.REFRESH,
            model=authority.MODEL,
            waits=authority.WAITS,
        )
        agent = agents.package(self.folder / f"agent-{lab.root.name}", {}, {}, default=play)
        lab.limits(callSeconds=call_seconds, stopAfterInfrastructure=100)
        lab.ok("register", "--backend", "codex", "--executable", str(agent), "--auth-home", str(self.home))
        return lab

    def sign_in(self, login: bytes) -> None:
        path = self.home / "auth.json"
        path.write_bytes(login)
        path.chmod(0o600)

    @property
    def login(self) -> bytes:
        """Return the login, after checking that only its owner can read it."""
        path = self.home / "auth.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.stat().st_uid == os.geteuid()
        return path.read_bytes()

    @property
    def refresh_token(self) -> str:
        found: str = json.loads(self.login)["tokens"]["refresh_token"]
        return found


@pytest.fixture
def signed(tmp_path: Path, laboratory: Callable[..., Laboratory]) -> Iterator[Signed]:
    with ExitStack() as stack:
        yield Signed(tmp_path, stack, laboratory)


def failures(lab: Laboratory) -> list[str | None]:
    """Return the failure codes of the arm-runs in the order in which they ran."""
    records = lab.records("arm-runs")
    trials = lab.registration["design"]["schedule"]["trials"]
    return [records[f"{trial['caseId']}.{trial['arm']}.r{trial['repeat']}"]["failure"] for trial in trials]


def test_a_renewed_login_is_written_back_whatever_becomes_of_the_call(signed: Signed) -> None:
    fresh: list[bytes] = []

    def sign_in_again() -> None:
        # While the last call waits, the user signs in anew: that login must stay, though the call has renewed its own.
        if len(server.renewed) == 5:
            fresh.append(server.sign_in("spoil", authority.FRESH))
            signed.sign_in(fresh[0])

    server = Authority(("answer", "hang", "crash", "answer", "hang"), on_hang=sign_in_again)
    signed.sign_in(server.sign_in())
    lab = signed.laboratory(server, repeats=2, call_seconds=6)
    lab.ok(*RUN)
    assert failures(lab) == [None, "call-timeout", "agent-failed", None, "call-timeout", None]
    assert [name.split("-")[1] for name in server.renewed] == ["answer", "hang", "crash", "answer", "hang"]
    # Had one renewal been lost, the next call would have come with a token that was used up.
    assert server.reused == []
    # The last call has spoiled its copy, and the login is still the one that the user made.
    assert fresh == [signed.login]
    assert sorted(path.name for path in signed.home.iterdir()) == [".evaluator.lock", "auth.json"]


def test_a_renewal_survives_the_death_of_the_evaluator_and_no_other_evaluator_may_lend_that_login(
    signed: Signed,
) -> None:
    server = Authority(("hang",))
    signed.sign_in(server.sign_in())
    first = signed.laboratory(server, repeats=1, call_seconds=120)
    second = signed.laboratory(Authority(), repeats=1, call_seconds=120)
    before = signed.login
    refused = []

    def waiting() -> bool:
        if server.hanging.is_set():
            refused.append(second.stopped(*RUN))
        return server.hanging.is_set()

    assert first.kill_when(waiting, *RUN) == -9
    assert refused[0].startswith("the login home is in use by process ")
    assert second.records("arm-runs") == {}
    assert signed.login == before
    copies = list((first.work / "calls").glob("*/auth.json"))
    assert len(copies) == 1
    assert "interrupted" in first.ok("recover")
    assert signed.refresh_token == server.renewed[-1] != json.loads(before)["tokens"]["refresh_token"]
    assert list((first.work / "calls").iterdir()) == []
    first.ok(*RUN)
    assert sorted(map(str, failures(first))) == ["None", "None", "interrupted"]
    assert server.reused == []
    assert signed.refresh_token == server.renewed[-1]


def test_what_is_no_dedicated_login_home_is_refused_at_registration_in_one_line(
    signed: Signed, laboratory: Callable[..., Laboratory]
) -> None:
    lab = laboratory(cases=[places.silent_case()], probes=[places.silent_probe()])
    lab.settings(library=places.give_small_library(lab.root))
    me = signed.folder / "me"
    me.mkdir()
    own = me / ".codex"
    link = signed.folder / "link"
    link.symlink_to(own)
    signed.home.rename(own)
    (own / "auth.json").write_bytes(Authority().sign_in())
    (own / "auth.json").chmod(0o600)
    options = ("register", "--backend", "codex", "--accept-shortfall", "--auth-home")
    for home, environment in ((own, {"HOME": str(me)}), (link, {"HOME": str(me)}), (link, {"CODEX_HOME": str(own)})):
        said = lab.stopped(*options, str(home), **environment)
        assert said == "the login home is your own Codex home; make a dedicated one (docs/live-run.md)"
    for path, mode, back in ((own, 0o750, 0o700), (own / "auth.json", 0o640, 0o600)):
        path.chmod(mode)
        said = lab.stopped(*options, str(own))
        assert said.endswith(f"can be reached by others; run chmod {back:o} on it")
        path.chmod(back)
    (own / "auth.json").write_bytes(b"")
    assert "holds no login; sign in again" in lab.stopped(*options, str(own))
    (own / "auth.json").unlink()
    assert "has no auth.json; sign in once" in lab.stopped(*options, str(own))
    assert not (lab.root / "experiments" / "current").exists()
