"""The corpus as its authors wrote it: cases, probes and the corpus's own statement, checked file by file.

Must never read a reference, an alternative or a wrong solution, nor show a grader to anybody but the grading.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_tasks import digests, documents
from eval_tasks.documents import Document
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import RESERVED_GRADER

MAXIMUM_FILES = 8
MAXIMUM_FILE_BYTES = 16 * 1024
MAXIMUM_PROMPT_BYTES = 8_192
MAXIMUM_GRADER_BYTES = 64 * 1024
CASE_FILES = frozenset({"case.yaml", "workspace", "grader.cjs"})
CATEGORIES_OF_PROBES = ("exact", "paraphrase", "near-miss", "none", "policy")

_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_DOLLAR_WORD = re.compile(r"\$[A-Za-z][A-Za-z0-9_-]*")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9-]{0,63}")


@dataclass(frozen=True)
class Case:
    """One coding problem with its hidden grader."""

    id: str
    category: str
    prompt: str
    skill: str | None
    bears_on: str | None
    hasty_fails: bool
    vocabulary: str
    workspace: Mapping[str, bytes] = field(repr=False)
    grader: Path = field(repr=False)
    files: Mapping[str, str] = field(repr=False)
    """Digest of every file of the case, by path relative to the corpus."""

    @property
    def digest(self) -> str:
        return digests.of_entries(self.files)

    @property
    def grader_digest(self) -> str:
        return self.files[f"cases/{self.id}/grader.cjs"]


@dataclass(frozen=True)
class Probe:
    """One selection-only question and the answer that is right."""

    id: str
    category: str
    prompt: str = field(repr=False)
    explicit: tuple[str, ...]
    exclude: tuple[str, ...]
    no_workflow: bool
    expected_ids: tuple[str, ...] | None
    expected_code: str | None
    half: str
    digest: str

    @property
    def expect(self) -> dict[str, Any]:
        """Return the expectation as the registration binds it."""
        if self.expected_code is not None:
            return {"code": self.expected_code}
        return {"selected": list(self.expected_ids or ())}


@dataclass(frozen=True)
class Corpus:
    """Everything below one corpus folder."""

    id: str
    sampling: str
    minimum_cases: int
    minimum_probes: int
    margin_points: float
    cases: tuple[Case, ...]
    probes: tuple[Probe, ...]
    files: Mapping[str, str] = field(repr=False)

    @property
    def digest(self) -> str:
        return digests.of_entries(self.files)

    def case(self, case_id: str) -> Case:
        """Return the case of that id."""
        return next(case for case in self.cases if case.id == case_id)

    def probe(self, probe_id: str) -> Probe:
        """Return the probe of that id."""
        return next(probe for probe in self.probes if probe.id == probe_id)


def load(folder: Path, name: str = "corpus") -> Corpus:
    """Load and check a corpus.

    Parameters
    ----------
    folder
        Holds `corpus.yaml`, `cases/` and `probes.yaml`.
    name
        How messages name the folder.

    Raises
    ------
    ExperimentStopped
        With file, line and reason, for the first thing that is wrong.
    """
    if not folder.is_dir():
        raise ExperimentStopped(f"{name}: there is no such folder; set `corpus:` in eval.yaml to the corpus")
    statement = documents.read(folder / "corpus.yaml", f"{name}/corpus.yaml", "corpus")
    cases = tuple(_case(path, f"{name}/cases/{path.name}") for path in _case_folders(folder, name))
    probes = _probes(documents.read(folder / "probes.yaml", f"{name}/probes.yaml", "probes"))
    value = statement.value
    files = {top: digests.of_file(folder / top) for top in ("corpus.yaml", "probes.yaml")}
    for case in cases:
        files.update(case.files)
    return Corpus(
        id=value["id"],
        sampling=value["sampling"],
        minimum_cases=value["minimumCases"],
        minimum_probes=value["minimumProbes"],
        margin_points=value["marginPoints"],
        cases=cases,
        probes=probes,
        files=dict(sorted(files.items())),
    )


def _shown(name: str) -> str:
    """Return a file's name as one printable line, whatever its author put into it."""
    return name if name.isprintable() else ascii(name)


def _case_folders(folder: Path, name: str) -> list[Path]:
    cases = folder / "cases"
    if not cases.is_dir():
        raise ExperimentStopped(f"{name}/cases: there is no such folder; a corpus needs at least one case")
    found = sorted(cases.iterdir())
    for path in found:
        place = f"{name}/cases/{_shown(path.name)}"
        if path.is_symlink() or not path.is_dir():
            raise ExperimentStopped(f"{place}: is no folder; a case is a folder with case.yaml")
        if not _IDENTIFIER.fullmatch(path.name):
            raise ExperimentStopped(f"{place}: a case's id has small letters, digits and dashes only")
    if not found:
        raise ExperimentStopped(f"{name}/cases: holds no case; a corpus needs at least one")
    return found


