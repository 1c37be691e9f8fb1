from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from eval_tasks import library as library_module
from eval_tasks import origin
from eval_tasks.errors import FailureCode, TrialFailed
from eval_tasks.library import Library, Skill
from eval_tasks.paths import Project
from eval_tasks.selection import context

PROJECT = Path(__file__).resolve().parents[1]
PROMPT = "Mend the «list» endpoint.\n"


def library_of(**texts: str) -> Library:
    skills = {
        name.replace("_", "-"): Skill(name.replace("_", "-"), f"called-{name}", "Described.", text, text, {})
        for name, text in texts.items()
    }
    return Library(Path("/somewhere/private/skills"), skills)


def failure(library: Library, ids: list[str]) -> FailureCode:
    with pytest.raises(TrialFailed) as failed:
        context.block(library, ids)
    return failed.value.code


@pytest.fixture(scope="module")
def ecc() -> Library:
    source = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}
    return library_module.load(origin.locate(source, Project(PROJECT)))


def test_without_a_selection_the_prompt_is_kept_byte_for_byte() -> None:
    assert context.with_context(PROMPT, library_of(one="text"), ()) == PROMPT


def test_the_block_follows_the_prompt_and_holds_each_skill_whole_with_its_digest() -> None:
    library = library_of(one="First ünï\n", two="Second\n")
    text = context.with_context(PROMPT, library, ("two", "one"))
    assert text.startswith(PROMPT + "\n\n" + context.INTRODUCTION + "\n{")
    assert json.loads(text.removeprefix(PROMPT).split("\n", 3)[3]) == {
        "schemaVersion": "skill-context.v1",
        "selectedIds": ["two", "one"],
        "resources": [
            {"path": "two/SKILL.md", "digest": hashlib.sha256(b"Second\n").hexdigest(), "content": "Second\n"},
            {
                "path": "one/SKILL.md",
                "digest": hashlib.sha256("First ünï\n".encode()).hexdigest(),
                "content": "First ünï\n",
            },
        ],
    }


def test_the_block_is_one_line_names_no_place_of_this_machine_and_does_not_speak_of_an_evaluation() -> None:
    text = context.with_context("", library_of(one="a\nb\n"), ("one",))
    assert text.strip().count("\n") == 1
    assert "/somewhere" not in text
    assert "eval" not in text.lower()


def test_equal_selections_give_equal_bytes() -> None:
    first, second = (context.with_context(PROMPT, library_of(one="x", two="y"), ("one", "two")) for _ in range(2))
    assert first == second


def test_the_digest_is_that_of_the_file(ecc: Library) -> None:
    value = json.loads(context.block(ecc, ["api-design"]))
    assert value["resources"][0]["digest"] == ecc.skills["api-design"].files["SKILL.md"]


def test_the_bound_is_32_000_bytes_of_the_block() -> None:
    room = context.MAXIMUM_BYTES - len(context.block(library_of(one=""), ["one"]).encode())
    fitting = library_of(one="x" * room)
    assert len(context.block(fitting, ["one"]).encode()) == 32_000
    assert context.overflowing(fitting, ["one"]) is None
    for text in ("x" * (room + 1), "x" * (room - 1) + "\n", "x" * (room - 1) + "é"):
        assert failure(library_of(one=text), ["one"]) is FailureCode.CONTEXT_BUDGET


def test_the_bound_is_eight_skills() -> None:
    library = library_of(**{f"s{number}": "x" for number in range(9)})
    ids = list(library.skills)
    assert len(json.loads(context.block(library, ids[:8]))["resources"]) == 8
    assert failure(library, ids) is FailureCode.CONTEXT_BUDGET
    assert context.overflowing(library, ids) == "s8"


def test_the_id_that_bursts_the_bound_is_named(ecc: Library) -> None:
    assert context.overflowing(ecc, ["api-design", "quality-nonconformance", "seo"]) == "quality-nonconformance"
    assert context.overflowing(ecc, ["windows-desktop-e2e"]) == "windows-desktop-e2e"
    assert context.overflowing(ecc, []) is None


def test_every_other_skill_of_the_pinned_package_fits_alone(ecc: Library) -> None:
    assert [name for name in ecc.skills if context.overflowing(ecc, [name])] == ["windows-desktop-e2e"]


def test_an_id_that_the_library_has_not_fails_with_its_code() -> None:
    assert failure(library_of(one="x"), ["one", "gone"]) is FailureCode.UNKNOWN_ID
    with pytest.raises(TrialFailed, match="unknown-id"):
        context.overflowing(library_of(one="x"), ["gone"])


@pytest.mark.parametrize("word", ["$one", "$called-one", "$two-parts"])
def test_a_call_for_a_skill_in_a_skills_text_is_written_as_an_escape(word: str) -> None:
    text = f"Use {word}, then.\n"
    block = context.block(library_of(one=text, two_parts="y"), ["one"])
    assert word not in block
    assert json.loads(block)["resources"][0]["content"] == text


@pytest.mark.parametrize("word", ["$PATH", "$one-more", "$ones", "$", "$$", "\\$x"])
def test_other_dollar_signs_stay_as_they_are(word: str) -> None:
    block = context.block(library_of(one=f"Echo {word} now\n"), ["one"])
    assert "u0024" not in block
    assert json.loads(block)["resources"][0]["content"] == f"Echo {word} now\n"
