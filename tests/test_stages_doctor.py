"""`doit doctor` on the real parts: what it says where all is well, and where something is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.authority import Authority
from tests.chaos import namespaces, places
from tests.laboratory import Laboratory

pytestmark = pytest.mark.agent

LINES = (
    *("Python", "clock", "settings and corpus", "agent", "credential", "limits", "free disk", "graders' Node"),
    *("install full", "install lean", "isolation", "agent writes a file"),
)


def small(laboratory: Callable[..., Laboratory]) -> Laboratory:
    lab = laboratory(cases=[places.silent_case()], probes=[places.silent_probe()])
    lab.settings(library=places.give_small_library(lab.root))
    return lab


def table(said: str) -> Mapping[str, tuple[str, str]]:
    """Return state and text of each line by its name."""
    rows = {
        line[5:27].strip(): (line[:4].strip(), line[28:]) for line in said.splitlines() if line[:4] in ("ok  ", "FIX ")
    }
    assert tuple(rows) == LINES
    return rows


def test_a_fit_machine_is_ok_in_every_line_and_no_login_is_touched(
    laboratory: Callable[..., Laboratory], tmp_path: Path
) -> None:
    lab = small(laboratory)
    home = tmp_path / "login"
    home.mkdir(mode=0o700)
    login = home / "auth.json"
    login.write_bytes(Authority().sign_in())
    login.chmod(0o600)
    lab.ok("register", "--backend", "codex", "--accept-shortfall", "--auth-home", str(home))
    before = login.stat()
    rows = table(lab.ok("doctor"))
    assert {state for state, _ in rows.values()} == {"ok"}
    assert rows["agent"][1].startswith("codex 0.155.1, native binary ")
    assert rows["install full"][1].startswith("3 skills, 3 listed, 0 shortened, 0 dropped, ")
    assert rows["isolation"][1] == "sealed attainable, sealed asked for"
    assert rows["limits"][1].startswith("at most 7 calls of 300, about 7 of 60 min")
    assert "a right answer passes, a wrong one is found out" in rows["graders' Node"][1]
    # No lease, no lock, no call.
    assert os.listdir(home) == ["auth.json"]
    assert (login.stat().st_ino, login.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert lab.paid() == []
    assert not lab.work.exists()


def test_a_machine_without_namespaces_is_told_what_to_do(laboratory: Callable[..., Laboratory]) -> None:
    lab = small(laboratory)
    ran = lab.run(namespaces.__file__, str(namespaces.FEW), sys.executable, "-m", "doit", "doctor")
    assert ran.returncode == 1
    rows = table(ran.stderr)
    assert rows["isolation"][0] == rows["agent writes a file"][0] == "FIX"
    assert "allow unprivileged user namespaces" in rows["isolation"][1]
    assert "Traceback" not in ran.stderr


def test_what_is_wrong_with_the_settings_is_one_line_of_the_table(laboratory: Callable[..., Laboratory]) -> None:
    lab = small(laboratory)
    lab.settings(repeats=0)
    said = lab.stopped("doctor")
    assert said.startswith("1 of 3 checks want mending\n")
    assert "FIX  settings               eval.yaml" in said
