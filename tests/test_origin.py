from __future__ import annotations

import doctest
import json
import os
import subprocess
from pathlib import Path

import pytest

from eval_tasks import library, origin
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project

ECC = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}


def test_a_folder_is_located_relative_to_the_project(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert origin.locate({"folder": "mine"}, Project(tmp_path)) == (tmp_path / "mine").resolve()
    assert origin.locate({"folder": "../mine"}, Project(tmp_path / "mine")) == (tmp_path / "mine").resolve()


def test_a_missing_folder_is_named_as_the_settings_name_it(tmp_path: Path) -> None:
    with pytest.raises(ExperimentStopped, match=r"no folder \.\./gone") as stopped:
        origin.locate({"folder": "../gone"}, Project(tmp_path))
    assert str(tmp_path) not in str(stopped.value)


def package(project: Path, content: str) -> None:
    folder = project / "toolchain/node_modules/ecc-universal"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(content, encoding="utf-8")


def test_a_package_that_is_not_installed_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ExperimentStopped, match="ecc-universal is not installed; run `doit toolchain`"):
        origin.locate(ECC, Project(tmp_path))


@pytest.mark.parametrize("content", ['{"version": "1.9.0"}', "{}", "[]"])
def test_a_package_of_another_version_is_refused(tmp_path: Path, content: str) -> None:
    package(tmp_path, content)
    with pytest.raises(ExperimentStopped, match=r"asks for 2\.0\.0"):
        origin.locate(ECC, Project(tmp_path))


def test_a_damaged_package_is_refused_in_one_line(tmp_path: Path) -> None:
    package(tmp_path, "{")
    with pytest.raises(ExperimentStopped, match="damaged"):
        origin.locate(ECC, Project(tmp_path))


def test_a_package_without_the_skills_folder_is_refused(tmp_path: Path) -> None:
    package(tmp_path, json.dumps({"version": "2.0.0"}))
    with pytest.raises(ExperimentStopped, match="has no folder skills"):
        origin.locate(ECC, Project(tmp_path))


def git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", checkout, "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> tuple[Path, str, str]:
    """Return a checkout with two commits of one skill, and both commits."""
    place = tmp_path / "shelf"
    skill = place / "skills" / "baking" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    git(place, "init", "--quiet")
    commits = []
    for version in ("first", "second"):
        skill.write_text(f"---\nname: baking\ndescription: The {version} way to bake.\n---\n", encoding="utf-8")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", version)
        commits.append(git(place, "rev-parse", "HEAD"))
    skill.write_text("uncommitted", encoding="utf-8")
    return place, commits[0], commits[1]


def test_a_commit_is_exported_as_it_was_whatever_the_checkout_holds_now(
    tmp_path: Path, checkout: tuple[Path, str, str]
) -> None:
    project = Project(tmp_path / "project")
    project.root.mkdir()
    for commit, said in zip(checkout[1:], ("first", "second"), strict=True):
        folder = origin.locate({"git": "../shelf", "commit": commit, "skills": "skills"}, project)
        assert library.load(folder).skills["baking"].description == f"The {said} way to bake."
        assert (folder / "baking" / "SKILL.md").stat().st_mode & 0o222 == 0
        assert folder.is_relative_to(project.cache.resolve())


def test_an_exported_commit_needs_its_checkout_no_more(tmp_path: Path, checkout: tuple[Path, str, str]) -> None:
    project = Project(tmp_path / "project")
    project.root.mkdir()
    source = {"git": "../shelf", "commit": checkout[1], "skills": "skills"}
    folder = origin.locate(source, project)
    os.rename(checkout[0], tmp_path / "elsewhere")
    assert origin.locate(source, project) == folder


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"commit": "0" * 40}, "is no git checkout with a folder skills at commit 000000000000"),
        ({"skills": "other"}, "is no git checkout with a folder other at commit"),
        ({"git": "../gone"}, r"pinned\.library: there is no folder \.\./gone"),
        ({"git": "../project"}, "project is no git checkout"),
    ],
)
def test_what_can_not_be_exported_is_refused_in_one_line(
    tmp_path: Path, checkout: tuple[Path, str, str], change: dict[str, str], said: str
) -> None:
    project = Project(tmp_path / "project")
    project.root.mkdir()
    source = {"git": "../shelf", "commit": checkout[1], "skills": "skills", **change}
    with pytest.raises(ExperimentStopped, match=said) as stopped:
        origin.locate(source, project, "pinned.library")
    assert "\n" not in str(stopped.value)
    assert str(tmp_path) not in str(stopped.value)
    assert list(project.cache.glob("libraries/*")) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (ECC, "npm ecc-universal 2.0.0"),
        ({"folder": "/home/anna/skills"}, "a local folder"),
        ({"git": "/home/anna/shelf", "commit": "ab" * 20, "skills": "skills"}, "git commit abababababab"),
    ],
)
def test_what_is_made_public_names_no_place_of_this_machine(source: dict[str, str], said: str) -> None:
    public = origin.public(source)
    assert origin.words(public) == said
    assert "anna" not in json.dumps(public)


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(origin).failed == 0
    assert doctest.testmod(origin).attempted >= 2
