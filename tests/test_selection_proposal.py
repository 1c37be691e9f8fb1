from __future__ import annotations

import contextlib
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_tasks.errors import FailureCode, TrialFailed
from eval_tasks.library import Library, Skill
from eval_tasks.selection import proposal
from eval_tasks.selection.proposal import Candidate

SHORTLIST = (Candidate("api-design", "REST endpoints."), Candidate("seo", "Search engines."))
LIBRARY = Library(
    Path("/home/somebody/private/skills"),
    {item.id: Skill(item.id, item.id, item.description, "t", "t", {}) for item in SHORTLIST},
)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ('{"selectedIds": []}', ()),
        ('{"selectedIds": ["seo"]}', ("seo",)),
        (' {"selectedIds":\n["api-design"]}\n', ("api-design",)),
        ('{"selectedIds": ["\\u0073eo"]}', ("seo",)),
    ],
)
def test_none_or_one_shortlisted_id_is_accepted(text: str, chosen: tuple[str, ...]) -> None:
    assert proposal.parse(text, SHORTLIST) == chosen
    jsonschema.validate(json.loads(text), proposal.answer_schema(SHORTLIST))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"seo"',
        "{}",
        '["seo"]',
        '{"selectedIds": "seo"}',
        '{"selectedIds": null}',
        '{"selectedIds": [null]}',
        '{"selectedIds": [["seo"]]}',
        '{"selectedIds": [{"id": "seo"}]}',
        '{"selectedIds": [1]}',
        '{"selectedIds": [NaN]}',
        '{"selectedIds": NaN}',
        '{"selectedIds": [], "x": Infinity}',
        '{"selectedIds": ["seo", "seo"]}',
        '{"selectedIds": ["seo", "api-design"]}',
        '{"selectedIds": ["SEO"]}',
        '{"selectedIds": ["seo "]}',
        '{"selectedIds": ["tdd-workflow"]}',
        '{"selectedIds": ["\\ud800"]}',
        '{"selectedIds": ["seo"], "reason": "fits"}',
        '{"selectedIds": ["seo"], "selectedIds": []}',
        '{"SelectedIds": ["seo"]}',
        '{"selectedIds": ["seo"]} Done.',
        'Sure: {"selectedIds": ["seo"]}',
        '```json\n{"selectedIds": ["seo"]}\n```',
        '{"selectedIds": ["seo"]}{"selectedIds": []}',
        "{'selectedIds': ['seo']}",
        '{"selectedIds": ["seo"],}',
        '\ufeff{"selectedIds": ["seo"]}',
        '{"selectedIds": ["seo"]',
        "[" * 50_000,
        '{"selectedIds": [' + "9" * 5_000 + "]}",
        '{"selectedIds": ["seo"]}' + " " * 65_536,
        "\ud800",
    ],
)
def test_anything_else_is_an_invalid_proposal(text: str) -> None:
    with pytest.raises(TrialFailed) as failed:
        proposal.parse(text, SHORTLIST)
    assert failed.value.code is FailureCode.PROPOSAL_INVALID


def test_the_bound_counts_bytes_and_includes_its_last_byte() -> None:
    answer = '{"selectedIds": ["seo"]}'
    assert proposal.parse(answer.ljust(65_536), SHORTLIST) == ("seo",)
    with pytest.raises(TrialFailed):
        proposal.parse(answer.ljust(65_537), SHORTLIST)
    with pytest.raises(TrialFailed):
        proposal.parse("é" * 33_000, SHORTLIST)


SCALARS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_no_answer_selects_anything_but_a_candidate(value: object) -> None:
    for text in (json.dumps(value), json.dumps({"selectedIds": value})):
        with contextlib.suppress(TrialFailed):
            assert proposal.parse(text, SHORTLIST) in {(), ("seo",), ("api-design",)}


def test_the_question_holds_the_task_and_the_candidates_as_one_json_object() -> None:
    text = proposal.question('Say "hello"\nto all.', SHORTLIST, LIBRARY)
    value = json.loads(text[text.index('{"candidates"') :])
    assert value["task"] == 'Say "hello"\nto all.'
    assert value["candidates"] == [
        {"id": "api-design", "description": "REST endpoints."},
        {"id": "seo", "description": "Search engines."},
    ]
    assert '{"selectedIds": []}' in text


def test_the_question_names_no_place_and_calls_for_no_skill() -> None:
    candidates = (Candidate("seo", "Replaces $api-design."),)
    text = proposal.question("Run $seo and $HOME.", candidates, LIBRARY)
    assert "/home/somebody" not in text
    assert "$seo" not in text
    assert "$api-design" not in text
    assert "$HOME" in text
    assert json.loads(text[text.index('{"candidates"') :])["task"] == "Run $seo and $HOME."


def test_a_description_is_cut_to_what_the_specification_allows() -> None:
    text = proposal.question("Task.", (Candidate("seo", "x" * 5_000),), LIBRARY)
    assert "x" * 1_024 in text
    assert "x" * 1_025 not in text


def test_the_answers_schema_allows_exactly_what_is_accepted() -> None:
    schema = proposal.answer_schema(SHORTLIST)
    jsonschema.Draft202012Validator.check_schema(schema)
    for refused in ({}, {"selectedIds": ["x"]}, {"selectedIds": ["seo", "seo"]}, {"selectedIds": [], "why": ""}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(refused, schema)
