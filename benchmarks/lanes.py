"""How much faster `jobs: 8` is than `jobs: 1`: `python -m benchmarks.lanes`.

`lanesSpeedup` is the ratio of throughputs, in trials a second from the first claim to the last settled one, on an agent
stub that takes two seconds in a sealed box; every trial is graded in between, and the records are compared.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measuring
from tests.chaos import agents, places
from tests.laboratory import Laboratory

JOBS = 8
OF_ONE_RUN = ("callId", "elapsedMs", "registration")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds of the stub")
    measuring.keep({"lanesSpeedup": measure(parser.parse_args().latency)})
    return 0


def measure(latency: float) -> dict[str, Any]:
    """Return both throughputs, their ratio, and whether the records are equal but for times and ids."""
    found: dict[int, tuple[float, Any]] = {jobs: _run(jobs, latency) for jobs in (JOBS, 1)}
    return {
        "median": round(found[JOBS][0] / found[1][0], 2),
        "jobs": JOBS,
        "latencySeconds": latency,
        "trialsPerSecond": {str(jobs): round(speed, 3) for jobs, (speed, _) in found.items()},
        "identicalRecords": found[JOBS][1] == found[1][1],
    }


def _run(jobs: int, latency: float) -> tuple[float, Any]:
    chosen = [key for key, case in places.cases().items() if not case["skill"]][:JOBS]
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder) / "p", cases=chosen, probes=[places.silent_probe()])
        try:
            lab.settings(jobs=jobs, library=places.give_small_library(lab.root), rehearsal={"default": "nop"})
            prompts = {key: places.cases()[key]["prompt"].strip().split("\n")[0] for key in chosen}
            stub = agents.package(Path(folder) / "agent", prompts, {}, default=f"start; sleep {latency}; end")
            lab.ok("register", "--executable", str(stub))
            lab.ok("prepare")
            lab.ok("run_eval")
            records = {kind: _comparable(lab.records(kind)) for kind in ("arm-runs", "grades", "probes")}
            return _speed(lab), records
        finally:
            lab.close()
            shutil.rmtree(Path(folder) / "agent", ignore_errors=True)


def _speed(lab: Laboratory) -> float:
    with sqlite3.connect(lab.experiment / "journal.db") as journal:
        trials, first, last = journal.execute(
            "SELECT count(*), min(claimed_ms), max(settled_ms) FROM claims WHERE kind = 'trial'"
        ).fetchone()
    return float(1000 * trials / (last - first))


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items() if key not in OF_ONE_RUN}
    return [_comparable(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
