from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eval_tasks import library as library_module
from eval_tasks import origin
from eval_tasks.errors import FailureCode
from eval_tasks.library import Library, Skill
from eval_tasks.paths import Project
from eval_tasks.selection import ranking, resolver
from eval_tasks.selection.resolver import Blocked, Reason, Selected, Shortlist, Task, Thresholds, resolve

PROJECT = Path(__file__).resolve().parents[1]
BREAD = "My dough will not rise: how long must sourdough loaves prove?"


def skill(skill_id: str, description: str, text: str = "", **flags: object) -> Skill:
    return Skill(skill_id, skill_id, description, text, text, {"SKILL.md": skill_id + description + text}, **flags)  # type: ignore[arg-type]


LIBRARY = Library(
    Path("skills"),
    {
        item.id: item
        for item in (
            skill("bread-baking", "Kneading dough, proving sourdough loaves, ovens that rise to heat."),
            skill("cake-decorating", "Icing, sugar flowers and tiers for parties."),
            skill("deploy-now", "Deploys the dough factory.", manual_only=True),
            skill("huge-handbook", "Everything on sourdough dough loaves prove rise.", "sourdough " * 4_000),
            skill("oven-control", "Heat curves and thermostats of ovens.", "x" * 20_000),
            skill("pastry-lamination", "Folding butter into pastry dough.", "y" * 20_000),
            skill("shell-tools", "Sourdough tools.", native_authority=("tools",)),
        )
    },
)


def ask(prompt: str, *explicit: str, exclude: tuple[str, ...] = (), off: bool = False) -> resolver.Resolution:
    return resolve(Task("t", prompt, explicit, off), exclude, LIBRARY)


def shortlist(resolution: resolver.Resolution) -> list[str]:
    assert isinstance(resolution, Shortlist)
    return [candidate.id for candidate in resolution.candidates]


def test_ids_of_the_caller_win_over_a_name_in_the_prompt_and_keep_their_order() -> None:
    expected = Selected(("cake-decorating", "bread-baking"), Reason.EXPLICIT)
    assert ask("Use oven-control.", "cake-decorating", "bread-baking", "cake-decorating") == expected


@pytest.mark.parametrize(
    ("explicit", "exclude", "blocked"),
    [
        (("bread-baking", "gone"), (), Blocked(FailureCode.UNKNOWN_ID, "gone")),
        (("bread-baking",), ("bread-baking",), Blocked(FailureCode.EXCLUDED, "bread-baking")),
        (("deploy-now",), (), Blocked(FailureCode.MANUAL_ONLY, "deploy-now")),
        (("shell-tools",), (), Blocked(FailureCode.NATIVE_AUTHORITY, "shell-tools")),
        (("huge-handbook",), (), Blocked(FailureCode.CONTEXT_BUDGET, "huge-handbook")),
        (("oven-control", "pastry-lamination"), (), Blocked(FailureCode.CONTEXT_BUDGET, "pastry-lamination")),
        (("shell-tools", "gone"), (), Blocked(FailureCode.NATIVE_AUTHORITY, "shell-tools")),
    ],
)
def test_one_refused_id_blocks_the_whole_request(
    explicit: tuple[str, ...], exclude: tuple[str, ...], blocked: Blocked
) -> None:
    assert ask("Bake.", *explicit, exclude=exclude) == blocked


def test_an_opt_out_selects_nothing_whatever_the_prompt_says() -> None:
    assert ask("Use bread-baking.", off=True) == Selected((), Reason.OPT_OUT)
    assert ask(BREAD, off=True) == Selected((), Reason.OPT_OUT)


def test_an_opt_out_contradicts_ids_of_the_caller_even_unknown_ones() -> None:
    assert ask("Bake.", "gone", off=True) == Blocked(FailureCode.OPT_OUT_CONFLICT, "gone")


def test_the_one_cited_skill_is_selected_however_it_ranks() -> None:
    assert ask(f"{BREAD} Use cake-decorating.") == Selected(("cake-decorating",), Reason.CITED)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("deploy-now", FailureCode.MANUAL_ONLY),
        ("shell-tools", FailureCode.NATIVE_AUTHORITY),
        ("huge-handbook", FailureCode.CONTEXT_BUDGET),
    ],
)
def test_a_cited_skill_that_may_not_be_delivered_is_reported(name: str, code: FailureCode) -> None:
    assert ask(f"Use {name}.") == Blocked(code, name)
    assert ask(f"Use {name}.", exclude=(name,)) == Blocked(FailureCode.EXCLUDED, name)


def test_several_cited_skills_are_the_shortlist_without_those_that_may_not_be_delivered() -> None:
    assert shortlist(ask("Use oven-control or bread-baking or shell-tools.")) == ["oven-control", "bread-baking"]


