from __future__ import annotations

from pathlib import Path

import pytest

from eval_tasks.errors import FailureCode
from eval_tasks.library import Library, Skill
from eval_tasks.selection import policy


def skill(skill_id: str, manual_only: bool = False, native_authority: tuple[str, ...] = ()) -> Skill:
    return Skill(skill_id, skill_id, "Described.", "text", "text", {}, manual_only, native_authority)


@pytest.fixture
def library() -> Library:
    skills = [
        skill("both", manual_only=True, native_authority=("tools",)),
        skill("by-hand", manual_only=True),
        skill("granted", native_authority=("hooks",)),
        skill("live", native_authority=("live-command",)),
        skill("plain"),
    ]
    return Library(Path("skills"), {item.id: item for item in skills})


@pytest.mark.parametrize(
    ("skill_id", "exclude", "code"),
    [
        ("plain", (), None),
        ("plain", ("other",), None),
        ("plain", ("plain",), FailureCode.EXCLUDED),
        ("missing", (), FailureCode.UNKNOWN_ID),
        ("missing", ("missing",), FailureCode.EXCLUDED),
        ("by-hand", (), FailureCode.MANUAL_ONLY),
        ("both", (), FailureCode.MANUAL_ONLY),
        ("both", ("both",), FailureCode.EXCLUDED),
        ("granted", (), FailureCode.NATIVE_AUTHORITY),
        ("live", (), FailureCode.NATIVE_AUTHORITY),
    ],
)
def test_the_first_rule_that_applies_gives_the_code(
    library: Library, skill_id: str, exclude: tuple[str, ...], code: FailureCode | None
) -> None:
    assert policy.refusal(skill_id, exclude, library) is code


def test_only_what_may_be_delivered_is_a_candidate(library: Library) -> None:
    assert [item.id for item in policy.candidates((), library)] == ["plain"]
    assert policy.candidates(("plain",), library) == []
