from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from eval_tasks import library
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.library import Library
from eval_tasks.selection.proposal import Candidate
from eval_tasks.selection.resolver import Task
from eval_tasks.trials import choice
from eval_tasks.trials.choice import Choice

SKILLS = {
    "bread-baking": "description: Kneading dough, proving sourdough loaves, ovens that rise to heat.",
    "cake-decorating": "description: Icing, sugar flowers and tiers for parties.",
    "deploy-now": "description: Deploys the dough factory.\ndisable-model-invocation: true",
    "oven-control": "description: Heat curves and thermostats of ovens.",
    "shell-tools": "description: Tools of the shell.\ntools: Bash",
}
VAGUE = "Use oven-control or bread-baking."
"""Names two skills, which is a shortlist whatever the thresholds of the ranking are."""


@pytest.fixture
def shelf(tmp_path: Path) -> Library:
    """Give a library of real skill folders."""
    for name, matter in SKILLS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(f"---\nname: {name}\n{matter}\n---\n\n# {name}\n", "utf-8")
    return library.load(tmp_path)


def never(_: Sequence[Candidate]) -> tuple[str, ...]:
    raise AssertionError("a proposal was asked for")


def answering(*ids: str) -> Callable[[Sequence[Candidate]], tuple[str, ...]]:
    return lambda candidates: ids


def failing(error: Exception) -> Callable[[Sequence[Candidate]], tuple[str, ...]]:
    def propose(_: Sequence[Candidate]) -> tuple[str, ...]:
        raise error

    return propose


def test_manual_lean_is_given_the_preregistered_skill_or_nothing(shelf: Library) -> None:
    assert choice.preregistered("bread-baking", shelf) == Choice(("bread-baking",), "explicit")
    assert choice.preregistered(None, shelf) == Choice((), "none")


@pytest.mark.parametrize(
    ("skill", "code"),
    [
        ("nowhere", FailureCode.UNKNOWN_ID),
        ("deploy-now", FailureCode.MANUAL_ONLY),
        ("shell-tools", FailureCode.NATIVE_AUTHORITY),
    ],
)
def test_manual_lean_and_auto_lean_are_under_the_same_policy(shelf: Library, skill: str, code: FailureCode) -> None:
    blocked = Choice((), "blocked", code)
    assert choice.preregistered(skill, shelf) == blocked
    assert choice.select(Task("t", VAGUE, (skill,)), (), shelf, never) == blocked


def test_what_the_caller_asks_for_is_delivered_without_a_proposal(shelf: Library) -> None:
    found = choice.select(Task("t", VAGUE, ("oven-control",)), (), shelf, never)
    assert found == Choice(("oven-control",), "explicit")
    assert choice.select(Task("t", VAGUE, ("oven-control",)), ("oven-control",), shelf, never) == Choice(
        (), "blocked", FailureCode.EXCLUDED
    )


def test_a_cited_skill_is_the_resolvers_own_choice(shelf: Library) -> None:
    found = choice.select(Task("t", "Use the skill cake-decorating here."), (), shelf, never)
    assert found == Choice(("cake-decorating",), "resolver")


@pytest.mark.parametrize("task", [Task("t", "What is two and two?"), Task("t", VAGUE, no_workflow=True)])
def test_nothing_that_fits_is_nothing_selected_and_no_proposal(shelf: Library, task: Task) -> None:
    assert choice.select(task, (), shelf, never) == choice.NOTHING == Choice((), "none")


def test_a_shortlist_asks_once_and_the_answer_is_the_choice(shelf: Library) -> None:
    asked: list[list[str]] = []

    def propose(candidates: Sequence[Candidate]) -> tuple[str, ...]:
        asked.append([candidate.id for candidate in candidates])
        return (candidates[-1].id,)

    found = choice.select(Task("t", VAGUE), (), shelf, propose)
    assert len(asked) == 1
    assert asked[0][:2] == ["oven-control", "bread-baking"]
    assert found == Choice((asked[0][-1],), "proposal", shortlist=tuple(asked[0]))


def test_a_proposal_of_nothing_is_nothing_selected_by_a_proposal(shelf: Library) -> None:
    found = choice.select(Task("t", VAGUE), (), shelf, answering())
    assert (found.ids, found.way, found.failure) == ((), "proposal", None)
    assert found.shortlist


@pytest.mark.parametrize(
    "failed",
    [
        TrialFailed(FailureCode.PROPOSAL_INVALID),
        TrialFailed(FailureCode.PROPOSAL_INVALID, "proposal"),
        TrialFailed(FailureCode.RATE_LIMITED),
        TrialFailed(FailureCode.CALL_BUDGET, "calls"),
    ],
)
def test_a_proposal_that_fails_delivers_nothing_and_keeps_its_code_limit_and_shortlist(
    shelf: Library, failed: TrialFailed
) -> None:
    found = choice.select(Task("t", VAGUE), (), shelf, failing(failed))
    assert (found.ids, found.way, found.failure, found.limit) == ((), "proposal", failed.code, failed.limit)
    assert found.shortlist[:2] == ("oven-control", "bread-baking")


@pytest.mark.parametrize("error", [ExperimentStopped("mend it"), RuntimeError("a fault")])
def test_a_stop_or_a_fault_in_a_proposal_is_no_outcome(shelf: Library, error: Exception) -> None:
    with pytest.raises(type(error)):
        choice.select(Task("t", VAGUE), (), shelf, failing(error))
