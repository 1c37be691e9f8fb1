"""What is drafted from a library alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from eval_tasks import corpus, library
from eval_tasks.grading import lints
from eval_tasks.library import Library
from eval_tasks.selection import resolver
from eval_tasks.selection.resolver import Blocked, Selected, Task
from eval_tasks.starter import drafts
from tests.skill_folders import write


def made(tmp_path: Path, *ids: str, **special: str) -> Library:
    """Write a library of plain skills and of some with a further line of front matter, and load it."""
    for skill in ids:
        write(tmp_path, skill)
    for skill, line in special.items():
        write(tmp_path, skill, line)
    return library.load(tmp_path)


@pytest.mark.parametrize(("count", "size"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3), (9, 3)])
def test_the_core_is_at_most_half_of_the_library_and_three_skills(tmp_path: Path, count: int, size: int) -> None:
    found = made(tmp_path, *(f"skill-{number}" for number in range(count)))
    assert drafts.core(found) == [f"skill-{number}" for number in range(size)]


def test_what_may_not_be_delivered_is_in_no_core_and_named_by_no_case(tmp_path: Path) -> None:
    found = made(tmp_path, "zeta", alpha="disable-model-invocation: true", beta="allowed-tools: Bash")
    write(tmp_path, "gamma", body="x" * 40_000)
    found = library.load(tmp_path)
    assert drafts.core(found) == ["zeta"]
    assert drafts.skill_of("Mend it.", found) == "zeta"


def test_a_library_of_which_nothing_may_be_delivered_still_has_a_core_and_probes(tmp_path: Path) -> None:
    found = made(tmp_path, alpha="disable-model-invocation: true")
    assert drafts.core(found) == ["alpha"]
    assert drafts.skill_of("Mend it.", found) is None
    assert {probe["category"] for probe in drafts.probes(found)} == {"none", "policy"}


def test_an_example_names_no_skill_that_its_prompt_gives_away(tmp_path: Path) -> None:
    found = made(tmp_path, "menu", "pages")
    prompt = "Two pages are called Menu."
    assert lints.of_prompt(prompt, "menu", None)
    assert drafts.skill_of(prompt, found) is None
    write(tmp_path, "zebra")
    assert drafts.skill_of(prompt, library.load(tmp_path)) == "zebra"


def test_an_example_prefers_a_skill_outside_the_core(tmp_path: Path) -> None:
    found = made(tmp_path, "alpha", "beta", "gamma", "zeta")
    assert drafts.core(found) == ["alpha", "beta"]
    assert drafts.skill_of("Mend it.", found) == "gamma"


def test_at_most_twelve_skills_get_a_probe_that_names_them(tmp_path: Path) -> None:
    found = made(tmp_path, *(f"skill-{number:02}" for number in range(20)))
    named = [probe["expect"]["selected"] for probe in drafts.probes(found) if probe["category"] == "exact"]
    assert named == [[f"skill-{number:02}"] for number in range(12)]


def test_the_probes_are_loaded_as_a_corpus_loads_them_and_the_exact_and_policy_ones_are_met(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    long = "a" * 64
    found = made(skills, long, "3d", "seo", "import", "b-c", manual="disable-model-invocation: true", own="tools: Read")
    (tmp_path / "probes.yaml").write_text(yaml.safe_dump({"probes": drafts.probes(found)}), "utf-8")
    document = corpus.documents.read(tmp_path / "probes.yaml", "probes.yaml", "probes")
    probes = [probe for probe in corpus._probes(document) if probe.category != "none" or probe.no_workflow]
    assert len(probes) == 5 + 1 + 4
    for probe in probes:
        task = Task(probe.id, probe.prompt, probe.explicit, probe.no_workflow)
        resolution = resolver.resolve(task, probe.exclude, found)
        if probe.expected_code:
            assert isinstance(resolution, Blocked)
            assert resolution.code == probe.expected_code
        else:
            assert isinstance(resolution, Selected), probe.id
            assert resolution.ids == probe.expected_ids


def test_the_unknown_skill_is_unknown_to_this_library_too(tmp_path: Path) -> None:
    found = made(tmp_path, "missing-1", "missing-2")
    asked = [probe["explicit"] for probe in drafts.probes(found) if probe["id"].endswith("unknown-id")]
    assert asked == [["missing-3"]]


def test_the_halves_alternate_within_each_category(tmp_path: Path) -> None:
    probes = drafts.probes(made(tmp_path, "alpha", "beta", "gamma"))
    for category in ("exact", "none", "policy"):
        halves = [probe["half"] for probe in probes if probe["category"] == category]
        assert halves == ["tune", "held", "tune", "held"][: len(halves)]
        assert len(halves) >= 2
