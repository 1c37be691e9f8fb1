"""How far a case's skill got in each arm: installed, listed, shortened, dropped, given, opened.

Must never name what the agent opened but the bound library does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from eval_tasks.analysis.summary import Outcome, Record, rate
from eval_tasks.arms import ARMS, on_install

MOST_OPENED = 20


def install_rows(design: Record, inventories: Mapping[str, Record]) -> list[dict[str, Any]]:
    """Return one row an install: its profile, its digest, and what the agent was shown of it at start-up."""
    return [
        {
            "id": name,
            "profile": design["profiles"][name]["id"],
            "digest": inventories[name]["digest"],
            "arms": on_install(design["arms"], name),
            "systemSkills": sorted(inventories[name]["systemSkills"]),
            **{key: inventories[name]["exposure"][key] for key in ("installed", "listed", "shortened", "dropped")},
            "startupContextBytes": inventories[name]["exposure"]["startupContextBytes"],
            "differences": list(inventories[name].get("differences", ())),
        }
        for name in sorted(inventories)
    ]


def skill_use(
    outcomes: Sequence[Outcome], arms: Sequence[str], inventories: Mapping[str, Record]
) -> list[dict[str, Any]]:
    """Return for each arm how many trials of cases that name a skill had it at each step, and what passed after it.

    `given` means that the launcher put the skill into the prompt; `opened` that the agent read its file.
    """
    return [_arm_row(arm, [o for o in outcomes if o.arm == arm], inventories.get(ARMS[arm].install)) for arm in arms]


def _arm_row(arm: str, outcomes: Sequence[Outcome], inventory: Record | None) -> dict[str, Any]:
    named = [(outcome.skill, outcome) for outcome in outcomes if outcome.skill is not None]
    listed = set(inventory["listed"]) if inventory else set()
    shortened = set(inventory["exposure"]["shortenedIds"]) if inventory else set()
    dropped = set(inventory["exposure"]["droppedIds"]) if inventory else set()
    opened = [outcome for skill, outcome in named if skill in _opened(outcome)]
    given = [outcome for skill, outcome in named if skill in outcome.selected_ids]
    unseen = [o for skill, o in named if skill not in o.selected_ids and skill not in _opened(o)]
    opens = Counter(skill for outcome in outcomes for skill in _opened(outcome))
    return {
        "arm": arm,
        "trials": len(named),
        "installed": sum(skill in listed for skill, _ in named),
        "shown": sum(skill in listed and skill not in dropped for skill, _ in named),
        "shortened": sum(skill in shortened for skill, _ in named),
        "dropped": sum(skill in dropped for skill, _ in named),
        "given": _passes(given),
        "opened": _passes(opened),
        "neither": _passes(unseen),
        "unknownOpens": sum(call["unknownOpens"] for outcome in outcomes for call in outcome.calls),
        "mostOpened": [{"skill": skill, "trials": count} for skill, count in _ranked(opens)[:MOST_OPENED]],
    }


def _opened(outcome: Outcome) -> set[str]:
    return {skill for call in outcome.calls for skill in call["openedSkills"]}


def _passes(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    passed = sum(outcome.passed for outcome in outcomes)
    return {"trials": len(outcomes), "passed": passed, "rate": rate(passed, len(outcomes))}


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
