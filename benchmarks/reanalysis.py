"""How long `doit report` takes on many records: `python -m benchmarks.reanalysis [--cases 3506]`.

Writes a finished experiment of synthetic records (three arms, one repeat) into a project of its own, then times whole
processes: `doit report` from nothing, `doit analyze` after the analysis has changed, and `doit report` with nothing to
do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import finished, measuring
from eval_tasks.paths import Experiment


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=3506, help="cases; three times as many outcomes")
    measuring.keep({"reanalysisSeconds": measure(parser.parse_args().cases)})
    return 0


def measure(cases: int) -> dict[str, Any]:
    """Return the seconds, the peak memory and the size of the page."""
    with tempfile.TemporaryDirectory() as folder:
        experiment = finished.make(Path(folder) / "p", cases=cases)
        root = Path(folder) / "p"
        first = measuring.doit(root, "report")
        _change_analysis(root)
        analyze = measuring.doit(root, "analyze")
        measuring.doit(root, "report")
        again = measuring.doit(root, "report")
        page = _page(experiment)
    return {
        "median": analyze["seconds"],
        "outcomes": 3 * cases,
        "analyze": analyze,
        "report": first,
        "again": again,
        "htmlBytes": page,
    }


def _change_analysis(root: Path) -> None:
    path = root / "eval_tasks" / "analysis" / "summary.py"
    path.write_bytes(path.read_bytes() + b"\n# changed\n")


def _page(experiment: Experiment) -> int:
    return (experiment.report / "report.html").stat().st_size


if __name__ == "__main__":
    sys.exit(main())
