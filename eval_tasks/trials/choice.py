"""What a trial or probe is given: the skills that are delivered with its prompt, and by which way they were chosen.

Must never select for a trial in any other way than for a probe.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from eval_tasks.errors import FailureCode, TrialFailed
from eval_tasks.library import Library
from eval_tasks.selection import policy, resolver
from eval_tasks.selection.proposal import Candidate
from eval_tasks.selection.resolver import Blocked, Reason, Resolution, Resolve, Selected, Task

Propose = Callable[[Sequence[Candidate]], tuple[str, ...]]
"""Makes the one proposal call and returns what it chose."""


@dataclass(frozen=True)
class Choice:
    """The skills that a selection came to, and by which way.

    Parameters
    ----------
    ids
        What is delivered; empty for nothing.
    way
        `resolver`, `proposal`, `explicit`, `none` or `blocked`.
    failure
        The code of a selection that failed; nothing is delivered then.
    limit
        Which limit fired, if one did.
    shortlist
        The candidates of a proposal.
    """

    ids: tuple[str, ...]
    way: str
    failure: FailureCode | None = None
    limit: str | None = None
    shortlist: tuple[str, ...] = field(default=())


NOTHING = Choice((), "none")


def select(
    task: Task, exclude: Collection[str], library: Library, propose: Propose, resolve: Resolve = resolver.resolve
) -> Choice:
    """Select for a task: the selector's answer, or that of one proposal call over its shortlist."""
    try:
        resolution = resolve(task, exclude, library)
    except TrialFailed as failed:
        return Choice((), "blocked", failed.code, failed.limit)
    return settle(resolution, propose)


def settle(resolution: Resolution, propose: Propose) -> Choice:
    """Turn a resolution into a choice, with a proposal call only for a shortlist."""
    if isinstance(resolution, Blocked):
        return Choice((), "blocked", resolution.code)
    if isinstance(resolution, Selected):
        return Choice(resolution.ids, _way(resolution))
    shortlist = tuple(candidate.id for candidate in resolution.candidates)
    try:
        return Choice(propose(resolution.candidates), "proposal", shortlist=shortlist)
    except TrialFailed as failed:
        return Choice((), "proposal", failed.code, failed.limit, shortlist)


def _way(selected: Selected) -> str:
    if not selected.ids:
        return "none"
    return "explicit" if selected.reason is Reason.EXPLICIT else "resolver"


def preregistered(skill: str | None, library: Library) -> Choice:
    """Return what Manual Lean is given: the case's own skill, under the same policy as any selection."""
    if skill is None:
        return Choice((), "none")
    code = policy.refusal(skill, (), library)
    return Choice((skill,), "explicit") if code is None else Choice((), "blocked", code)
