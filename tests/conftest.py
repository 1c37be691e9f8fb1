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
