"""Every figure of docs/performance.md: `python -m benchmarks`, or `make bench`.

Runs the measurements one after the other, each of which merges its figures into `benchmarks/results.json`;
`--with-scale` adds `benchmarks.scale`, which takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

MEASUREMENTS = ("overhead", "noop", "cold", "lanes", "reanalysis")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with-scale", action="store_true")
    names = [*MEASUREMENTS, "scale"] if parser.parse_args().with_scale else MEASUREMENTS
    # A process each, so that none has what another has imported or remembers.
    return max(subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode for name in names)


if __name__ == "__main__":
    sys.exit(main())
