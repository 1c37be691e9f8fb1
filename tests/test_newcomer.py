"""A newcomer's path: install the wheel, name a folder of skills, and read a report, without the repository."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laboratory import REPOSITORY
from tests.skill_folders import write
from tests.wheel import Environment, build

pytest.importorskip("setuptools", "77", reason="the wheel is built with the environment's setuptools")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment.make(tmp_path_factory.mktemp("user") / "venv", wheel)


def test_the_wheel_holds_every_file_of_the_package_and_what_the_repository_links_into_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("eval_tasks/")}
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "eval_tasks", "tests/attacks"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    place = "eval_tasks/starter/files/"
    wanted = {
        name.replace("tests/attacks/", f"{place}tests/attacks/", 1)
        for name in tracked
        if Path(REPOSITORY, name).is_file()
    }
    assert f"{place}toolchain/package-lock.json" in wanted
    assert held == wanted


def test_where_the_wheel_is_installed_nothing_of_the_repository_is_imported(environment: Environment) -> None:
    program = "import eval_tasks; print(eval_tasks.__file__)"
    ran = subprocess.run([str(environment.python), "-c", program], cwd="/", capture_output=True, text=True, check=True)
    assert Path(ran.stdout.strip()).is_relative_to(environment.root)


@pytest.fixture(scope="module")
def skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library that no other test uses: plain skills, one only for persons, one that asks for authority."""
    folder = tmp_path_factory.mktemp("somebody") / "team skills"
    for skill in ("3d-models", "brewing", "kiln-schedules", "ledger-entries"):
        write(folder, skill)
    write(folder, "payroll", "disable-model-invocation: true")
    write(folder, "deploying", "allowed-tools: Bash")
    return folder


@pytest.fixture(scope="module")
def reported(environment: Environment, skills: Path) -> Iterator[Path]:
    """Return the experiment after the commands that `init` printed, run one after the other."""
    started = environment.run("init", "evaluation", "--library", skills.name, cwd=skills.parent)
    assert started.returncode == 0, started.stderr
    root = skills.parent / "evaluation"
    (root / "toolchain" / "node_modules").symlink_to(REPOSITORY / "toolchain" / "node_modules")
    steps = [line.split() for line in started.stdout.splitlines() if line.startswith("  ")]
    assert steps == [
        ["cd", "evaluation"],
        ["context-eval", "register"],
        ["context-eval", "run_eval"],
        ["context-eval", "report"],
    ]
    for _, command in steps[1:]:
        ran = environment.run(command, cwd=root)
        assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    yield root
    assert environment.run("purge", cwd=root).returncode == 0


def report_of(root: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(next(root.glob("experiments/*/report/report.json")).read_bytes())
    return found


def test_the_printed_commands_lead_from_a_folder_of_skills_to_a_report(reported: Path) -> None:
    report = json.dumps(report_of(reported))
    assert "synthetic-only" in report
    grades = [json.loads(path.read_bytes()) for path in reported.glob("experiments/*/grades/*.json")]
    assert [grade["passed"] for grade in grades] == [True] * 6


def test_the_drafted_probes_that_name_a_skill_or_meet_policy_pass(reported: Path) -> None:
    probes = {path.stem: json.loads(path.read_bytes()) for path in reported.glob("experiments/*/probes/*.json")}
    judged = {name: probe["passed"] for name, probe in probes.items() if not name.startswith("none")}
    assert len(judged) == 4 + 4
    assert all(judged.values()), judged


def test_the_experiment_verifies_and_its_corpus_stays_proven(environment: Environment, reported: Path) -> None:
    assert environment.run("verify", cwd=reported).returncode == 0
    again = environment.run("check_corpus", cwd=reported)
    assert "proven before: 2 cases" in again.stdout
