"""The command `context-eval`: what it prints, hands over and refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval_tasks import __main__ as command
from eval_tasks import __version__
from tests.laboratory import REPOSITORY


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eval_tasks", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def stopped(*arguments: str, cwd: Path) -> str:
    ran = run(*arguments, cwd=cwd)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("stopped: ")
    return ran.stderr


def test_init_prints_commands_that_find_this_package(tmp_path: Path) -> None:
    ran = run("init", "new", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "new" / "dodo.py").is_file()
    printed = [line.strip() for line in ran.stdout.splitlines() if line.startswith("  ")]
    assert printed == ["cd new", *(f"{command.doit_command()} {step}" for step in ("register", "run_eval", "report"))]


def test_a_link_on_the_path_into_this_environment_is_called_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, linked = tmp_path / "environment", tmp_path / "linked"
    environment.mkdir()
    linked.mkdir()
    for name in ("python", "doit", "context-eval"):
        (environment / name).write_text("#!/bin/sh\n")
        (environment / name).chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(environment / "python"))
    monkeypatch.setenv("PATH", str(linked))
    assert command.doit_command() == str(environment / "doit")
    (linked / "context-eval").symlink_to(environment / "context-eval")
    assert command.doit_command() == "context-eval"
    (linked / "doit").symlink_to(environment / "doit")
    assert command.doit_command() == "doit"


def test_everything_else_is_doits_with_its_exit_status(tmp_path: Path) -> None:
    assert run("init", "new", cwd=tmp_path).returncode == 0
    listed = run("list", cwd=tmp_path / "new")
    assert listed.returncode == 0, listed.stderr
    assert "register" in listed.stdout
    assert run("run_eval", cwd=tmp_path / "new").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "context-eval --help"),
        (["init"], "DIR"),
        (["init", "new", "--colour"], "--colour"),
        (["init", "new", "--lib", "skills"], "--lib"),
        (["init", "new", "--agent", "abacus"], "codex"),
        (["init", "new", "--library", "nowhere"], "nowhere"),
        (["register"], "context-eval init DIR"),
    ],
)
def test_a_mistake_gets_one_line_and_writes_nothing(tmp_path: Path, arguments: list[str], words: str) -> None:
    assert words in stopped(*arguments, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_the_packages(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"{__version__}\n"


def test_help_names_every_option(tmp_path: Path) -> None:
    shown = run("init", "--help", cwd=tmp_path).stdout
    for option in ("DIR", "--library", "--agent", "--model"):
        assert option in shown
