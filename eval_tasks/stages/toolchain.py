"""`doit toolchain`: install the pinned agents and the skill library from the lock file.

Must never install a version that the lock file does not name, nor run a package's own install scripts.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project

_SECONDS = 1200


def toolchain(project: Project) -> list[str]:
    """Run `npm ci` in `toolchain/`, unless what is installed is what the lock file names.

    Raises
    ------
    ExperimentStopped
        If npm is missing or fails; its own output has been shown by then.
    """
    if is_installed(project):
        return []
    npm = shutil.which("npm")
    if npm is None:
        raise ExperimentStopped("there is no npm on this PATH; install Node.js with npm and run `doit toolchain`")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        subprocess.run(command, cwd=project.toolchain, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise ExperimentStopped("npm ci failed in toolchain/ (see above); mend it and run `doit toolchain`") from error
    return ["toolchain installed"]


def is_installed(project: Project) -> bool:
    """Return whether npm's own note of what it installed last agrees with the lock file."""
    note = project.modules / ".package-lock.json"
    if not note.is_file():
        return False
    wanted = _packages(project.toolchain_lock)
    found = _packages(note)
    required = {name for name, package in wanted.items() if name and not package.get("optional")}
    return required <= set(found) and all(package == wanted.get(name) for name, package in found.items())


def _packages(path: Path) -> dict[str, Any]:
    packages: dict[str, Any] = records.parse(path.read_bytes(), path.name).get("packages", {})
    return packages
