"""How time and memory grow with the cases: `python -m benchmarks.scale [--sizes 30 150 480]`.

Copies one case so many times, runs every trial of three arms on an agent stub in a sealed box with real grading, and
times each command as a whole process. `growth` is the exponent between two sizes: 1 is linear.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from benchmarks import measuring
from eval_tasks import library
from tests.chaos import agents, places
from tests.laboratory import Laboratory

COMMANDS = ("run_eval", "no-op", "status", "analyze", "report", "report again")
JOBS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 150, 480])
    found = {size: measure(size) for size in parser.parse_args().sizes}
    growth = {
        f"{small} to {large}": {
            name: round(
                math.log(found[large][name]["processorSeconds"] / found[small][name]["processorSeconds"])
                / math.log(large / small),
                2,
            )
            for name in found[small]
        }
        for small, large in pairwise(found)
    }
    measuring.keep({"scale": {"sizes": {str(size): value for size, value in found.items()}, "growth": growth}})
    return 0


def measure(size: int) -> dict[str, Any]:
    """Return what each command costs with so many cases, the first run per trial included."""
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder) / "p", cases=[places.silent_case()], probes=[places.silent_probe()])
        try:
            lab.settings(library=places.give_small_library(lab.root), jobs=JOBS, rehearsal={"default": "nop"})
            lab.limits(calls=2000, deadlineSeconds=14_400, expectedCallSeconds=1)
            _multiply(lab, size)
            stub = agents.package(Path(folder) / "agent", {"nobody": "\0"}, {}, default="start; end")
            steps = {"register": measuring.doit(lab.root, "register", "--executable", str(stub))}
            steps["prepare"] = measuring.doit(lab.root, "prepare")
            for name in COMMANDS:
                command = {"no-op": "run_eval", "report again": "report"}.get(name, name)
                steps[name] = measuring.doit(lab.root, command)
                print(size, name, steps[name], flush=True)
            return steps
        finally:
            lab.close()


def _multiply(lab: Laboratory, size: int) -> None:
    """Give the corpus so many copies of a case that needs no skill and comes to no proposal."""
    own = library.load(lab.root / "library")
    key = next(
        key
        for key, case in places.cases().items()
        if not case["skill"] and not places.shortlists(key, case["prompt"], own)
    )
    source = places.REPOSITORY / "corpus" / "cases" / key
    shutil.rmtree(lab.root / "corpus" / "cases")
    for number in range(size):
        case = f"copy-{number:04d}"
        target = lab.root / "corpus" / "cases" / case
        shutil.copytree(source, target)
        value = yaml.safe_load((target / "case.yaml").read_text("utf-8"))
        value |= {"id": case, "prompt": f"{value['prompt'].rstrip()}\nThis is copy {number}.\n"}
        for tree in ("references", "alternatives", "wrong"):
            shutil.copytree(places.REPOSITORY / "tests" / tree / key, lab.root / "tests" / tree / case)
        (target / "case.yaml").write_text(yaml.safe_dump(value, sort_keys=False), "utf-8")
    lab.vouch()


if __name__ == "__main__":
    sys.exit(main())
