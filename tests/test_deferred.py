"""Putting an import off: nothing runs before it is used, and what runs is the module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAM = """if True:
    import sys
    from eval_tasks import deferred

    with deferred.below("parcel"):
        from parcel import far, near
        import beside
    print("imported")
    {use}
    print(sorted(name for name in sys.modules if name in ("parcel.deep",)))
"""


@pytest.fixture
def parcel(tmp_path: Path) -> Path:
    (tmp_path / "parcel").mkdir()
    (tmp_path / "parcel" / "__init__.py").write_text("")
    (tmp_path / "parcel" / "near.py").write_text("print('near runs')\nVALUE = 1\n")
    (tmp_path / "parcel" / "far.py").write_text("print('far runs')\nfrom parcel import deep\nVALUE = deep.VALUE\n")
    (tmp_path / "parcel" / "deep.py").write_text("print('deep runs')\nVALUE = 2\n")
    (tmp_path / "beside.py").write_text("print('beside runs')\n")
    return tmp_path


def printed(folder: Path, use: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM.format(use=use)],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{REPOSITORY}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return ran.stdout.splitlines()


def test_a_module_below_the_package_runs_only_when_it_is_used_and_others_run_at_once(parcel: Path) -> None:
    assert printed(parcel, "pass") == ["beside runs", "imported", "[]"]
    assert printed(parcel, "print(far.VALUE)") == [
        "beside runs",
        "imported",
        "far runs",
        "deep runs",
        "2",
        "['parcel.deep']",
    ]


def test_loading_runs_everything_that_was_put_off_once(parcel: Path) -> None:
    lines = printed(parcel, "deferred.load('parcel'); deferred.load('parcel'); print(near.VALUE)")
    assert lines[:2] == ["beside runs", "imported"]
    assert sorted(lines[2:-2]) == ["deep runs", "far runs", "near runs"]
    assert lines[-2:] == ["1", "['parcel.deep']"]
