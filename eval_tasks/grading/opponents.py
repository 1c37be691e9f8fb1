"""The submissions that prove a grader: right ones, wrong ones, generic ones and attacks, as files by path.

Must never be shown to an agent, nor imported by anything but the corpus proof.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from eval_tasks import digests, documents
from eval_tasks import files as trees
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.paths import RESERVED_GRADER

WHY = "why.yaml"
CODE = (".js", ".cjs")
"""What counts as a module of a workspace, whose place a generic subject or an attack takes."""
ESCAPED = "ESCAPED"
"""What an attack prints when it could do what it must not."""
_WAITS = "// waits"

Files = Mapping[str, bytes]


class Trap(StrEnum):
    """What may stand in a submission besides a regular file."""

    LINK = "link"
    HARD_LINK = "hard-link"
    UNREADABLE = "unreadable"
    FIFO = "fifo"
    FOLDER = "folder"


@dataclass(frozen=True)
class Opponent:
    """One submission and what must become of it.

    Parameters
    ----------
    kind
        `initial`, `reference`, `alternative`, `wrong`, `generic` or `attack`.
    name
        Unique within its kind.
    files
        The submission's files by relative path.
    must_pass
        Whether the grader has to pass it.
    label
        The check that has to fail it, for a wrong solution.
    code
        The failure code that it has to get, if it must not pass.
    waits
        Whether it only waits for its time to be up.
    traps
        What stands in the place of a file, by the file's path.
    """

    kind: str
    name: str
    files: Files = field(repr=False)
    must_pass: bool = False
    label: str | None = None
    code: FailureCode = FailureCode.HIDDEN_CHECK
    waits: bool = False
    traps: Mapping[str, Trap] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return the digest of all that can change how this opponent fares or has to fare."""
        contents = {name: digests.of_bytes(content) for name, content in self.files.items()}
        wanted = [self.must_pass, self.label, self.code, self.waits]
        return digests.of_value([self.kind, self.name, contents, wanted, dict(self.traps)])


def lay(opponent: Opponent, folder: Path, outside: Path) -> None:
    """Write an opponent as a submission.

    Parameters
    ----------
    folder
        The submission, which must not exist yet.
    outside
        Where the targets of its links are written; must not exist yet either.
    """
    trees.write_tree(folder, {name: content for name, content in opponent.files.items() if name not in opponent.traps})
    trees.write_tree(outside, {name: opponent.files.get(name, b"") for name in opponent.traps})
    for name, trap in opponent.traps.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _set(trap, folder / name, outside / name)


def _set(trap: Trap, place: Path, target: Path) -> None:
    match trap:
        case Trap.LINK:
            place.symlink_to(target)
        case Trap.HARD_LINK:
            place.hardlink_to(target)
        case Trap.UNREADABLE:
            place.write_bytes(target.read_bytes())
            place.chmod(0)
        case Trap.FIFO:
            os.mkfifo(place)
        case Trap.FOLDER:
            place.mkdir()


# What people wrote for a case


def stated(case_id: str, workspace: Files, tree: Path) -> list[Opponent]:
    """Return the initial files and all solutions that people wrote for a case; the reference comes second.

    Parameters
    ----------
    tree
        Holds `references/`, `alternatives/` and `wrong/`.

    Raises
    ------
    ExperimentStopped
        If the reference is missing or a wrong solution does not say why it is wrong.
    """
    reference = tree / "references" / case_id
    if not reference.is_dir():
        raise ExperimentStopped(f"references/{case_id}: there is no such folder; every case needs a reference solution")
    alternatives = _folders(tree / "alternatives" / case_id)
    wrong = _folders(tree / "wrong" / case_id)
    return [
        Opponent("initial", "initial", workspace),
        Opponent("reference", "reference", overlay(workspace, reference), must_pass=True),
        *(Opponent("alternative", path.name, overlay(workspace, path), must_pass=True) for path in alternatives),
        *(Opponent("wrong", path.name, overlay(workspace, path), label=_label(path, case_id)) for path in wrong),
    ]


def overlay(workspace: Files, folder: Path) -> dict[str, bytes]:
    """Return a workspace with the files of a folder laid over it."""
    own = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / WHY
    }
    return {**workspace, **own}


def _folders(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []


def _label(folder: Path, case_id: str) -> str:
    document = documents.read(folder / WHY, f"wrong/{case_id}/{folder.name}/{WHY}")
    value: Any = document.value
    if not isinstance(value, dict) or set(value) != {"why", "fails"} or not all(map(_is_text, value.values())):
        raise document.refuse((), "must have exactly `why` (a sentence) and `fails` (a check's label)")
    return str(value["fails"])


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


# What is made for every case


def generic(workspace: Files, reference: Files, folder: Path) -> list[Opponent]:
    """Return the generic subjects: each in the place of every module, or after every module of the reference."""
    instead = [Opponent("generic", path.stem, _instead(workspace, path)) for path in _scripts(folder / "generic")]
    after = [Opponent("generic", path.stem, _after(reference, path)) for path in _scripts(folder / "after")]
    return instead + after


def attacks(workspace: Files, reference: Files, folder: Path) -> list[Opponent]:
    """Return the attacks: code before or instead of every module, links to the right answer, planted graders."""
    before = [(path, _before(workspace, path)) for path in _scripts(folder / "before")]
    instead = [(path, _instead(workspace, path)) for path in _scripts(folder / "instead")]
    scripted = [Opponent("attack", path.stem, files, waits=_waits(path)) for path, files in before + instead]
    return [*scripted, *_trapped(reference), *_planted(reference)]


def _trapped(reference: Files) -> list[Opponent]:
    """Return submissions whose modules would be right, were they regular files of their own."""
    modules = [name for name in reference if name.endswith(CODE)]
    kinds = (Trap.LINK, Trap.HARD_LINK, Trap.UNREADABLE, Trap.FIFO)
    return [Opponent("attack", f"module-is-{kind}", reference, traps=dict.fromkeys(modules, kind)) for kind in kinds]


def _planted(reference: Files) -> list[Opponent]:
    """Return right submissions that hold the grader's reserved name."""
    code = FailureCode.GRADER_PLANTED
    changed = RESERVED_GRADER.title()
    return [
        Opponent("attack", "planted-file", {**reference, RESERVED_GRADER: b"module.exports = () => {};\n"}, code=code),
        Opponent("attack", "planted-in-other-case", {**reference, changed: b"\n"}, code=code),
        Opponent("attack", "planted-link", reference, code=code, traps={RESERVED_GRADER: Trap.LINK}),
        Opponent("attack", "planted-folder", reference, code=code, traps={RESERVED_GRADER.upper(): Trap.FOLDER}),
    ]


def _scripts(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.js"))


def _waits(script: Path) -> bool:
    return script.read_text("utf-8").startswith(_WAITS)


def _modules(files: Files) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.endswith(CODE)}


def _before(files: Files, script: Path) -> dict[str, bytes]:
    # Braces, so that the script's names can't clash with the module's own.
    code = b"{\n" + script.read_bytes() + b"}\n"
    return {**files, **{name: code + content for name, content in _modules(files).items()}}


def _instead(files: Files, script: Path) -> dict[str, bytes]:
    return {**files, **dict.fromkeys(_modules(files), script.read_bytes())}


def _after(files: Files, script: Path) -> dict[str, bytes]:
    code = b"\n" + script.read_bytes()
    return {**files, **{name: content + code for name, content in _modules(files).items()}}
