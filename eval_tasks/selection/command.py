"""Somebody's own selector: a command that is told a task as JSON on standard input and answers with a resolution.

Must never deliver what this project's policy refuses, nor take an answer for more than the contract says it is.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import digests, processes, records
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.library import Library
from eval_tasks.selection import resolver
from eval_tasks.selection.proposal import Candidate
from eval_tasks.selection.resolver import Blocked, Reason, Resolution, Resolve, Selected, Shortlist, Task

SCHEMA_VERSION = "context-eval.selector.v1"
SECONDS = 10
ANSWER_BYTES = 64 * 1024
_NEVER_PROPOSED = (FailureCode.UNKNOWN_ID, FailureCode.EXCLUDED)
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
"""What of the evaluator's environment a selector gets: no credential is among it."""


@dataclass(frozen=True)
class Command:
    """A selector's command as registered.

    Parameters
    ----------
    argv
        The program and its arguments; what names a file is relative to `root`.
    bound
        Further files and folders whose bytes the registration binds.
    root
        The project's folder, in which the command runs.
    """

    argv: tuple[str, ...]
    bound: tuple[str, ...]
    root: Path

    @classmethod
    def of(cls, setting: Mapping[str, Any], root: Path) -> Command:
        """Return the command of a setting.

        Raises
        ------
        ExperimentStopped
            If its program or a bound file does not exist.
        """
        found = cls(tuple(setting["command"]), tuple(setting.get("files", ())), root)
        if found.program is None:
            raise ExperimentStopped(f"eval.yaml: selector.command: there is no program {found.argv[0]}; correct it")
        for name in found.bound:
            if not (root / name).exists():
                raise ExperimentStopped(f"eval.yaml: selector.files: there is no {name}; correct or remove it")
        return found

    @property
    def program(self) -> Path | None:
        """Return the program's file: below the project if the name has a folder, else the first in PATH."""
        name = self.argv[0]
        if "/" in name:
            path = self.root / name
            return path if path.is_file() and os.access(path, os.X_OK) else None
        found = shutil.which(name)
        return None if found is None else Path(found)

    @property
    def files(self) -> list[Path]:
        """Return every file and folder whose change changes what the command is."""
        named = [self.root / name for name in self.argv[1:] if not name.startswith("-")]
        program = [] if self.program is None else [self.program.resolve()]
        return program + [path for path in named if path.is_file()] + [self.root / name for name in self.bound]

    @property
    def digest(self) -> str:
        """Return the digest of the arguments and of the bytes of all files."""
        contents = [digests.of_folder(path) if path.is_dir() else digests.of_file(path) for path in self.files]
        return digests.of_value({"command": list(self.argv), "files": contents})

    def resolve(self, task: Task, exclude: Collection[str], library: Library) -> Resolution:
        """Ask the command about a task.

        Raises
        ------
        TrialFailed
            `selector-failed` if it does not run, takes over 10 s, says more than 64 KiB, ends with another status
            than 0, or answers anything but one JSON object of the contract.
        """
        finished = self._run(records.canonical(question(task, exclude, library)))
        if finished is None or finished.stopped_by is not None or finished.exit_status != 0:
            raise TrialFailed(FailureCode.SELECTOR_FAILED)
        return parse(finished.stdout, exclude, library)

    def _run(self, asked: bytes) -> processes.Finished | None:
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        program = self.program
        if program is None:
            return None
        try:
            return processes.run(
                [str(program), *self.argv[1:]],
                environment=environment,
                stdin=asked,
                wall_seconds=SECONDS,
                stdout_bytes=ANSWER_BYTES,
                cwd=str(self.root),
            )
        except OSError:
            return None


def chosen(setting: str | Mapping[str, Any], root: Path) -> Command | None:
    """Return the command that the setting `selector` asks for, or None for the reference selector.

    Raises
    ------
    ExperimentStopped
        As `Command.of` does.
    """
    return None if isinstance(setting, str) else Command.of(setting, root)


def resolve_by(command: Command | None) -> Resolve:
    """Return the selector that a command is, or the reference selector without one."""
    return resolver.resolve if command is None else command.resolve


def question(task: Task, exclude: Collection[str], library: Library) -> dict[str, Any]:
    """Return what a selector is told, as `selector-task.schema.json` has it."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "task": {
            "id": task.id,
            "prompt": task.prompt,
            "explicitIds": list(task.explicit_ids),
            "noWorkflow": task.no_workflow,
        },
        "exclude": sorted(exclude),
        "library": str(library.root),
    }


def parse(answer: bytes, exclude: Collection[str], library: Library) -> Resolution:
    """Return the resolution that an answer stands for, with what the policy refuses blocked.

    Raises
    ------
    TrialFailed
        `selector-failed` for anything that breaks `selector-answer.schema.json`.
    """
    try:
        value = records.parse(answer, "the selector's answer")
        records.check("selector-answer", value, "the selector's answer")
    except ExperimentStopped as error:
        raise TrialFailed(FailureCode.SELECTOR_FAILED) from error
    if "blocked" in value:
        return Blocked(FailureCode(value["blocked"]), value["id"])
    if "selectedIds" in value:
        return _selected(value["selectedIds"], value["reason"], exclude, library)
    return _shortlist(value["shortlist"], exclude, library)


def _selected(ids: Sequence[str], reason: str, exclude: Collection[str], library: Library) -> Resolution:
    if not ids:
        return Selected((), Reason.NO_MATCH)
    why = Reason.EXPLICIT if reason == Reason.EXPLICIT else Reason.RANKED
    return resolver.deliver(tuple(ids), why, exclude, library)


def _shortlist(candidates: Sequence[Mapping[str, str]], exclude: Collection[str], library: Library) -> Resolution:
    """Return the shortlist without what can't be delivered, as the built-in selector leaves it out in silence.

    A skill that the library lacks or the caller excludes is another matter: no selector may propose it.
    """
    kept = []
    for candidate in candidates:
        found = resolver.deliver((candidate["id"],), Reason.RANKED, exclude, library)
        if isinstance(found, Selected):
            kept.append(Candidate(candidate["id"], candidate["description"]))
        elif isinstance(found, Blocked) and found.code in _NEVER_PROPOSED:
            return found
    return Shortlist(tuple(kept)) if kept else Selected((), Reason.NO_MATCH)
