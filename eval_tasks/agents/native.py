"""What the native binaries of all agent CLIs have in common: each prints its version.

Must never know an agent, nor run a binary with anything of the user's environment.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from eval_tasks import processes, sandbox

_BYTES = 16 * 1024 * 1024


@cache
def version_of(native: Path, fingerprint: str, line: re.Pattern[str], seconds: float) -> str | None:
    """Return the version that a native binary prints, or None; remembered for its fingerprint.

    Parameters
    ----------
    line
        What it prints, with the version as its first group.
    seconds
        How long it may take.
    """
    try:
        finished = processes.run(
            [os.fspath(native), "--version"],
            environment={"PATH": sandbox.SYSTEM_PATH, "HOME": "/nonexistent", "LANG": "C.UTF-8"},
            wall_seconds=seconds,
            stdout_bytes=_BYTES,
        )
    except OSError:
        return None
    match = line.fullmatch(finished.stdout.decode("utf-8", "replace").strip())
    return match[1] if match is not None and finished.exit_status == 0 else None
