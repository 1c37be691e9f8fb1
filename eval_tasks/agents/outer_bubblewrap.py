"""The outer bubblewrap of agents that ship none: the one in the toolchain's Codex package.

Must never take a bubblewrap from the machine, whose age and patches would differ from one to the next.
"""

from __future__ import annotations

from pathlib import Path

from eval_tasks.agents import codex
from eval_tasks.errors import ExperimentStopped


def in_modules(modules: Path) -> Path:
    """Return the bubblewrap of the toolchain's `node_modules`.

    Raises
    ------
    ExperimentStopped
        If it is not installed.
    """
    found = codex.bubblewrap_in(modules)
    if not found.is_file():
        raise ExperimentStopped("the toolchain has no bubblewrap; run `doit toolchain`")
    return found
