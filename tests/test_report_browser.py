"""The page in a real browser: silent, self-contained, accessible, and usable at 360 pixels.

Runs where Chromium and the two npm packages are installed (`playwright-core` and `axe-core`, looked for in
`toolchain/node_modules` and in the folder that `REPORT_BROWSER_MODULES` names).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eval_tasks.stages.analyze import analyze
from eval_tasks.stages.report import report
from tests.synthetic_records import make, mixed_fate

TESTS = Path(__file__).parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MODULES = next(
    (
        folder
        for folder in (os.environ.get("REPORT_BROWSER_MODULES"), str(TESTS.parent / "toolchain" / "node_modules"))
        if folder and all((Path(folder) / name).is_dir() for name in ("playwright-core", "axe-core"))
    ),
    None,
)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or MODULES is None, reason="needs Chromium, playwright-core and axe-core"
)


@pytest.fixture(scope="module", params=["live", "rehearsal"])
def looks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    made = make(cases=31, repeats=2, evidence=request.param, fate=mixed_fate, probe_passes=lambda index: index % 3 > 0)
    metrics = analyze(*made.arguments(), analysis_sources=made.sources)
    page = tmp_path_factory.mktemp("report") / "report.html"
    page.write_bytes(report(metrics)["report.html"])
    command = ["node", str(TESTS / "browser_look.cjs"), str(MODULES), str(CHROMIUM), page.as_uri()]
    found = subprocess.run(command, capture_output=True, check=True, timeout=240, text=True).stdout
    looked: list[dict[str, Any]] = json.loads(found)
    assert [(look["width"], look["colorScheme"]) for look in looked] == [
        (1280, "light"),
        (1280, "dark"),
        (360, "light"),
        (360, "dark"),
    ]
    return looked


def test_the_page_is_silent_and_asks_for_nothing_else(looks: list[dict[str, Any]]) -> None:
    for look in looks:
        assert look["console"] == []
        assert [url.rsplit("/", 1)[1] for url in look["requests"]] == ["report.html"]


def test_axe_finds_no_violation(looks: list[dict[str, Any]]) -> None:
    for look in looks:
        assert look["violations"] == []
        assert look["rules"] > 20


def test_nothing_overflows_sideways(looks: list[dict[str, Any]]) -> None:
    assert [look["overflow"] for look in looks] == [0, 0, 0, 0]


def test_the_filters_of_the_matrix_work(looks: list[dict[str, Any]]) -> None:
    for look in looks:
        assert look["rows"] == 31
        assert 0 < look["differing"] < 31
        assert look["none"] == 0
        assert look["said"] == "0 of 31 shown"
