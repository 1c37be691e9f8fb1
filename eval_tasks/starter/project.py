"""The files of a new experiment: templates filled in from a library, laid down as one folder or not at all.

Must never write into a folder that holds anything, nor before the library was read without a fault.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from eval_tasks import files, library
from eval_tasks.agents import AGENTS
from eval_tasks.errors import ExperimentStopped
from eval_tasks.library import Library
from eval_tasks.paths import PACKAGE, Project
from eval_tasks.starter import drafts

TEMPLATES = PACKAGE / "starter" / "files"
"""The new project as a tree; `*.j2` is filled in, everything else copied. `sources` would bind a `*.cjs` in here."""
EXAMPLE_LIBRARY = "skills"
"""The two skills for those who have none, part of the project only then."""
MODELS: Mapping[str, str] = {"codex": "gpt-5.5", "claude": "claude-haiku-4-5"}
"""A model that an agent knows, to rehearse with; an agent without a row asks for `--model`."""

_SUFFIX = ".j2"
_PLACEHOLDER = "corpus/cases/page-names/case.yaml"
_PROBES = (
    b"# Drafted from the names of the skills. Replace them by questions as your users ask them: paraphrases and near\n"
    b"# misses tell more than names do. `tune` may be looked at while a selector is set, `held` only judges it.\n"
)


def start(place: Path, skills: Path | None, kind: str, model: str | None = None) -> Project:
    """Write a new experiment.

    Parameters
    ----------
    place
        The folder to make; it may exist if it is empty.
    skills
        The library, one `<id>/SKILL.md` for each skill; None writes an example of two skills.
    kind
        Which agent is rehearsed, a key of `AGENTS`.
    model
        The model to rehearse with; None takes one that the agent knows.

    Raises
    ------
    ExperimentStopped
        With one line, if the folder holds something, the library can't be used or the agent is unknown.
    """
    _check_place(place)
    found = library.load(TEMPLATES / EXAMPLE_LIBRARY if skills is None else skills.resolve())
    settings = _agent(kind, model) | {"library": _relative(skills, place)}
    _lay(place, dict(_contents(found, settings, with_library=skills is None)))
    return Project(place.resolve())


def _check_place(place: Path) -> None:
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise ExperimentStopped(f"init: {place} is no folder; name a new one")
    if place.is_dir() and any(place.iterdir()):
        raise ExperimentStopped(f"init: {place} is not empty; name a new folder")


def _agent(kind: str, model: str | None) -> dict[str, str]:
    if kind not in AGENTS:
        raise ExperimentStopped(f"init: --agent {kind}: choose one of {', '.join(AGENTS)}")
    chosen = model or MODELS.get(kind)
    if chosen is None:
        raise ExperimentStopped(f"init: --agent {kind}: add --model with one that it knows")
    return {"kind": kind, "version": AGENTS[kind].VERSIONS[-1], "model": chosen}


def _relative(skills: Path | None, place: Path) -> str:
    if skills is None:
        return EXAMPLE_LIBRARY
    return os.path.relpath(skills.resolve(), place.resolve())


def _contents(found: Library, settings: Mapping[str, str], *, with_library: bool) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of each file by its path in the project."""
    templates = dict(_templates())
    prompt = yaml.safe_load(_filled(templates[_PLACEHOLDER + _SUFFIX], {"skill": None}))["prompt"]
    values = {**settings, "lean": drafts.core(found), "skill": drafts.skill_of(prompt, found)}
    for name, content in templates.items():
        if name.split("/")[0] == EXAMPLE_LIBRARY and not with_library:
            continue
        yield name.removesuffix(_SUFFIX), _filled(content, values) if name.endswith(_SUFFIX) else content
    listed = yaml.safe_dump({"probes": drafts.probes(found)}, sort_keys=False, allow_unicode=True, width=110)
    yield "corpus/probes.yaml", _PROBES + listed.encode("utf-8")
    yield "registrations.jsonl", b""


def _templates() -> Iterator[tuple[str, bytes]]:
    """Yield the tree; in a checkout, what the repository has anyway is a link in it, which is followed."""
    for folder, _, names in os.walk(TEMPLATES, followlinks=True):
        for name in sorted(names):
            path = Path(folder, name)
            yield path.relative_to(TEMPLATES).as_posix(), path.read_bytes()


def _filled(template: bytes, values: Mapping[str, Any]) -> bytes:
    # The values go into YAML and Markdown, never into a page.
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    return environment.from_string(template.decode("utf-8")).render(values).encode("utf-8")


def _lay(place: Path, contents: Mapping[str, bytes]) -> None:
    """Write the folder beside its place and rename it, so that a half-written project never stands there."""
    scratch: str | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.mkdtemp(prefix=".init-", dir=place.parent)
        files.write_tree(Path(scratch, "project"), contents)
        os.rename(Path(scratch, "project"), place)
    except OSError as error:
        raise ExperimentStopped(f"init: {place} can't be written ({error.strerror}); name another folder") from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
