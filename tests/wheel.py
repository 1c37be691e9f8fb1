"""The package as a user installs it: a wheel built from a copy of the sources, installed outside the repository.

Must never let the repository itself be imported, nor write into it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.laboratory import REPOSITORY

SOURCES = ("eval_tasks", "tests/attacks", "toolchain", "pyproject.toml", "README.md", "LICENSE")
_SECONDS = 300


def build(folder: Path) -> Path:
    """Build the wheel and return it."""
    copy = folder / "sources"
    for name in SOURCES:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(REPOSITORY / name, copy / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(REPOSITORY / name, copy / name)
    _pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(copy))
    return next(folder.glob("*.whl"))


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd="/")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@dataclass(frozen=True)
class Environment:
    """A virtual environment that has the wheel, and sees the dependencies of this one."""

    root: Path

    @classmethod
    def make(cls, root: Path, wheel: Path) -> Environment:
        """Make the environment and install the wheel into it."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True, timeout=_SECONDS)
        made = cls(root)
        _pip("--python", str(made.python), "install", "--no-deps", "--no-index", str(wheel))
        made._see_dependencies()
        return made

    def _see_dependencies(self) -> None:
        packages = next((self.root / "lib").glob("python*/site-packages"))
        # Path files in there are not read, so that one that leads to the repository has no effect.
        seen = [place for place in sys.path if Path(place).name == "site-packages"]
        (packages / "dependencies.pth").write_text("".join(f"{place}\n" for place in seen), "utf-8")

    @property
    def python(self) -> Path:
        return self.root / "bin" / "python"

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run `context-eval` in a folder, with nothing of the repository in its environment."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR", "XDG_STATE_HOME") if name in os.environ}
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [str(self.root / "bin" / "context-eval"), *arguments],
            cwd=cwd,
            env={**kept, "PATH": path},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
