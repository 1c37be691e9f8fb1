"""What `doit run_eval` costs when nothing is left to do: `python -m benchmarks.noop [--pairs 20]`.

`noopRatio` is of whole processes in interleaved pairs: the command on a finished experiment of 30 cases and 60 probes,
against a bare `dodo.py` with as many empty tasks that are up to date.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import finished, measuring

CASES, PROBES = 30, 60
BARE = """
DOIT_CONFIG = {{"backend": "sqlite3", "dep_file": ".doit.db", "default_tasks": ["run_eval"]}}


def task_run_eval():
    for number in range({tasks}):
        yield {{"name": str(number), "actions": [(print, ["x"])], "uptodate": [True]}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    measuring.keep({"noopRatio": measure(parser.parse_args().pairs)})
    return 0


def measure(pairs: int) -> dict[str, Any]:
    """Return the ratio by the clock, and that of processor times beside it."""
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = Path(folder, "p"), Path(folder, "bare")
        experiment = finished.make(ours, cases=CASES, probes=PROBES)
        graded = len(list((experiment.root / "grades").iterdir()))
        tasks = 3 * CASES * 2 + PROBES
        bare.mkdir()
        (bare / "dodo.py").write_text(BARE.format(tasks=tasks), "utf-8")
        samples = [(measuring.doit(ours, "run_eval"), measuring.doit(bare, "run_eval")) for _ in range(pairs + 1)][1:]
    clock, processor = (
        measuring.ratios([one[key] for one, _ in samples], [other[key] for _, other in samples])
        for key in ("seconds", "processorSeconds")
    )
    return {**clock, "processor": processor["median"], "tasks": tasks, "grades": graded}


if __name__ == "__main__":
    sys.exit(main())
