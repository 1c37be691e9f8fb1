"""Profiles: from a file that names skills to the plan of an install.

Must never plan a skill that the bound library does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eval_tasks import digests, documents
from eval_tasks.library import Library

ALL = "all"


@dataclass(frozen=True)
class Profile:
    """The plan of one install.

    Parameters
    ----------
    id
        As the file has it, with its version.
    skills
        The planned ids in sorted order.
    required
        Those that the plan would be wrong without.
    """

    id: str
    skills: tuple[str, ...]
    required: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The digest of the plan; the skills' bytes are bound with the library."""
        return digests.of_value({"id": self.id, "skills": list(self.skills), "required": list(self.required)})


NOTHING = Profile("baseline@1", ())
"""The plan of an install without any skill."""


def load(path: Path, name: str, library: Library) -> Profile:
    """Read a profile and plan its skills.

    Parameters
    ----------
    path
        The file.
    name
        How messages name it, relative to the project.

    Raises
    ------
    ExperimentStopped
        With the line, if a skill is named that the library lacks, excluded although it is listed or required, or if
        nothing is left.
    """
    document = documents.read(path, name, "profile")
    value = document.value
    for key in ("skills", "required", "exclude"):
        named = value.get(key, [])
        for index, skill in enumerate([] if named == ALL else named):
            if skill not in library.skills:
                raise document.refuse((key, index), f"the library has no skill {skill}; correct or remove it")
    wanted = set(library.skills) if value["skills"] == ALL else set(value["skills"])
    excluded = set(value.get("exclude", []))
    planned = wanted - excluded
    _check(document, planned, excluded if value["skills"] == ALL else excluded - wanted)
    return Profile(value["id"], tuple(sorted(planned)), tuple(sorted(value.get("required", []))))


def _check(document: documents.Document, planned: set[str], takes_effect: set[str]) -> None:
    missing = sorted(set(document.value.get("required", [])) - planned)
    if missing:
        raise document.refuse(("required",), f"{missing[0]} is required but not planned; add it to skills")
    both = sorted(set(document.value.get("exclude", [])) - takes_effect)
    if both:
        raise document.refuse(("exclude",), f"{both[0]} is both listed and excluded; remove one of them")
    if not planned:
        raise document.refuse(("skills",), "no skill is left to install; list at least one")
