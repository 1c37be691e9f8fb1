"""Which cases and probes of the real corpus a chaos experiment uses, and a small library that makes it quick.

Must never name a case or a probe: the corpus changes, and what is asked of them is found out here.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from eval_tasks import library, origin
from eval_tasks.library import Library
from eval_tasks.paths import Project
from eval_tasks.selection import resolver
from eval_tasks.selection.resolver import Shortlist, Task
from tests.laboratory import REPOSITORY

SOURCE = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}
SMALL = ("configure-ecc", "workspace-surface-audit", "strategic-compact")


@cache
def ecc() -> Library:
    """Return the real library."""
    return library.load(origin.locate(SOURCE, Project(REPOSITORY)))


@cache
def cases() -> dict[str, dict[str, Any]]:
    """Return the settings of every case that can be played."""
    found = {}
    for path in sorted((REPOSITORY / "corpus" / "cases").iterdir()):
        trees = [REPOSITORY / "tests" / tree / path.name for tree in ("references", "alternatives", "wrong")]
        if (path / "grader.cjs").is_file() and all(tree.is_dir() for tree in trees):
            found[path.name] = yaml.safe_load((path / "case.yaml").read_text("utf-8"))
    return found


@cache
def probes() -> dict[str, dict[str, Any]]:
    """Return every probe."""
    listed = yaml.safe_load((REPOSITORY / "corpus" / "probes.yaml").read_text("utf-8"))["probes"]
    return {probe["id"]: probe for probe in listed}


def shortlists(key: str, prompt: str, catalogue: Library | None = None) -> bool:
    """Return whether the resolver leaves the choice to a proposal call."""
    return isinstance(resolver.resolve(Task(key, prompt), (), catalogue or ecc()), Shortlist)


def proposing_cases(count: int) -> list[str]:
    """Return cases with a skill of their own, and with a proposal in Auto Lean; those first that others use too."""
    found = [key for key, case in cases().items() if case["skill"] and shortlists(key, case["prompt"])]
    found.sort(key=lambda key: key != "catalogue-query")
    assert len(found) >= count, "the corpus has too few cases with a proposal"
    return found[:count]


def proposing_probes(count: int) -> list[str]:
    """Return probes that come to a proposal."""
    found = [
        key
        for key, probe in probes().items()
        if not probe.get("explicit") and not probe.get("exclude") and not probe.get("noWorkflow")
        if shortlists(key, probe["prompt"])
    ]
    assert len(found) >= count, "the corpus has too few probes with a proposal"
    return found[:count]


def silent_case() -> str:
    """Return a case that needs no skill."""
    return "open-slots" if "open-slots" in cases() else next(key for key, case in cases().items() if not case["skill"])


def silent_probe() -> str:
    """Return a probe that the resolver answers itself, with no skill at all."""
    return next(
        key for key, probe in probes().items() if probe["category"] == "none" and not shortlists(key, probe["prompt"])
    )


def give_small_library(root: Path, *more: str) -> dict[str, str]:
    """Make a library of three skills and some more in a project and return the setting that names it."""
    for skill in {*SMALL, *more}:
        shutil.copytree(ecc().root / skill, root / "library" / skill)
    return {"folder": "library"}


def give_library_of(root: Path, case: str) -> dict[str, str]:
    """Make a small library in which this case's Auto Lean still comes to a proposal."""
    prompt = cases()[case]["prompt"]
    resolution = resolver.resolve(Task(case, prompt), (), ecc())
    assert isinstance(resolution, Shortlist)
    setting = give_small_library(root, cases()[case]["skill"], *(candidate.id for candidate in resolution.candidates))
    assert shortlists(case, prompt, library.load(root / "library"))
    return setting
