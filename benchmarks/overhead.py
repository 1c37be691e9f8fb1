"""What the evaluator adds to the agent's own time: `python -m benchmarks.overhead [--pairs 20]`.

Each ratio is of interleaved pairs in one run, so that a machine whose speed drifts disturbs both sides alike:

- `overheadRatio`: one arm-run (drift checks, claim, workspace, sealed call, sealing, record, settling) against the bare
  `codex exec` with the same prompt, settings and Full install;
- `gradeRatio`: one grade against two bare starts of Node under the same sandbox;
- `driftCheckMs`: the check of bound sources and of the Full install before a call, warm.

"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measuring
from eval_tasks import files, processes, sandbox
from eval_tasks.grading import grader
from eval_tasks.paths import Project
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.schedule import Trial
from eval_tasks.stages import prepare, register, run_arm
from eval_tasks.stages.session import Session
from tests.laboratory import CASES, Laboratory

CASE = CASES[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20, help="interleaved pairs of each measurement")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder) / "p", cases=[CASE], probes=["none-train"])
        try:
            measuring.keep(measure(lab, pairs))
        finally:
            lab.close()
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
            "overheadRatio": _overhead(session, pairs),
            "gradeRatio": _grading(session, pairs),
            "driftCheckMs": _drift(session, pairs),
        }
    finally:
        session.close()


def _overhead(session: Session, pairs: int) -> dict[str, Any]:
    """Measure arm-runs of Full against bare calls; the first of each is not counted."""
    ours, bare = [], []
    for repeat in range(1, pairs + 2):
        name = Trial(CASE, "full", repeat).name
        ours.append(measuring.seconds(lambda name=name: run_arm.run_arm(session, name)))
        bare.append(_bare(session, repeat))
    return measuring.ratios(ours[1:], bare[1:])


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
            return measuring.seconds(
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
            ours.append(measuring.seconds(lambda: grader.grade(submission, case.grader, session.runtime)))
            bare.append(measuring.seconds(lambda: _start(starts)) + measuring.seconds(lambda: _start(starts)))
    return measuring.ratios(ours[1:], bare[1:])


def _start(command: processes.Command) -> None:
    processes.run(command, environment={"PATH": "/usr/bin"}, wall_seconds=20, stdout_bytes=1000)


def _drift(session: Session, pairs: int) -> dict[str, Any]:
    def check() -> None:
        session.require()
        session.verify_install("full")

    check()
    samples = [round(measuring.seconds(check) * 1000, 2) for _ in range(pairs)]
    return {"median": round(statistics.median(samples), 2), "worst": max(samples), "samples": samples}


if __name__ == "__main__":
    sys.exit(main())
