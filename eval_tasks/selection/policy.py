"""Which skills may be delivered to a task at all, each refusal with its failure code.

Must never look at the prompt: what a task asks for is the resolver's matter.
"""

from __future__ import annotations

from collections.abc import Collection

from eval_tasks.errors import FailureCode
from eval_tasks.library import Library, Skill


def refusal(skill_id: str, exclude: Collection[str], library: Library) -> FailureCode | None:
    """Return why a skill may not be delivered, or `None` if it may.

    The order is part of the contract: what the caller excluded is `excluded` even if the library does not know it;
    then `unknown-id`; then `manual-only`, which only a person may start with the host's own command; then
    `native-authority`, which only a host can grant. An id that the caller asked for is treated like any other:
    delivery by a launcher is neither a person's command nor a host's grant.
    """
    if skill_id in exclude:
        return FailureCode.EXCLUDED
    skill = library.skills.get(skill_id)
    if skill is None:
        return FailureCode.UNKNOWN_ID
    if skill.manual_only:
        return FailureCode.MANUAL_ONLY
    if skill.native_authority:
        return FailureCode.NATIVE_AUTHORITY
    return None


def candidates(exclude: Collection[str], library: Library) -> list[Skill]:
    """Return the skills that may be chosen without being named, by id in sorted order.

    A refused skill is left out in silence here: nobody asked for it, so that nothing is to be reported.
    """
    return [skill for skill_id, skill in library.skills.items() if refusal(skill_id, exclude, library) is None]
