"""`make chaos`: kills the evaluator at every named point and at random ones, plays every fault, and prints the counts.

Must never print a figure that it did not count, nor end with status 0 if anything did not come out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.chaos import agents, kills, places
from tests.chaos.kills import Count, Point, Series
from tests.laboratory import REPOSITORY, Laboratory

A_SERIES = 40
"""How many kills one experiment takes; then a new one begins, so that its schedule stays short."""

REFRESHES = """start
n=$(grep -o 'rt-[0-9]*' /h/.codex/auth.json | tr -d 'rt-'); sleep 0.2
printf '{"OPENAI_API_KEY":null,"tokens":{"account_id":"a","refresh_token":"rt-%s"}}' $((n+1)) > /h/.codex/auth.json
end"""


class Bench:
    """A folder for laboratories, each removed when the next one is made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = 0
        self.lab: Laboratory | None = None

    def make(self, **options: object) -> Laboratory:
        """Make a laboratory."""
        self.close()
        self.made += 1
        self.lab = Laboratory(self.folder / f"p{self.made}", **options)  # type: ignore[arg-type]
        return self.lab

    def close(self) -> None:
        """Remove the last laboratory."""
        if self.lab is not None:
            self.lab.close()
            shutil.rmtree(self.lab.root, ignore_errors=True)
            self.lab = None


Plan = list[tuple[Point, int, str]]


def run(bench: Bench, plan: Plan, *, repeats: int = 18, **options: object) -> Count:
    """Kill `run_eval` at every point of a plan, in as many experiments as that takes."""
    total = Count()
    waiting = list(plan)
    while waiting:
        lab = kills.laboratory(bench.make, repeats=repeats, **options)
        lab.ok("register")
        series = Series(lab)
        for _ in range(min(A_SERIES, len(waiting))):
            point, number, database = waiting[0]
            if not series.kill(point, number, database):
                break
            waiting.pop(0)
        total.add(series.finish())
    return total


def recover(bench: Bench, plan: Plan) -> Count:
    """Kill the start that comes after a kill in a call."""
    call = next(point for point in kills.RUN if point.phase == "task")
    return run(
        bench, [kill for point, number, database in plan for kill in ((call, 9, "kept"), (point, number, database))]
    )


def probe(bench: Bench, plan: Plan) -> Count:
    """Kill `run_eval` while it asks probes."""
    total, waiting = Count(), list(plan)
    while waiting:
        asked = [*places.proposing_probes(6), places.silent_probe()]
        lab = bench.make(cases=[places.silent_case()], probes=asked, rehearsal={"default": "nop"})
        lab.limits(stopAfterInfrastructure=1000)
        lab.ok("register")
        series = Series(lab)
        while waiting and series.kill(*waiting[0]):
            waiting.pop(0)
        total.add(series.finish())
    return total


def prepare(bench: Bench, plan: Plan) -> Count:
    """Kill `prepare`, from nothing each time."""
    lab = kills.laboratory(bench.make, repeats=1)
    lab.ok("register")
    series = Series(lab)
    for point, number, database in plan:
        shutil.rmtree(lab.work, ignore_errors=True)
        shutil.rmtree(lab.experiment / "inventory", ignore_errors=True)
        series.forget()
        series.kill(point, number, database, command="prepare")
    return series.finish()


def register(bench: Bench, plan: Plan) -> Count:
    """Kill `register`; the same command must then come to a registration that works."""
    lab = kills.laboratory(bench.make, repeats=1)
    series = Series(lab)
    for turn, (point, number, database) in enumerate(plan):
        command = f"register --new --reason r{turn}"
        series.forget()
        series.kill(point, number, database, command=command)
        ran = lab.doit(*command.split())
        if ran.returncode != 0:
            series.count.faults.append(f"{point.name}: register again: {ran.stderr.strip()}")
    return series.finish()


def report(bench: Bench, plan: Plan) -> Count:
    """Kill `report`; the next one must come to the same report."""
    lab = kills.laboratory(bench.make, repeats=1)
    lab.ok("register")
    lab.ok("run_eval")
    lab.ok("report")
    wanted = lab.report
    series = Series(lab)
    for point, number, database in plan:
        for path in (lab.experiment / "report", lab.experiment / "metrics.json", lab.experiment / "manifest.json"):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        series.kill(point, number, database, command="report")
    count = series.finish()
    if lab.report != wanted:
        count.faults.append("the report is another one after the kills")
    return count


def finish(bench: Bench, plan: Plan) -> Count:
    """Kill the end of `run_eval`."""
    total = Count()
    for point, number, database in plan:
        lab = kills.laboratory(bench.make, repeats=1)
        lab.ok("register")
        series = Series(lab)
        series.kill(point, number, database)
        total.add(series.finish())
    return total


