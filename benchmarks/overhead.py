"""What the evaluator adds to the agent's own time: `python -m benchmarks.overhead [--pairs 20]`.

Each ratio is of interleaved pairs in one run, so that a machine whose speed drifts disturbs both sides alike:

- `overheadRatio`: one arm-run (drift checks, claim, workspace, sealed call, sealing, record, settling) against the bare
  `codex exec` with the same prompt, settings and Full install;
- `gradeRatio`: one grade against two bare starts of Node under the same sandbox;
- `driftCheckMs`: the check of bound sources and of the Full install before a call, warm.

Prints a table and merges the figures into `benchmarks/results.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval_tasks import files, processes, sandbox
from eval_tasks.grading import grader
from eval_tasks.paths import Project
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.schedule import Trial
from eval_tasks.stages import prepare, register, run_arm
from eval_tasks.stages.session import Session
from tests.laboratory import CASES, Laboratory

RESULTS = Path(__file__).parent / "results.json"
CASE = CASES[1]
_RESAMPLES = 2_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20, help="interleaved pairs of each measurement")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder) / "p", cases=[CASE], probes=["none-train"])
        try:
            results = measure(lab, pairs)
        finally:
            lab.close()
    kept = json.loads(RESULTS.read_bytes()) if RESULTS.is_file() else {}
    RESULTS.write_text(json.dumps({**kept, **results}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    for name, value in results.items():
        shown = {key: item for key, item in value.items() if key != "samples"} if isinstance(value, dict) else value
        print(f"{name:<16} {shown}")
    return 0


def measure(lab: Laboratory, pairs: int) -> dict[str, Any]:
    """Return the results of all measurements on one registered experiment with enough repeats."""
    project = Project(lab.root)
    lab.limits(calls=2000, deadlineSeconds=14400)
    register.register(project, register.Request(overrides={"repeats": pairs + 1}))
    session = Session.open(project, consent=False)
    try:
        prepare.prepare(session, "full")
        prepare.prepare(session, "lean")
        return {
            "machine": _machine(),
            "overheadRatio": _overhead(session, pairs),
            "gradeRatio": _grading(session, pairs),
            "driftCheckMs": _drift(session, pairs),
        }
    finally:
        session.close()


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()],
        "python": sys.version.split()[0],
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ratios(numerators: list[float], denominators: list[float]) -> dict[str, Any]:
    """Return the median ratio of pairs with its 95 % bootstrap interval and the raw samples in milliseconds."""
    found = [top / bottom for top, bottom in zip(numerators, denominators, strict=True)]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(found, k=len(found))) for _ in range(_RESAMPLES))
    return {
        "median": round(statistics.median(found), 3),
        "interval": [round(medians[int(_RESAMPLES * share)], 3) for share in (0.025, 0.975)],
        "pairs": len(found),
        "medianMs": [round(statistics.median(side) * 1000, 1) for side in (numerators, denominators)],
        "samples": [[round(value * 1000, 2) for value in side] for side in (numerators, denominators)],
    }


def _overhead(session: Session, pairs: int) -> dict[str, Any]:
    """Measure arm-runs of Full against bare calls; the first of each is not counted."""
    ours, bare = [], []
    for repeat in range(1, pairs + 2):
        name = Trial(CASE, "full", repeat).name
        ours.append(_seconds(lambda name=name: run_arm.run_arm(session, name)))
        bare.append(_bare(session, repeat))
    return ratios(ours[1:], bare[1:])


def _bare(session: Session, repeat: int) -> float:
    """Return the seconds of `codex exec` alone; its home and workspace are made before and removed after."""
    case = session.assembly.corpus.case(CASE)
    call_folder = session.work.calls / f"bare{repeat}"
    sandbox.make_work_folder(call_folder, drop=session.drop)
    try:
        workspace = call_folder / "w"
        files.write_tree(workspace, case.workspace)
        sandbox.own(workspace, drop=session.drop)
        place = session.agent.unsealed(
            session.executable, session.work.install("full"), session.backend, call=call_folder, workspace=workspace
        )
        model: LoopbackModel = session.model
        with model.play(session.script.task(CASE, "full", repeat, case.workspace)) as endpoint:
            call = session.agent.task_call(place, session.backend, case.prompt.encode(), base_url=endpoint.base_url)
            command = list(call.command)  # type: ignore[call-overload]
            return _seconds(
                lambda: subprocess.run(
                    command,
                    input=call.stdin,
                    env=dict(call.environment),
                    capture_output=True,
                    check=True,
                    cwd=workspace,
                )
            )
    finally:
        shutil.rmtree(call_folder, ignore_errors=True)


def _grading(session: Session, pairs: int) -> dict[str, Any]:
    """Measure grades of the right solution against two starts of Node in the same box, one after the other."""
    case = session.assembly.corpus.case(CASE)
    machine = session.runtime.machine
    starts = sandbox.GradingBox(machine.bubblewrap, machine.node, ()).command([sandbox.NODE, *machine.flags, "-e", "0"])
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder, "s")
        reference = session.script.opponents[CASE].reference or {}
        files.write_tree(submission, {**case.workspace, **{name: text or b"" for name, text in reference.items()}})
        for _ in range(pairs + 1):
            ours.append(_seconds(lambda: grader.grade(submission, case.grader, session.runtime)))
            bare.append(_seconds(lambda: _start(starts)) + _seconds(lambda: _start(starts)))
    return ratios(ours[1:], bare[1:])


def _start(command: processes.Command) -> None:
    processes.run(command, environment={"PATH": "/usr/bin"}, wall_seconds=20, stdout_bytes=1000)


def _drift(session: Session, pairs: int) -> dict[str, Any]:
    def check() -> None:
        session.require()
        session.verify_install("full")

    check()
    samples = [_seconds(check) * 1000 for _ in range(pairs)]
    return {"median": round(statistics.median(samples), 2), "worst": round(max(samples), 2), "samples": samples}


if __name__ == "__main__":
    sys.exit(main())