def _case(folder: Path, name: str) -> Case:
    extra = sorted({path.name for path in folder.iterdir()} - CASE_FILES)
    if extra:
        belonging = ", ".join(sorted(CASE_FILES))
        raise ExperimentStopped(f"{name}/{_shown(extra[0])}: does not belong to a case; it has {belonging}")
    document = documents.read(folder / "case.yaml", f"{name}/case.yaml", "case")
    value = document.value
    if value["id"] != folder.name:
        raise document.refuse(("id",), f"must be the folder's name, {folder.name}")
    check_prompt(document, ("prompt",), value["prompt"])
    if (value["skill"] is None) != (value.get("bearsOn") is None):
        raise document.refuse(("bearsOn",), "must be given with a skill and only with one")
    workspace = _workspace(folder / "workspace", f"{name}/workspace")
    grader = folder / "grader.cjs"
    _check_grader(grader, f"{name}/grader.cjs")
    prefix = f"cases/{folder.name}"
    files = {
        f"{prefix}/case.yaml": digests.of_file(folder / "case.yaml"),
        f"{prefix}/grader.cjs": digests.of_file(grader),
    }
    files |= {f"{prefix}/workspace/{path}": digests.of_bytes(content) for path, content in workspace.items()}
    return Case(
        id=value["id"],
        category=value["category"],
        prompt=value["prompt"],
        skill=value["skill"],
        bears_on=value.get("bearsOn"),
        hasty_fails=value["hastyFails"],
        vocabulary=value["vocabulary"],
        workspace=workspace,
        grader=grader,
        files=dict(sorted(files.items())),
    )


def check_prompt(document: Document, place: documents.Place, prompt: str) -> None:
    """Refuse a prompt that is too long, or in which the agent would read a `$word` as a call for a skill."""
    if len(prompt.encode("utf-8", "surrogatepass")) > MAXIMUM_PROMPT_BYTES:
        raise document.refuse(place, f"is longer than {MAXIMUM_PROMPT_BYTES} bytes")
    found = _DOLLAR_WORD.search(prompt)
    if found:
        raise document.refuse(place, f"holds {found.group()}, which the agent takes for a skill; write it otherwise")


def _check_grader(path: Path, name: str) -> None:
    if path.is_symlink() or not path.is_file():
        raise ExperimentStopped(f"{name}: there is no such file; every case needs a hidden grader")
    if path.stat().st_size > MAXIMUM_GRADER_BYTES:
        raise ExperimentStopped(f"{name}: is larger than {MAXIMUM_GRADER_BYTES} bytes")
    _text(path, name)


def _text(path: Path, name: str) -> bytes:
    content = path.read_bytes()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ExperimentStopped(f"{name}:{line}: not valid UTF-8; save it as UTF-8") from error
    return content


def _workspace(folder: Path, name: str) -> dict[str, bytes]:
    if folder.is_symlink() or not folder.is_dir():
        raise ExperimentStopped(f"{name}: there is no such folder; a case needs the files that the agent begins with")
    found: dict[str, bytes] = {}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for entry in [*folders, *sorted(names)]:
            path = Path(place, entry)
            relative = path.relative_to(folder).as_posix()
            _check_entry(path, relative, name)
            if path.is_file():
                found[relative] = _text(path, f"{name}/{relative}")
    if not 1 <= len(found) <= MAXIMUM_FILES:
        raise ExperimentStopped(f"{name}: holds {len(found)} files; a case has 1 to {MAXIMUM_FILES}")
    return dict(sorted(found.items()))


def _check_entry(path: Path, relative: str, name: str) -> None:
    place = f"{name}/{_shown(relative)}"
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        raise ExperimentStopped(f"{place}: is a link or a special file; use a regular file")
    if path.name.startswith("."):
        raise ExperimentStopped(f"{place}: is hidden; the agent's files have plain names")
    if not _SAFE_NAME.fullmatch(path.name):
        raise ExperimentStopped(f"{place}: has an unsafe name; use letters, digits, dot, dash, underscore")
    if relative.lower() == RESERVED_GRADER:
        raise ExperimentStopped(f"{place}: this name is reserved for the grader")
    if path.is_file() and path.stat().st_size > MAXIMUM_FILE_BYTES:
        raise ExperimentStopped(f"{place}: is larger than {MAXIMUM_FILE_BYTES} bytes")


def _probes(document: Document) -> tuple[Probe, ...]:
    seen: set[str] = set()
    probes = []
    for index, value in enumerate(document.value["probes"]):
        place: documents.Place = ("probes", index)
        if value["id"] in seen:
            raise document.refuse((*place, "id"), f"the id {value['id']} stands twice")
        seen.add(value["id"])
        check_prompt(document, (*place, "prompt"), value["prompt"])
        probes.append(_probe(value))
    return tuple(probes)


def _probe(value: Mapping[str, Any]) -> Probe:
    expect = value["expect"]
    return Probe(
        id=value["id"],
        category=value["category"],
        prompt=value["prompt"],
        explicit=tuple(value.get("explicit", ())),
        exclude=tuple(value.get("exclude", ())),
        no_workflow=value.get("noWorkflow", False),
        expected_ids=tuple(expect["selected"]) if "selected" in expect else None,
        expected_code=expect.get("code"),
        half=value["half"],
        digest=digests.of_value(dict(value)),
    )
