"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.laboratory import Laboratory


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Any]:
    """Give a function that makes laboratories, and check at the end that none of them left anything running."""
    made: list[Laboratory] = []

    def make(**options: Any) -> Laboratory:
        made.append(Laboratory(tmp_path / f"p{len(made)}", **options))
        return made[-1]

    yield make
    for each in made:
        if (each.root / "experiments" / "current").exists():
            assert each.survivors() == []
        each.close()


SPREAD = (
    "test_agents",
    "test_end_to_end",
    "test_faults",
    "test_grading",
    "test_kills",
    "test_leaks",
    "test_logins",
)
"""Modules whose tests share no costly fixture; the others stay together on one worker."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a module on one worker where they share what it takes long to make."""
    for item in items:
        if item.path.stem not in SPREAD:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
