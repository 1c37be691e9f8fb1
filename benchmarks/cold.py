"""How long the resolver takes: `python -m benchmarks.cold`.

`resolverMs` has the median of warm queries at 300 skills, and fresh processes from their first import of the evaluator
to the first answer on the whole library: with the index that this machine has built before, and without. Processor
times, since other work on the machine hardly changes them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import measuring, resolver
from eval_tasks import library, origin
from eval_tasks.paths import Project
from eval_tasks.selection.resolver import resolve

_FRESH = """
import json, sys, time
begun = time.process_time()
from pathlib import Path
from eval_tasks import digests, library
from eval_tasks.selection import resolver
imported = time.process_time()
digests.CACHE.folder = Path(sys.argv[2])
found = library.load(Path(sys.argv[1]))
loaded = time.process_time()
resolver.resolve(resolver.Task("x", "a slow query in the orders table"), (), found)
done = time.process_time()
print(json.dumps([1000 * (at - begun) for at in (imported, loaded, done)]))
"""
_TIMES = 7


def main() -> int:
    measuring.keep({"resolverMs": measure()})
    return 0


def measure() -> dict[str, Any]:
    """Return the milliseconds of warm and of first queries."""
    root = origin.locate(resolver.LIBRARY, Project(resolver.ROOT))
    with tempfile.TemporaryDirectory() as folder:
        built = _fresh(root, folder)
        kept = [_fresh(root, folder) for _ in range(_TIMES)]
    imported, loaded, done = (round(statistics.median(column), 1) for column in zip(*kept, strict=True))
    return {
        "median": round(_warm(root), 2),
        "cold": done,
        "coldParts": {"imports": imported, "library": round(loaded - imported, 1), "answer": round(done - loaded, 1)},
        "coldAndNeverBuilt": round(built[-1], 1),
        "samples": [[round(value, 1) for value in row] for row in kept],
    }


def _fresh(root: Path, cache: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _FRESH, str(root), cache],
        cwd=resolver.ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    found: list[float] = json.loads(done.stdout)
    return found


def _warm(root: Path) -> float:
    catalogue = resolver.of_size(library.load(root), resolver.SIZE)
    asked = [item for item in resolver.probes(resolver.ROOT) if not item.task.explicit_ids]
    times = []
    for question in [*asked, *asked]:
        begun = time.process_time()
        resolve(question.task, question.exclude, catalogue)
        times.append(time.process_time() - begun)
    return 1000 * statistics.median(times[len(asked) :])


if __name__ == "__main__":
    sys.exit(main())
