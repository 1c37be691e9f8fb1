"""What the documents say about files, keys and commands is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval_tasks import options, records
from tests.laboratory import REPOSITORY

DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")])
_LINK = re.compile(r"\]\(([^)#]+)(#[^)]*)?\)")
_COMMAND = re.compile(r"(?:^|`|^ +|bin/)doit ([a-z_]+)((?: --[a-z-]+)*)", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    links = [match[1] for match in _LINK.finditer(document.read_text("utf-8"))]
    assert [link for link in links if ":" not in link and not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_exists_with_its_options(document: Path) -> None:
    tasks = set(
        re.findall(r"^def task_([a-z_]+)", (REPOSITORY / "eval_tasks" / "tasks.py").read_text("utf-8"), re.MULTILINE)
    )
    known = {name: {f"--{option['long']}" for option in found} for name, found in options.COMMANDS.items()}
    for command, given in _COMMAND.findall(document.read_text("utf-8")):
        assert command in tasks | {"list", "help"}, f"doit {command}"
        assert set(given.split()) <= known.get(command, set()), f"doit {command}{given}"


def test_every_setting_is_documented() -> None:
    text = (REPOSITORY / "docs" / "settings.md").read_text("utf-8")
    schema = records.schema("experiment")["properties"]
    names = [
        *schema,
        *schema["limits"]["properties"],
        *schema["agent"]["properties"],
        *schema["analysis"]["properties"],
    ]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_departure_names_a_test_or_file_that_exists() -> None:
    text = (REPOSITORY / "docs" / "departures.md").read_text("utf-8")
    places = re.findall(r"`((?:tests|benchmarks|corpus)/[^`]+)`", text)
    assert len(places) >= 12
    assert [place for place in places if not (REPOSITORY / place).exists()] == []


def test_no_committed_file_names_a_package_registry() -> None:
    for name in ("requirements.lock", "toolchain/package-lock.json", "pyproject.toml", "Makefile", "README.md"):
        text = (REPOSITORY / name).read_text("utf-8")
        assert (
            re.search(r'"resolved"|--(extra-)?index-url +\S*:|https?://[a-z.]*(registry\.|pypi|pythonhosted)', text)
            is None
        ), name
