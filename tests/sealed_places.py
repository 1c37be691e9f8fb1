"""Real boxes for tests: the toolchain's agents where the unprivileged user can reach them, and folders for work."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_tasks import sandbox
from eval_tasks.agents import codex
from eval_tasks.agents.contract import Executable
from eval_tasks.paths import Project

PROJECT = Project(Path(__file__).resolve().parent.parent)
DROP = os.geteuid() == 0


@contextmanager
def work_folder() -> Iterator[Path]:
    """Give a folder where real work could lie: not in /tmp, and children can pass through; remove it at the end."""
    parent = Path("/var/lib") if DROP else Path.home() / ".local" / "state"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="wb-", dir=parent))
    try:
        sandbox.make_work_folder(folder, drop=DROP)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def located(version: str, work: Path) -> Executable:
    """Return the toolchain's agent of a version, adopted below a work folder."""
    return codex.adopted(codex.in_modules(PROJECT.modules, version), work / "packages")


def owned(folder: Path) -> Path:
    """Make a folder that the children's user owns."""
    folder.mkdir(parents=True)
    sandbox.own(folder, drop=DROP)
    return folder
