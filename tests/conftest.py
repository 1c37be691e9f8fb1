"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

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


class BySharedFixtures(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a module to one worker whole, except where its tests share nothing that takes long to make."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::")[0]
        return nodeid if Path(module).stem in SPREAD else module


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> BySharedFixtures:
    """Choose how the workers get their tests; xdist's own groups have no effect with this pytest."""
    return BySharedFixtures(config, log)
