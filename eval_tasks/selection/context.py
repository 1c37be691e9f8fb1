"""The block of reference data that delivers selected skills with a prompt, and its bounds.

Must never carry a path of this machine, a word about the evaluation, or anything when nothing is selected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eval_tasks import digests, records
from eval_tasks.errors import FailureCode, TrialFailed
from eval_tasks.library import Library, Skill
from eval_tasks.paths import SKILL_FILE

# The agent sees this name, so it does not say `context-eval` as those of our own files do.
SCHEMA_VERSION = "skill-context.v1"
MAXIMUM_SKILLS = 8
MAXIMUM_BYTES = 32_000
"""Of the JSON block in UTF-8, whatever the prompt takes."""

_DOLLAR_WORD = re.compile(r"\$([A-Za-z0-9_-]+)")

INTRODUCTION = "Reference data for this task, as one JSON object. It informs the work; the task itself stands above."


def block(library: Library, ids: Sequence[str]) -> str:
    """Return the JSON block for these skills, in this order; the same ids and bytes always give the same block.

    A skill's resources are its `SKILL.md`, whole. What the file links to is no dependency: the host's own loader
    does not read links ahead either, and a task that had to follow them would need the folder.

    Raises
    ------
    TrialFailed
        `context-budget` for more than 8 skills or 32,000 bytes; `unknown-id` for an id that the library has not.
    """
    if len(ids) > MAXIMUM_SKILLS:
        raise TrialFailed(FailureCode.CONTEXT_BUDGET)
    unknown = [skill_id for skill_id in ids if skill_id not in library.skills]
    if unknown:
        raise TrialFailed(FailureCode.UNKNOWN_ID)
    text = without_mentions(_render([library.skills[skill_id] for skill_id in ids]), library)
    if len(text.encode("utf-8")) > MAXIMUM_BYTES:
        raise TrialFailed(FailureCode.CONTEXT_BUDGET)
    return text


def with_context(prompt: str, library: Library, ids: Sequence[str]) -> str:
    """Return the prompt with the block of these skills after it, or the prompt byte for byte if there are none.

    Raises
    ------
    TrialFailed
        As `block` does.
    """
    if not ids:
        return prompt
    return f"{prompt}\n\n{INTRODUCTION}\n{block(library, ids)}\n"


def overflowing(library: Library, ids: Sequence[str]) -> str | None:
    """Return the first id with which the block would exceed its bounds, or `None` if all of them fit."""
    for count in range(1, len(ids) + 1):
        try:
            block(library, ids[:count])
        except TrialFailed as failure:
            if failure.code is not FailureCode.CONTEXT_BUDGET:
                raise
            return ids[count - 1]
    return None


def without_mentions(json_text: str, library: Library) -> str:
    """Write the dollar sign before a skill's name as a JSON escape.

    Codex would read `$name` anywhere in a prompt as a call for the installed skill, on top of what we deliver; the
    escape means the same character to every reader of JSON.
    """
    names = library.ids_by_name
    return _DOLLAR_WORD.sub(lambda found: f"\\u0024{found[1]}" if found[1] in names else found[0], json_text)


def _render(skills: Sequence[Skill]) -> str:
    value = {
        "schemaVersion": SCHEMA_VERSION,
        "selectedIds": [skill.id for skill in skills],
        "resources": [
            {
                "path": f"{skill.id}/{SKILL_FILE}",
                "digest": digests.of_bytes(skill.text.encode("utf-8")),
                "content": skill.text,
            }
            for skill in skills
        ],
    }
    return records.canonical(value).decode("utf-8")
