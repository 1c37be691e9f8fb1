"""The bundled probes against the real resolver and library."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import Stemmer

from eval_tasks import documents, library, origin
from eval_tasks.library import Library
from eval_tasks.paths import Project
from eval_tasks.selection import resolver
from eval_tasks.selection.resolver import Blocked, Selected, Shortlist, Task

PROJECT = Path(__file__).resolve().parents[1]
SOURCE = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}
PROBES: list[dict[str, Any]] = documents.read(PROJECT / "corpus/probes.yaml", "probes.yaml", "probes").value["probes"]
EXACT = [probe for probe in PROBES if probe["category"] in ("exact", "policy")]
SEARCHED = [probe for probe in PROBES if probe["category"] in ("paraphrase", "near-miss")]
PARAPHRASES = [probe for probe in PROBES if probe["category"] == "paraphrase"]
NEEDLESS = [probe for probe in PROBES if probe["category"] == "none"]


def ids(probe: dict[str, Any]) -> str:
    return str(probe["id"])


@pytest.fixture(scope="module")
def ecc() -> Library:
    return library.load(origin.locate(SOURCE, Project(PROJECT)))


def resolution_of(probe: dict[str, Any], catalogue: Library) -> resolver.Resolution:
    task = Task(probe["id"], probe["prompt"], tuple(probe.get("explicit", ())), probe.get("noWorkflow", False))
    return resolver.resolve(task, probe.get("exclude", ()), catalogue)


def test_there_are_sixty_probes_in_halves_that_are_balanced_in_each_category() -> None:
    counts = Counter((probe["category"], probe["half"]) for probe in PROBES)
    wanted = {"exact": 6, "paraphrase": 9, "near-miss": 3, "none": 7, "policy": 5}
    assert counts == {(category, half): n for category, n in wanted.items() for half in ("tune", "held")}


def test_probes_have_ids_and_prompts_of_their_own_and_expect_skills_that_exist(ecc: Library) -> None:
    assert len({probe["id"] for probe in PROBES}) == 60
    expected = [skill for probe in PROBES for skill in probe["expect"].get("selected", ())]
    assert set(expected) <= set(ecc.skills)
    assert len({skill for probe in SEARCHED for skill in probe["expect"]["selected"]}) == 24


@pytest.mark.parametrize("probe", PARAPHRASES, ids=ids)
def test_a_paraphrase_has_no_word_of_its_skills_name(probe: dict[str, Any]) -> None:
    stem = Stemmer.Stemmer("english").stemWord
    (skill,) = probe["expect"]["selected"]
    said = {stem(word) for word in re.findall(r"[a-z0-9]+", probe["prompt"].lower())}
    assert said.isdisjoint(stem(word) for word in skill.split("-"))


@pytest.mark.parametrize("probe", EXACT, ids=ids)
def test_names_and_policy_are_decided_without_a_proposal(probe: dict[str, Any], ecc: Library) -> None:
    resolution = resolution_of(probe, ecc)
    if "code" in probe["expect"]:
        assert isinstance(resolution, Blocked)
        assert resolution.code == probe["expect"]["code"]
    else:
        assert isinstance(resolution, Selected)
        assert list(resolution.ids) == probe["expect"]["selected"]


def test_every_block_code_that_this_library_can_raise_has_a_probe(ecc: Library) -> None:
    codes = {probe["expect"]["code"] for probe in PROBES if "code" in probe["expect"]}
    assert codes == {"excluded", "unknown-id", "native-authority", "opt-out-conflict", "context-budget"}
    assert not any(skill.manual_only for skill in ecc.skills.values())


@pytest.mark.parametrize("probe", SEARCHED, ids=ids)
def test_the_right_skill_is_selected_or_on_the_shortlist(probe: dict[str, Any], ecc: Library) -> None:
    resolution = resolution_of(probe, ecc)
    (right,) = probe["expect"]["selected"]
    if isinstance(resolution, Shortlist):
        assert right in [candidate.id for candidate in resolution.candidates]
    else:
        assert isinstance(resolution, Selected)
        assert resolution.ids == (right,)


@pytest.mark.parametrize("probe", NEEDLESS, ids=ids)
def test_where_nothing_is_needed_nothing_is_selected_without_a_proposal(probe: dict[str, Any], ecc: Library) -> None:
    resolution = resolution_of(probe, ecc)
    assert isinstance(resolution, Shortlist | Selected)
    assert isinstance(resolution, Shortlist) or resolution.ids == ()


def test_the_profiles_name_skills_that_exist(ecc: Library) -> None:
    full = documents.read(PROJECT / "corpus/profiles/full.yaml", "full.yaml", "profile").value
    lean = documents.read(PROJECT / "corpus/profiles/lean.yaml", "lean.yaml", "profile").value
    assert full["skills"] == "all"
    assert set(lean["skills"]) <= set(ecc.skills)
    assert set(lean["required"]) <= set(lean["skills"])