def test_several_cited_skills_of_which_none_may_be_delivered_report_the_first() -> None:
    assert ask("Use shell-tools or deploy-now.") == Blocked(FailureCode.NATIVE_AUTHORITY, "shell-tools")


def test_a_skill_that_stands_out_is_selected_without_a_proposal() -> None:
    assert ask(BREAD) == Selected(("bread-baking",), Reason.RANKED)


def test_skills_that_may_not_be_delivered_are_passed_over_when_nobody_named_them() -> None:
    prompt = "Tools for the sourdough factory: deploy dough, loaves prove and rise."
    hits = {hit.id for hit in ranking.over(LIBRARY).search(prompt) if hit.score >= 0.5}
    assert {"shell-tools", "deploy-now", "huge-handbook"} <= hits
    for thresholds in (Thresholds(0, 0, 0), Thresholds(99, 0, 0)):
        answer = str(resolver.as_contract(resolve(Task("t", prompt), (), LIBRARY, thresholds)))
        assert "bread-baking" in answer
        assert not any(name in answer for name in ("shell-tools", "deploy-now", "huge-handbook"))


def test_an_excluded_or_ruled_out_skill_is_not_found_by_its_subject() -> None:
    for resolution in (ask(BREAD, exclude=("bread-baking",)), ask(f"{BREAD} Without bread-baking.")):
        assert "bread-baking" not in str(resolver.as_contract(resolution))


def test_nothing_in_common_selects_nothing() -> None:
    assert ask("What is 2 + 2?") == Selected((), Reason.NO_MATCH)


def test_one_accidental_word_is_no_candidate() -> None:
    assert ask("Where is the butter?") == Selected((), Reason.NO_MATCH)


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        (Thresholds(score=0, lead=0, shortlist=0), Selected),
        (Thresholds(score=99, lead=0, shortlist=0), Shortlist),
        (Thresholds(score=0, lead=0.99, shortlist=0), Shortlist),
        (Thresholds(score=99, lead=0, shortlist=99), Selected),
    ],
)
def test_score_and_lead_must_both_be_reached(thresholds: Thresholds, expected: type) -> None:
    resolution = resolve(Task("t", BREAD), (), LIBRARY, thresholds)
    assert isinstance(resolution, expected)
    if thresholds.shortlist == 99:
        assert resolution == Selected((), Reason.NO_MATCH)


def test_a_shortlist_has_at_most_five_and_carries_descriptions(ecc: Library) -> None:
    resolution = resolve(Task("t", "React tests, performance, patterns, hooks, forms, animation"), (), ecc)
    assert isinstance(resolution, Shortlist)
    assert len(resolution.candidates) == 5
    assert all(candidate.description == ecc.skills[candidate.id].description for candidate in resolution.candidates)


def test_answers_have_the_shape_of_the_contract() -> None:
    assert resolver.as_contract(Selected(("seo",), Reason.CITED)) == {"selectedIds": ["seo"], "reason": "cited"}
    assert resolver.as_contract(Blocked(FailureCode.EXCLUDED, "seo")) == {"blocked": "excluded", "id": "seo"}
    resolution = ask("Use oven-control or cake-decorating.")
    assert resolver.as_contract(resolution) == {
        "shortlist": [
            {"id": "oven-control", "description": "Heat curves and thermostats of ovens."},
            {"id": "cake-decorating", "description": "Icing, sugar flowers and tiers for parties."},
        ]
    }


@pytest.fixture(scope="module")
def ecc() -> Library:
    source = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}
    return library_module.load(origin.locate(source, Project(PROJECT)))


def test_the_id_of_a_task_decides_nothing(ecc: Library) -> None:
    prompt = "Hibernate fires one select for each order line."
    assert resolve(Task("react-testing", prompt), (), ecc) == resolve(Task("other", prompt), (), ecc)


def test_equal_tasks_resolve_equally_in_a_process_with_another_hash_seed(ecc: Library) -> None:
    prompt = "React page with a slow table"
    code = (
        "import sys; from pathlib import Path\n"
        "from eval_tasks import library; from eval_tasks.selection import resolver\n"
        "task = resolver.Task('t', sys.argv[2])\n"
        "print(resolver.as_contract(resolver.resolve(task, (), library.load(Path(sys.argv[1])))))"
    )
    command = [sys.executable, "-c", code, str(ecc.root), prompt]
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    here = resolver.as_contract(resolve(Task("t", prompt), (), ecc))
    assert done.stdout.strip() == str(here)
    assert here["shortlist"][0]["id"] == "react-performance"
