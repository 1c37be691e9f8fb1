"""Questions about the syntax of JavaScript, answered by a parser: drivers that compare, and mutants of a solution.

Must never run what it reads.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks.errors import ExperimentStopped
from eval_tasks.grading.machine import FOLDER

_PROGRAM = FOLDER / "syntax.cjs"
_SECONDS = 60


@dataclass(frozen=True)
class Mutant:
    """One small change of a module's text.

    Parameters
    ----------
    start, end
        The characters that are replaced.
    text
        What stands there instead.
    """

    start: int
    end: int
    text: str

    def applied(self, module: str) -> str:
        """Return the changed module."""
        return module[: self.start] + self.text + module[self.end :]

    def named(self, path: str, module: str) -> str:
        """Return the name that tells this mutant of a module from all others."""
        before = module[: self.start]
        line, column = before.count("\n") + 1, self.start - before.rfind("\n")
        old, new = (" ".join(text.split()) for text in (module[self.start : self.end], self.text))
        return f"{path}:{line}:{column} {old} -> {new or 'nothing'}"


@dataclass(frozen=True)
class Parser:
    """Node and the folder of the `acorn` package.

    Parameters
    ----------
    node
        The executable.
    package
        The package's folder in the toolchain.
    """

    node: Path
    package: Path

    def comparing(self, drivers: Sequence[str]) -> list[str]:
        """Return those driver functions that return nothing but what they compared themselves."""
        found = self._ask({"drivers": list(drivers), "modules": []})["comparing"]
        return [driver for driver, compares in zip(drivers, found, strict=True) if compares]

    def mutants(self, module: str) -> list[Mutant]:
        """Return the mutants of a module in the order of its text: operators, boundaries, constants, conditions.

        Positions count UTF-16 units, as JavaScript does, so a module with characters beyond U+FFFF has none.
        """
        if any(ord(character) > 0xFFFF for character in module):
            return []
        sites = self._ask({"drivers": [], "modules": [module]})["mutants"][0]
        return [Mutant(site["start"], site["end"], site["text"]) for site in sites]

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        done = subprocess.run(
            [os.fspath(self.node), os.fspath(_PROGRAM), os.fspath(self.package.resolve())],
            input=json.dumps(question).encode("ascii"),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise ExperimentStopped("a grader or a reference can't be parsed as JavaScript; correct its syntax")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
