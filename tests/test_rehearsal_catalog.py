"""The pinned catalog decides how much of a full library the real agent lists."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator

import pytest

from eval_tasks.errors import ExperimentStopped
from eval_tasks.rehearsal.catalog import pinned_catalog
from tests.bare_codex import CODE_MODE_MODEL, MODEL, MODULES, VERSIONS, Bare, opened

pytestmark = pytest.mark.agent


@pytest.fixture(scope="module", params=VERSIONS)
def codex(request: pytest.FixtureRequest) -> Iterator[Bare]:
    with opened(request.param) as bare:
        yield bare


def test_only_the_models_window_changes_and_the_bytes_are_reproducible(codex: Bare) -> None:
    bundled = codex.ask("debug", "models", "--bundled")
    pinned = pinned_catalog(bundled, MODEL, 1_000_000)
    before, after = ({entry["slug"]: entry for entry in json.loads(text)["models"]} for text in (bundled, pinned))

    assert pinned == pinned_catalog(codex.ask("debug", "models", "--bundled"), MODEL, 1_000_000)
    assert before.keys() == after.keys()
    assert {slug for slug in before if before[slug] != after[slug]} == {MODEL}
    changed = {key for key in before[MODEL] if before[MODEL][key] != after[MODEL][key]}
    assert changed == {"context_window", "max_context_window"}


def test_a_full_library_is_cut_at_the_default_window_and_whole_in_a_large_one(codex: Bare) -> None:
    codex.home.mkdir(exist_ok=True)
    shutil.copytree(MODULES / "ecc-universal" / "skills", codex.home / "skills")
    bundled = codex.ask("debug", "models", "--bundled")

    def longest_entry(*window: int) -> int:
        catalog = codex.root / "models.json"
        catalog.write_bytes(pinned_catalog(bundled, MODEL, *window))
        settings = ("-c", f'model_catalog_json="{catalog}"', "-c", f'model="{MODEL}"')
        shown = json.loads(codex.ask("debug", "prompt-input", *settings, "x"))
        text = "".join(part["text"] for message in shown for part in message["content"])
        return max(len(line) for line in re.findall(r"(?m)^- .*\(file: r\d+/.*\)$", text))

    assert longest_entry() < 200
    assert longest_entry(1_000_000) > 700


def test_a_model_that_the_agent_lacks_is_refused_with_those_it_has(codex: Bare) -> None:
    with pytest.raises(ExperimentStopped, match=rf"`gpt-none` .*{CODE_MODE_MODEL}.*{MODEL}"):
        pinned_catalog(codex.ask("debug", "models", "--bundled"), "gpt-none")
