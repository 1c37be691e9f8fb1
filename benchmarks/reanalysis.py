"""How long `doit report` takes on many records: `python -m benchmarks.reanalysis [--cases 3506]`.

Writes a finished experiment of synthetic records (three arms, one repeat) into a project of its own, then times whole
`doit report` processes: the first, which analyzes and reports, and one with nothing to do. Prints the seconds, the peak
memory and the size of the page, and merges them into `benchmarks/results.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.overhead import RESULTS
from eval_tasks import records
from eval_tasks.journal import Journal
from eval_tasks.paths import Project
from eval_tasks.registration import Registration
from tests import synthetic_records
from tests.laboratory import Laboratory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=3506, help="cases; three times as many outcomes")
    cases = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder) / "p", probes=["none-train"])
        experiment = write(Project(lab.root), synthetic_records.make(cases=cases, fate=synthetic_records.mixed_fate))
        first, again = _timed(lab.root), _timed(lab.root)
        page = (experiment / "report" / "report.html").stat().st_size
    found = {"outcomes": 3 * cases, "first": first, "again": again, "htmlBytes": page}
    kept = json.loads(RESULTS.read_bytes()) if RESULTS.is_file() else {}
    RESULTS.write_text(json.dumps({**kept, "reanalysisSeconds": found}, indent=2, sort_keys=True) + "\n", "utf-8")
    print(found)
    return 0


def write(project: Project, made: Any) -> Path:
    """Write a whole experiment's files and make it the current one; return its folder."""
    value = Registration(made.registration)
    experiment = project.experiment(value.id)
    project.experiments.mkdir(mode=0o700)
    records.write(experiment.registration, "registration", value.value)
    Journal(experiment.journal, value.digest, create=True).close()
    for name, inventory in made.inventories.items():
        records.write(experiment.inventory(name), "inventory", {**inventory, "registration": value.digest})
    for folder, kind in (("arm_runs", "arm_run"), ("grades", "grade"), ("probes", "probe")):
        for name, record in getattr(made, folder).items():
            path: Path = getattr(experiment, kind)(name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(records.pretty({**record, "registration": value.digest}))
    records.write_bytes(project.current, f"{value.id}\n".encode("ascii"))
    return experiment.root


def _timed(root: Path) -> dict[str, float]:
    """Run `doit report` and return its wall and processor seconds and its peak memory in MiB."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "doit", "report"], cwd=root, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit("doit report failed")
    return {
        "seconds": round(time.perf_counter() - started, 2),
        "processorSeconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peakMiB": round(usage.ru_maxrss / 1024),
    }


if __name__ == "__main__":
    sys.exit(main())
