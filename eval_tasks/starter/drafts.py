"""What can be drafted from a library alone: a lean core, the skill of an example case, selection probes.

Pure; it must never draft anything that the policy of delivery refuses, unless the refusal is what a probe expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eval_tasks.errors import FailureCode
from eval_tasks.grading import lints
from eval_tasks.library import Library
from eval_tasks.selection import policy
from eval_tasks.selection.resolver import deliverable

LARGEST_CORE = 3
MOST_NAMED = 12
"""How many skills get a probe that names them."""

_NAMING = (
    "Use the `{}` skill for what is left to do in src/orders.js.",
    "Please follow the `{}` skill while you finish src/invoice.js.",
    "Finish the import in src/cart.js. Apply the `{}` skill to it.",
)
_NEEDING_NOTHING = (
    ("spelling", "Correct the spelling of `recieve` in README.md."),
    ("sum", "What is seventeen times twenty-three?"),
    ("rename", "Rename the variable x in src/cart.js to total."),
)
_REFUSALS = {FailureCode.MANUAL_ONLY: "Only a person may start it.", FailureCode.NATIVE_AUTHORITY: "Only a host can."}


def core(library: Library) -> list[str]:
    """Return one to three skills as a lean core: the first deliverable ones, at most half of the library."""
    size = min(LARGEST_CORE, max(1, len(library.skills) // 2))
    return (deliverable(library) or sorted(library.skills))[:size]


def skill_of(prompt: str, library: Library) -> str | None:
    """Return the skill that an example case may name as its own, or None if its prompt would give each away.

    A skill outside the lean core comes first: only there do the two lean arms differ from their install.
    """
    lean = core(library)
    for skill in sorted(deliverable(library), key=lambda skill: skill in lean):
        if not lints.of_prompt(prompt, skill, library.skills[skill].description):
            return skill
    return None


def probes(library: Library) -> list[dict[str, Any]]:
    """Return the probes as `probes.yaml` holds them, their halves dealt out alternately within each category."""
    return [
        *_dealt("exact", _naming(deliverable(library)[:MOST_NAMED])),
        *_dealt("none", _needing_nothing(sorted(library.skills)[0])),
        *_dealt("policy", _refused(library)),
    ]


def _dealt(category: str, drafts: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, draft in enumerate(drafts):
        name = f"{category}-{number + 1:02}-{draft.pop('name')}"[:64].rstrip("-")
        yield {"id": name, "category": category, **draft, "half": "held" if number % 2 else "tune"}


def _naming(skills: Sequence[str]) -> Iterator[dict[str, Any]]:
    for number, skill in enumerate(skills):
        yield {
            "name": skill,
            "prompt": _NAMING[number % len(_NAMING)].format(skill),
            "expect": {"selected": [skill]},
            "why": "The prompt names one skill and calls it a skill.",
        }


def _needing_nothing(skill: str) -> Iterator[dict[str, Any]]:
    for name, prompt in _NEEDING_NOTHING:
        yield {"name": name, "prompt": prompt, "expect": {"selected": []}, "why": "A draft: no skill is needed for it."}
    yield {
        "name": "opt-out",
        "prompt": f"Use the `{skill}` skill.",
        "noWorkflow": True,
        "expect": {"selected": []},
        "why": "The caller wants no skill at all, whatever the prompt says.",
    }


def _refused(library: Library) -> Iterator[dict[str, Any]]:
    first, stranger = sorted(library.skills)[0], _stranger(library)
    yield _asked(first, FailureCode.EXCLUDED, "The caller asks for what the caller excluded.") | {"exclude": [first]}
    yield _asked(stranger, FailureCode.UNKNOWN_ID, "The library has no skill of this name.")
    for code, why in _REFUSALS.items():
        found = next((skill for skill in library.skills if policy.refusal(skill, (), library) is code), None)
        if found is not None:
            yield _asked(found, code, why)


def _asked(skill: str, code: FailureCode, why: str) -> dict[str, Any]:
    return {
        "name": str(code),
        "prompt": "Finish the import in src/cart.js.",
        "explicit": [skill],
        "expect": {"code": str(code)},
        "why": why,
    }


def _stranger(library: Library) -> str:
    """Return an id that no skill has."""
    number = 1
    while f"missing-{number}" in library.skills:
        number += 1
    return f"missing-{number}"
