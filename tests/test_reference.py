"""The reference page: current, whole, and with a sentence for every key that people write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from eval_tasks import records, reference
from eval_tasks.paths import SCHEMAS
from tests.laboratory import REPOSITORY

NAMES = sorted(path.name.removesuffix(records.SUFFIX) for path in SCHEMAS.glob("*.json"))


def test_the_page_is_current() -> None:
    page = (REPOSITORY / "docs" / "reference.md").read_text("utf-8")
    assert page == reference.page(), "run python -m eval_tasks.reference > docs/reference.md"


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_published_under_its_versioned_id(name: str) -> None:
    published = json.loads((REPOSITORY / "docs" / "schemas" / f"{name}.schema.json").read_bytes())
    assert published == records.schema(name)
    assert re.fullmatch(rf"context-eval\.{name}\.v[0-9]+", published["$id"])
    assert published["description"].endswith(".")


@pytest.mark.parametrize("name", reference.WRITTEN)
def test_every_key_that_people_write_has_a_sentence(name: str) -> None:
    found = reference.rows(records.schema(name), name)
    assert found
    assert [key for key, _, _, words in found if not words.endswith(".")] == []


def keys(node: object) -> set[str]:
    """Return every key of every `properties` of a schema."""
    if isinstance(node, dict):
        own = set(node["properties"]) if isinstance(node.get("properties"), dict) else set()
        return own.union(*(keys(value) for value in node.values()))
    return set().union(*(keys(value) for value in node)) if isinstance(node, list) else set()


@pytest.mark.parametrize("name", NAMES)
def test_no_key_of_any_schema_is_missing(name: str) -> None:
    section = reference.page().split(f"### {name}\n", 1)[1].split("\n### ", 1)[0]
    shown = {
        part.strip("[]") for place in re.findall(r"^\| `([^`]+)`", section, re.MULTILINE) for part in place.split(".")
    }
    assert keys(records.schema(name)) - shown == set()


def test_every_link_of_the_page_leads_to_a_heading_or_a_schema() -> None:
    page = reference.page()
    anchors = {reference._anchor(line.lstrip("# ")) for line in page.splitlines() if line.startswith("#")}
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert any(link.startswith("#") for link in links)
    for link in links:
        assert link[1:] in anchors if link.startswith("#") else Path(REPOSITORY, "docs", link).exists(), link


def test_a_value_is_told_with_its_bounds() -> None:
    schema = {
        "type": "array",
        "items": {"type": "integer", "minimum": 1, "maximum": 9},
        "minItems": 2,
        "uniqueItems": True,
    }
    assert reference._kind(schema, "x") == "list of (integer, from 1, at most 9), 2 or more entries, no entry twice"
    either = {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}
    assert reference._kind(either, "x") == 'one of `"a"`, `"b"` or null'


def test_optional_keys_and_free_keys_are_told_apart() -> None:
    schema = {
        "properties": {
            "a": {"type": "string", "description": "One."},
            "b": {"additionalProperties": {"type": "integer"}},
        },
        "required": ["a"],
    }
    assert reference.rows(schema, "x") == [
        ("a", "string", "", "One."),
        ("b", "any value", "yes", ""),
        ("b.*", "integer", "", ""),
    ]
