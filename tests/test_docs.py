"""What the documents say about files, keys and commands is true."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from eval_tasks import __version__, intervals, options, records
from tests.laboratory import REPOSITORY

DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")])
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
_LINK = re.compile(r"\]\(([^)#]*)(#[^)]*)?\)")
_COMMAND = re.compile(r"(?:^|`|^ +|bin/)doit ([a-z_]+)((?: --[a-z-]+)*)", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    links = [(match[1], match[2]) for match in _LINK.finditer(document.read_text("utf-8")) if ":" not in match[1]]
    lost = [link for link, _ in links if not (document.parent / link).exists()]
    lost += [f"{link}{anchor}" for link, anchor in links if anchor and anchor[1:] not in anchors(document, link)]
    assert lost == []


def anchors(document: Path, link: str) -> set[str]:
    """Return the anchors of a linked document's headings, as GitHub and MkDocs make them."""
    text = (document.parent / link if link else document).read_text("utf-8")
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", [*DOCUMENTS, *WORKFLOWS], ids=lambda path: path.name)
def test_every_command_exists_with_its_options(document: Path) -> None:
    tasks = set(
        re.findall(r"^def task_([a-z_]+)", (REPOSITORY / "eval_tasks" / "tasks.py").read_text("utf-8"), re.MULTILINE)
    )
    known = {name: {f"--{option['long']}" for option in found} for name, found in options.COMMANDS.items()}
    known["tabcompletion"] = {"--shell"}
    for command, given in _COMMAND.findall(document.read_text("utf-8")):
        assert command in tasks | {"list", "help", "tabcompletion"}, f"doit {command}"
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
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    places = [REPOSITORY / name for name in listed.split("\0") if name and name != "tests/test_docs.py"]
    host = re.compile(rb'"resolved"|--(extra-)?index-url +\S*:|https?://[a-z.]*(registry\.|pypi|pythonhosted)')
    texts = [place for place in places if place.is_file()]
    assert len(texts) > 1000
    assert [place for place in texts if host.search(place.read_bytes())] == []


@pytest.mark.parametrize(("losses", "wins", "ties"), [(3, 1, 26), (6, 5, 289)])
def test_the_examples_of_the_statistics_are_computed(losses: int, wins: int, ties: int) -> None:
    differences = [-1.0] * losses + [1.0] * wins + [0.0] * ties
    count = len(differences)
    shown = [f"{count} cases", str(losses), str(wins), str(ties), points(sum(differences) / count)]
    for method in (intervals.hoeffding, intervals.optimized_betting):
        interval = method(differences, 0.0125)
        shown.append(f"{points(interval.low)} to {points(interval.high)}")
    assert f"| {' | '.join(shown)} |" in (REPOSITORY / "docs" / "statistics.md").read_text("utf-8")


def points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "\u2212")


def test_the_site_shows_every_document_once() -> None:
    nav = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text("utf-8"))["nav"]
    shown = [page for part in nav for pages in part.values() for page in pages]
    assert sorted(shown) == sorted(path.name for path in (REPOSITORY / "docs").glob("*.md"))
    index = (REPOSITORY / "docs" / "index.md").read_text("utf-8")
    assert [page for page in shown if page != "index.md" and f"]({page})" not in index] == []


def test_no_page_of_the_site_links_outside_it() -> None:
    pages = {path.name: path.read_text("utf-8") for path in (REPOSITORY / "docs").glob("*.md")}
    links = [(name, match[1]) for name, text in pages.items() for match in _LINK.finditer(text)]
    assert [(name, link) for name, link in links if link.startswith("..")] == []


def test_only_the_workflow_that_a_person_starts_may_pay() -> None:
    paying = [path.name for path in WORKFLOWS if "--allow-real-provider" in path.read_text("utf-8")]
    assert paying == ["evaluate.yml"]
    workflows = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOWS}
    # YAML 1.1 reads the key `on` as true.
    assert list(workflows["evaluate.yml"][True]) == ["workflow_dispatch"]
    assert "pull_request" in workflows["rehearsal.yml"][True]
    assert "secrets." not in (REPOSITORY / ".github" / "workflows" / "rehearsal.yml").read_text("utf-8")
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in workflows.values())


def test_no_input_of_a_workflow_becomes_text_of_a_command() -> None:
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            assert [step["run"] for step in job["steps"] if "${{" in step.get("run", "")] == []


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