def lease(bench: Bench, plan: Plan) -> Count:
    """Kill a run that lends a login, with an agent that renews it in each call."""
    total, waiting = Count(), list(plan)
    while waiting:
        home = bench.folder / f"login{bench.made}"
        home.mkdir(mode=0o700)
        (home / "auth.json").write_text('{"OPENAI_API_KEY":null,"tokens":{"account_id":"a","refresh_token":"rt-0"}}')
        (home / "auth.json").chmod(0o600)
        executable = agents.package(bench.folder / f"agent{bench.made}", {}, {}, default=REFRESHES)
        lab = kills.laboratory(bench.make, repeats=18)
        lab.ok("register", "--backend", "codex", "--executable", str(executable), "--auth-home", str(home))
        series = Series(lab, "--allow-real-provider", look=lambda home=home: login_faults(home), ledger=False)
        series.kill(kills.BEFORE_TRIALS, signal.SIGKILL)
        for _ in range(min(A_SERIES, len(waiting))):
            if not series.kill(*waiting[0]):
                break
            waiting.pop(0)
        count = series.finish()
        count.faults += login_faults(home)
        if {path.name for path in home.iterdir()} != {"auth.json", ".evaluator.lock"}:
            count.faults.append("something is left in the login home")
        # A proposal of the fixture's renews nothing; a kill can lose what a call would have renewed.
        runs = lab.records("arm-runs").values()
        calls = sum(call["phase"] == "task" for run in runs for call in run["calls"])
        renewed = int(token(home).removeprefix("rt-"))
        if not calls - count.kills <= renewed <= calls:
            count.faults.append(f"renewed {renewed} times in {calls} calls, {count.kills} kills")
        total.add(count)
    return total


def token(home: Path) -> str:
    """Return the refresh token of a login home."""
    found: str = json.loads((home / "auth.json").read_bytes())["tokens"]["refresh_token"]
    return found


def login_faults(home: Path) -> Iterator[str]:
    """Yield what is wrong with a login home."""
    if (home / "auth.json").stat().st_mode & 0o777 != 0o600:
        yield "auth.json has another mode"
    if not token(home).startswith("rt-"):
        yield "auth.json is no login any more"


def by_chance(bench: Bench, times: int, seed: int) -> Count:
    """Kill `run_eval` so many times at random: half after some time, half after some function calls."""
    lab = kills.laboratory(bench.make, repeats=1)
    lab.ok("register")
    lab.ok("prepare")
    seconds, events = kills.measure(lab)
    dice = random.Random(seed)
    total, left = Count(), times
    while left:
        lab = kills.laboratory(bench.make, repeats=30)
        lab.ok("register")
        series = Series(lab)
        for _ in range(min(25, left)):
            timed = left % 2 == 0
            delay, after = (dice.uniform(0, seconds), None) if timed else (None, dice.randint(1, events))
            if not series.kill_at_random(delay, after, dice.choice(kills.SIGNALS), dice.choice(kills.DATABASES)):
                break
            left -= 1
        total.add(series.finish())
    return total


def faults() -> bool:
    """Play every fault, and return whether each came to its code."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_faults.py"]
    return (
        subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "CONTEXT_EVAL_CHAOS": "1"}, check=False).returncode
        == 0
    )


SECTIONS: dict[str, tuple[Callable[[Bench, Plan], Count], tuple[Point, ...]]] = {
    "a trial": (run, kills.RUN),
    "recover": (recover, kills.RECOVER),
    "a probe": (probe, kills.PROBE),
    "prepare": (prepare, kills.PREPARE),
    "register": (register, kills.REGISTER),
    "report": (report, kills.REPORT),
    "the end": (finish, kills.FINISH),
    "a lease": (lease, kills.LEASE),
}


def main() -> int:
    """Run what was asked for and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="kills at each named point")
    parser.add_argument("--random", type=int, default=100, help="kills at random points")
    parser.add_argument("--seed", type=int, default=4711)
    parser.add_argument("--only", choices=[*SECTIONS, "random", "faults"], action="append")
    given = parser.parse_args()
    wanted = given.only or [*SECTIONS, "random", "faults"]
    total, started = Count(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        bench = Bench(Path(folder))
        try:
            for name in wanted:
                if name in SECTIONS:
                    play, points = SECTIONS[name]
                    show(name, play(bench, kills.plans(points, given.times, given.seed)), total)
                elif name == "random":
                    show(name, by_chance(bench, given.random, given.seed), total)
        finally:
            bench.close()
    print(f"\n{total.kills} kills in {time.monotonic() - started:.0f} s, {total.interrupted} outcomes interrupted")
    print(f"by signal {dict(total.by_signal)}, by doit's database {dict(total.by_database)}")
    print(f"{len(total.faults)} faults, seed {given.seed}")
    played = faults() if "faults" in wanted else True
    return 0 if played and not total.faults else 1


def show(section: str, count: Count, total: Count) -> None:
    """Print what a section came to, and add it to the total."""
    print(f"\n{section}: {count.kills} kills, {count.interrupted} interrupted", flush=True)
    for name, times in sorted(count.by_point.items()):
        print(f"  {times:4} {name}")
    for line in count.faults:
        print(f"  FAULT {line}")
    sys.stdout.flush()
    total.add(count)


if __name__ == "__main__":
    sys.exit(main())
