"""How a benchmark measures: children with their processor time and memory, ratios of pairs, and where results are kept.

Must never report a number without the load and the machine it was measured on.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results.json"
_RESAMPLES = 2_000
_TICK_SECONDS = 0.005

Numbers = Mapping[str, Any]


def machine() -> dict[str, Any]:
    """Return what the figures of a run depend on beside the code."""
    return {
        "cores": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes, in seconds by the clock."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def child(argv: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> dict[str, float]:
    """Run a program that must succeed; return its seconds by the clock and of the processor, and its peak memory."""
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(argv, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=said)
        peak = 0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak = _peak_kib(process.pid) or peak
            time.sleep(_TICK_SECONDS)
        elapsed = time.perf_counter() - started
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            raise SystemExit(f"{' '.join(argv)} failed: {said.read().decode('utf-8', 'replace')}")
    return {
        "seconds": round(elapsed, 3),
        "processorSeconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peakMiB": round(peak / 1024),
    }


def _peak_kib(pid: int) -> int:
    # Not `ru_maxrss`, which begins with what the process that started it held.
    try:
        text = Path(f"/proc/{pid}/status").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("VmHWM")]
    return int(found[0]) if found else 0


def doit(root: Path, *arguments: str) -> dict[str, float]:
    """Run a doit command in a project and measure it."""
    return child([sys.executable, "-m", "doit", *arguments], root)


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, Any]:
    """Return the median ratio of pairs with its 95 % bootstrap interval, and the raw samples in milliseconds."""
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


def keep(found: Numbers) -> None:
    """Merge figures into `benchmarks/results.json`, each with the machine's state at its end, and print them."""
    kept = json.loads(RESULTS.read_bytes()) if RESULTS.is_file() else {}
    state = machine()
    entries = {name: {**value, "machine": state} for name, value in found.items()}
    RESULTS.write_text(json.dumps({**kept, **entries}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    for name, value in found.items():
        print(name, {key: item for key, item in value.items() if key != "samples"}, flush=True)
