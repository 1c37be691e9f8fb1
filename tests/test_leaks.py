"""Canaries in every private thing, and a search for them wherever a run leaves a byte or prints one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_tasks import boundary, sandbox, schedule
from eval_tasks.stages.assemble import node_on_path
from tests.chaos import agents, kills, places
from tests.chaos.canaries import SEQUENCES, Canaries, obeyed
from tests.laboratory import Laboratory

pytestmark = pytest.mark.agent

INPUTS = ("corpus", "library", "eval_tasks", "toolchain", "tests")
"""What a user put into the project, canaries and all."""

SHARED = ("/tmp", "/var/tmp", "/dev/shm")


class Watched:
    """A laboratory full of canaries, whose commands' outputs are kept and whose places can be searched."""

    def __init__(self, folder: Path) -> None:
        self.canaries = Canaries(work=str(sandbox.work_root()), node=str(node_on_path()))
        self.began = time.time()
        self.said: list[str] = []
        self.home = folder / self.canaries["home"]
        self.places = {name: self.home / name for name in ("state", "cache", "config", "data", "temp")}
        for place in (self.home, *self.places.values()):
            place.mkdir(mode=0o700)
        (self.case,) = places.proposing_cases(1)
        self.lab = Laboratory(
            folder / self.canaries["project"],
            cases=[self.case],
            probes=[places.silent_probe()],
            rehearsal={"default": "nop"},
        )
        self.lab.settings(library=places.give_library_of(self.lab.root, self.case))
        self.skill = places.cases()[self.case]["skill"]
        self._plant()

    def _plant(self) -> None:
        folder, library = self.lab.root / "corpus" / "cases" / self.case, self.lab.root / "library"
        case = yaml.safe_load((folder / "case.yaml").read_text("utf-8"))
        case["prompt"] += f"\nBy the way: {self.canaries['prompt']}\n"
        (folder / "case.yaml").write_text(yaml.safe_dump(case, sort_keys=False), "utf-8")
        (folder / "workspace" / "notes.txt").write_text(self.canaries["case-file"], "ascii")
        others = [path.name for path in library.iterdir() if path.name not in (self.skill, *places.SMALL)]
        for channel, skill in (
            ("selected-skill", self.skill),
            ("installed-skill", places.SMALL[0]),
            ("other-skill", others[0]),
        ):
            with open(library / skill / "SKILL.md", "a", encoding="utf-8") as stream:
                stream.write(f"\n{self.canaries[channel]}\n")
        self.lab.vouch()

    def environment(self, extra: dict[str, str]) -> dict[str, str]:
        kept = {name: str(place) for name, place in self.places.items()}
        return {
            "HOME": str(self.home),
            "TMPDIR": kept["temp"],
            "XDG_STATE_HOME": kept["state"],
            "XDG_CACHE_HOME": kept["cache"],
            "XDG_CONFIG_HOME": kept["config"],
            "XDG_DATA_HOME": kept["data"],
            "USER": self.canaries["user"],
            "LOGNAME": self.canaries["user"],
            "SETTING_OF_MINE": self.canaries["environment"],
            "CODEX_API_KEY": self.canaries["api-key"],
            **extra,
        }

    def doit(self, *arguments: str, status: int = 0, **extra: str) -> str:
        """Run a command that ends with this status, and return all that it printed."""
        ran = self.lab.doit(*arguments, **self.environment(extra))
        said = ran.stdout + ran.stderr
        self.said.append(said)
        assert ran.returncode == status, said
        return said

    def kill(self, condition: Callable[[], bool], *arguments: str) -> None:
        """Run a command, and kill it as soon as something holds."""
        process = subprocess.Popen(
            [sys.executable, "-m", "doit", *arguments],
            cwd=self.lab.root,
            env=self.lab._environment(self.environment({})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        end = time.monotonic() + 120
        while not condition():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        self.said.append(process.communicate()[0])

    def leaks(self, *, live: bool = False) -> list[str]:
        """Return where a canary stands: on disk, or in what was printed.

        Parameters
        ----------
        live
            Whether a call was at work just now, so that its folder, the golden installs and what it left are where
            they have to be.
        """
        found = [f"project: {line}" for line in self.canaries.below(self.lab.root, skip=lambda name: name in INPUTS)]
        found += [f"home: {line}" for line in self.canaries.below(self.home)]
        for place in SHARED:
            found += [f"{place}: {line}" for line in self.canaries.below(Path(place), skip=self._foreign(Path(place)))]
        if self.lab.work.exists():
            kept = ("installs", "submissions", *(("calls",) if live else ()))
            found += [f"work: {line}" for line in self.canaries.below(self.lab.work, skip=lambda name: name in kept)]
        return found + self.spoken()

    def spoken(self) -> list[str]:
        """Return what was printed and should not have been: a canary, or what a terminal obeys."""
        said = "\n".join(self.said)
        found = [f"{channel} was printed" for channel in sorted(self.canaries.within(said.encode("utf-8")))]
        return found + [f"{character!r} was printed" for character in sorted(obeyed(said))]

    def _foreign(self, place: Path) -> Callable[[str], bool]:
        """Skip what other tests and other people keep in a shared folder: all that is old, or deep, or pytest's."""

        def skip(name: str) -> bool:
            path = place / name
            try:
                old = path.lstat().st_mtime < self.began
            except OSError:
                return True
            return old or name.count("/") > 2 or name.startswith("pytest-of-") or not os.access(path, os.R_OK)

        return skip

    def calls_hold(self) -> set[str]:
        """Return the channels that the folders of calls hold, to see that the search finds what is there."""
        return {line.split(" in ")[0] for line in self.canaries.below(self.lab.work / "calls")}


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    found = Watched(tmp_path)
    yield found
    if (found.lab.root / "experiments" / "current").exists():
        assert found.lab.survivors() == []
    found.lab.close()


def test_a_search_finds_a_word_in_every_coding_and_in_names() -> None:
    canaries = Canaries()
    assert canaries.within(b"nothing of that") == set()
    assert canaries.within(canaries["login"].encode("ascii")) == {"login"}


LOOK = [
    "env; cat notes.txt; cat ~/.codex/skills/*/SKILL.md; git log",
    "echo {output}; echo {stderr} >&2; printf '\\033]0;owned\\007\\r'; touch {file-name}; echo {output} > out.txt",
]


def test_a_whole_rehearsal_leaves_no_canary_on_disk_and_prints_none(watched: Watched) -> None:
    spoken = {channel: watched.canaries.spoken(channel) for channel in ("output", "stderr", "file-name")}
    watched.lab.settings(
        rehearsal={
            "default": "oracle",
            "trials": {watched.case: {"full": "attack:look", "auto-lean": "wrong"}},
            "attacks": {"look": [command.format(**spoken) for command in LOOK]},
        }
    )
    for command in ("register", "plan", "run_eval", "status", "report", "verify", "doctor", "list"):
        watched.doit(command)
    assert watched.leaks() == []
    assert not watched.lab.work.exists()
    watched.doit("purge")
    outcomes = {row["arm"]: row["failure"] for row in watched.lab.report["outcomes"]}
    assert outcomes == {"full": "hidden-check", "manual-lean": None, "auto-lean": "hidden-check"}


TELLS = r"""
start
printf '\033]0;owned\007\033[2J\r' >&2; echo "{stderr}" >&2; env >&2
secret="$CODEX_API_KEY $(cat /h/.codex/auth.json 2>/dev/null | tr -d '"')"
say "{message} $secret \u001b]0;owned\u0007\r"
item "{{\"type\":\"command_execution\",\"command\":\"cat /h/.codex/skills/{command}/SKILL.md \u001b[2J\",\"status\":\"completed\",\"exit_code\":0,\"aggregated_output\":\"{output} $secret\"}}"
item "{{\"type\":\"error\",\"message\":\"{message} \u001b[2J\"}}"
cd /w; echo "{output} $secret" > told.txt; mkdir -p "{file-name}"; printf x > "$(printf '\033]0;owned\007\r')"
"""  # noqa: E501

LIMITED = r"""
echo "{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"You've hit your usage limit. {message} try again at \u001b]0;owned\u0007 {message}.\"}}}}"
exit 1
"""  # noqa: E501


def arms_in_order(watched: Watched) -> list[str]:
    return [trial.arm for trial in schedule.trials([watched.case], agents.ARMS, 1)]


def leaky(watched: Watched, folder: Path) -> Path:
    """Make an agent that tells everything it knows: hangs in one arm, meets a usage limit in the next, then ends."""
    spoken = {
        channel: watched.canaries.spoken(channel) for channel in ("stderr", "message", "output", "command", "file-name")
    }
    tells = TELLS.format(**spoken)
    first = places.cases()[watched.case]["prompt"].strip().split("\n")[0]
    first_arm, second_arm, _ = arms_in_order(watched)
    plays = {
        f"{watched.case}.{first_arm}": f"{tells}\nsleep 600",
        f"{watched.case}.{second_arm}": tells + LIMITED.format(**spoken),
    }
    return agents.package(folder / "agent", {watched.case: first}, plays, default=f"{tells}\nend", most_lean=3)


def credential(watched: Watched, mode: str) -> list[str]:
    """Return the options of a registration with this authentication, and make the login home that it names."""
    if mode == "api-key":
        return []
    login = watched.home.parent / "login"
    login.mkdir(mode=0o700)
    (login / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": watched.canaries["login"]}), "ascii")
    (login / "auth.json").chmod(0o600)
    return ["--auth-home", str(login)]


@pytest.mark.parametrize(("mode", "secret"), [("api-key", "api-key"), ("login-home", "login")])
def test_an_agent_that_tells_all_it_knows_leaks_nothing_before_or_after_a_kill(
    watched: Watched, tmp_path: Path, mode: str, secret: str
) -> None:
    agent = leaky(watched, tmp_path)
    options = ["--backend", "codex", "--executable", str(agent), *credential(watched, mode)]
    watched.doit("register", *options)
    told = watched.lab.work / "calls"
    run = ("run_eval", "--allow-real-provider")
    watched.kill(lambda: any(told.glob("*/w/told.txt")) and any(told.glob("*/w/*]0;owned*")), *run)
    assert {"case-file", "output", "file-name", secret} <= watched.calls_hold()
    assert watched.leaks(live=True) == []
    first, second, third = arms_in_order(watched)
    assert f"{watched.case}.{first}.r1: interrupted" in watched.doit("recover")
    assert watched.calls_hold() == set()
    assert watched.leaks() == []
    watched.doit("purge")
    assert not watched.lab.work.exists()
    said = watched.doit(*run, status=1)
    assert "the provider's quota or usage limit is reached" in said
    watched.doit(*run)
    for command in ("status", "report", "verify"):
        watched.doit(command)
    assert watched.leaks() == []
    assert not watched.lab.work.exists()
    outcomes = {row["arm"]: row["failure"] for row in watched.lab.report["outcomes"]}
    assert outcomes == {first: "interrupted", second: "rate-limited", third: "hidden-check"}


FAULTS = (
    ("register", "stages.register:_retained:before"),
    ("run_eval", "installs.build:Builder._observe:before"),
    ("run_eval", "stages.run_arm:_choose:after"),
    ("run_eval", "agents.codex:read:after"),
    ("run_eval", "stages.completion:is_graded:before"),
    ("run_eval", "rehearsal.model:Endpoint.answer:before"),
    ("status", "registration:current:before"),
    ("report", "stages.publish:publish_report:before"),
)
"""In stages, in what doit asks before a task, in the model's thread and while doit loads."""


def test_an_unexpected_exception_shows_its_type_and_frames_only_wherever_it_comes_up(watched: Watched) -> None:
    def fail(command: str, place: str, **extra: str) -> str:
        ran = watched.lab.doit(
            command,
            **watched.environment(
                {
                    "PYTHONPATH": str(kills.TRACER),
                    "CONTEXT_EVAL_KILL": f"eval_tasks.{place}:1:0:",
                    "CONTEXT_EVAL_RAISE": f"{watched.canaries['exception']} {SEQUENCES}",
                    **extra,
                }
            ),
        )
        assert "RuntimeError" in ran.stderr, f"never came to {place}: {ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    shown: dict[str, Any] = {}
    for command, place in FAULTS:
        shown[place] = fail(command, place)
        watched.said.append(shown[place])
        if command == "register":
            watched.doit("register")
        assert "Traceback" not in shown[place]
        assert f"a fault of the evaluator: RuntimeError (set {boundary.DEBUG}=1 to see all of it)" in shown[place]
    assert watched.leaks() == []
    # Asked for, all of it goes to the terminal, and to nothing else.
    said = fail("report", "stages.publish:publish_report:before", **{boundary.DEBUG: "1"})
    assert watched.canaries["exception"] in said
    assert obeyed(said) == set()
    assert watched.leaks() == []


def test_a_name_of_the_library_or_the_corpus_cannot_speak_to_the_terminal(watched: Watched) -> None:
    watched.doit("register")
    case = watched.lab.root / "corpus" / "cases" / watched.case
    for folder, command in ((watched.lab.root / "library", "doctor"), (case / "workspace", "register")):
        odd = folder / f"a{SEQUENCES}b"
        odd.mkdir()
        (odd / "SKILL.md").write_text(f"---\nname: a{SEQUENCES}\ndescription: b{SEQUENCES}\n---\n{SEQUENCES}", "utf-8")
        for said in (watched.doit("gate", status=1), watched.doit(command, status=1)):
            assert "Traceback" not in said
            assert r"\x1b]0;owned\x07" in said
        (odd / "SKILL.md").unlink()
        odd.rmdir()
    with open(case / "case.yaml", "a", encoding="utf-8") as stream:
        stream.write(f'"a{"".join(map(escaped, SEQUENCES))}": 1\n')
    assert r"\x1b]0;owned\x07" in watched.doit("gate", status=1)
    assert watched.spoken() == []


def escaped(character: str) -> str:
    return f"\\u{ord(character):04x}"
