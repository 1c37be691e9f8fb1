"""A new experiment's files, and what is refused before one of them is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from eval_tasks import corpus, experiment, library, origin
from eval_tasks.agents import AGENTS
from eval_tasks.errors import ExperimentStopped
from eval_tasks.installs import profiles
from eval_tasks.starter import project
from tests.laboratory import REPOSITORY
from tests.skill_folders import write


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    folder = tmp_path / "my skills"
    for skill in ("alpha", "beta", "gamma", "zeta"):
        write(folder, skill)
    return folder


def entries(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_every_loader_takes_what_is_written(tmp_path: Path, skills: Path) -> None:
    made = project.start(tmp_path / "new", skills, "codex")
    settings = experiment.load(made, {})
    assert settings.rehearsing
    found = library.load(origin.locate(settings.value["library"], made))
    assert sorted(found.skills) == ["alpha", "beta", "gamma", "zeta"]
    cases = corpus.load(made.root / "corpus").cases
    assert [case.skill for case in cases] == ["gamma", None]
    plans = {name: profiles.load(made.root / place, place, found) for name, place in settings.value["profiles"].items()}
    assert plans["full"].skills == ("alpha", "beta", "gamma", "zeta")
    assert plans["lean"].skills == ("alpha", "beta")


def test_the_library_is_named_relative_to_the_experiment(tmp_path: Path, skills: Path) -> None:
    made = project.start(tmp_path / "deep" / "new", skills, "codex")
    assert yaml.safe_load(made.settings.read_text("utf-8"))["library"] == {"folder": "../../my skills"}
    assert not (made.root / "skills").exists()


def test_without_a_library_two_example_skills_are_written(tmp_path: Path) -> None:
    made = project.start(tmp_path / "new", None, "codex")
    assert sorted(library.load(made.root / "skills").skills) == ["careful-rounding", "readable-addresses"]
    assert [case.skill for case in corpus.load(made.root / "corpus").cases] == ["readable-addresses", None]


def test_the_toolchain_and_the_attacks_are_the_repositorys_own_as_regular_files(tmp_path: Path, skills: Path) -> None:
    made = project.start(tmp_path / "new", skills, "codex")
    assert entries(made.opponents / "attacks") == entries(REPOSITORY / "tests" / "attacks")
    for name in ("package.json", "package-lock.json"):
        assert (made.toolchain / name).read_bytes() == (REPOSITORY / "toolchain" / name).read_bytes()
    assert [path for path in made.root.rglob("*") if path.is_symlink()] == []


def test_each_case_has_a_reference_an_alternative_and_at_least_four_wrong_solutions(tmp_path: Path) -> None:
    tests = project.start(tmp_path / "new", None, "codex").opponents
    for case in ("page-names", "shared-bill"):
        assert entries(tests / "references" / case)
        assert len(list((tests / "alternatives" / case).iterdir())) >= 1
        assert len(list((tests / "wrong" / case).glob("*/why.yaml"))) >= 4


def test_a_doit_without_the_evaluator_is_told_so_in_one_line(tmp_path: Path, skills: Path) -> None:
    made = project.start(tmp_path / "new", skills, "codex")
    bare = [sys.executable, "-I", "-S", str(made.root / "dodo.py")]
    ran = subprocess.run(bare, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("stopped: ")
    assert ran.stderr.count("\n") == 1


def test_its_ignored_files_are_those_of_the_repository(tmp_path: Path, skills: Path) -> None:
    made = project.start(tmp_path / "new", skills, "codex")
    ignored = set((made.root / ".gitignore").read_text("utf-8").split())
    assert (
        {"experiments/", "toolchain/node_modules/"} <= ignored <= set((REPOSITORY / ".gitignore").read_text().split())
    )
    assert made.attempts.read_bytes() == b""


@pytest.mark.parametrize("kind", project.MODELS)
def test_each_agent_is_started_at_its_newest_supported_version_with_a_model(
    tmp_path: Path, skills: Path, kind: str
) -> None:
    agent = experiment.load(project.start(tmp_path / "new", skills, kind), {}).agent
    assert (agent["kind"], agent["version"], agent["model"]) == (kind, AGENTS[kind].VERSIONS[-1], project.MODELS[kind])


def test_a_model_can_be_named(tmp_path: Path, skills: Path) -> None:
    made = project.start(tmp_path / "new", skills, "codex", "gpt-x")
    assert experiment.load(made, {}).agent["model"] == "gpt-x"


def test_an_agent_without_a_known_model_asks_for_one(
    tmp_path: Path, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(AGENTS, "abacus", AGENTS["codex"])
    assert "add --model" in refused(tmp_path / "new", skills, "abacus")


def test_an_empty_folder_may_be_filled(tmp_path: Path, skills: Path) -> None:
    (tmp_path / "new").mkdir()
    assert project.start(tmp_path / "new", skills, "codex").settings.is_file()


def refused(place: Path, skills: Path | None, kind: str = "codex") -> str:
    before = sorted(place.parent.iterdir())
    with pytest.raises(ExperimentStopped) as stopped:
        project.start(place, skills, kind)
    assert sorted(place.parent.iterdir()) == before
    assert "\n" not in str(stopped.value)
    return str(stopped.value)


def test_a_folder_that_holds_something_is_refused_and_left_alone(tmp_path: Path, skills: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "notes").write_text("mine")
    assert "is not empty" in refused(tmp_path / "new", skills)
    assert entries(tmp_path / "new") == {"notes"}


def test_a_file_or_a_link_in_the_folders_place_is_refused(tmp_path: Path, skills: Path) -> None:
    (tmp_path / "new").write_text("mine")
    assert "is no folder" in refused(tmp_path / "new", skills)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is no folder" in refused(tmp_path / "link", skills)


def test_a_library_without_skills_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no <id>/SKILL.md" in refused(tmp_path / "new", tmp_path / "empty")
    assert "can't be read" in refused(tmp_path / "new", tmp_path / "nowhere")


def test_bad_front_matter_is_refused_with_its_line(tmp_path: Path, skills: Path) -> None:
    (skills / "beta" / "SKILL.md").write_text("---\nname: beta\ndescription: [\n---\n")
    assert "beta/SKILL.md:" in refused(tmp_path / "new", skills)


def test_an_unknown_agent_is_refused(tmp_path: Path, skills: Path) -> None:
    assert "choose one of codex" in refused(tmp_path / "new", skills, "abacus")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, skills: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    assert "can't be written" in refused(tmp_path / "closed" / "new", skills)


def test_a_place_below_a_file_is_refused(tmp_path: Path, skills: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExperimentStopped, match="can't be written"):
        project.start(tmp_path / "file" / "new", skills, "codex")
