"""The reference selector: from a task to selected skills, a shortlist for one proposal, or a refusal with its code.

Must never call an agent, read the clock or draw at random: equal tasks and libraries give equal resolutions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from eval_tasks.errors import FailureCode
from eval_tasks.library import Library
from eval_tasks.selection import citations, context, policy, ranking
from eval_tasks.selection.proposal import Candidate
from eval_tasks.selection.ranking import Hit

MAXIMUM_SHORTLIST = 5


@dataclass(frozen=True)
class Thresholds:
    """When the ranking decides.

    Parameters
    ----------
    score
        What the first must reach to be selected without a proposal, in rare words, the unit of `ranking.Hit.score`.
    lead
        What the first must be ahead of the second to be selected without a proposal, as a share of its own score: a
        longer prompt raises right and accidental scores alike.
    shortlist
        What a skill must reach to be proposed at all, in rare words.
    """

    score: float
    lead: float
    shortlist: float


THRESHOLDS = Thresholds(score=1.5, lead=0.3, shortlist=0.8)
"""Tuned on the `tune` half of `corpus/probes.yaml` only; docs/selection.md has both halves' figures. The costs aren't
alike: a wrong selection goes unnoticed and a missing candidate can't be chosen, while a proposal costs one call. So
the lead lies above what separates right from wrong on that half, and the bar of the shortlist is the lowest round
number that adds no proposal there."""


@dataclass(frozen=True)
class Task:
    """What a caller asks the selector."""

    id: str
    prompt: str
    explicit_ids: tuple[str, ...] = ()
    no_workflow: bool = False


class Reason(StrEnum):
    """Why a resolution needs no proposal."""

    EXPLICIT = "explicit"
    OPT_OUT = "opt-out"
    CITED = "cited"
    RANKED = "ranked"
    NO_MATCH = "no-match"


@dataclass(frozen=True)
class Selected:
    """These skills, or none, are delivered; no proposal is needed."""

    ids: tuple[str, ...]
    reason: Reason


@dataclass(frozen=True)
class Shortlist:
    """One to five candidates, best first, among which one proposal call decides."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Blocked:
    """A skill that was asked for may not be delivered."""

    code: FailureCode
    id: str


Resolution = Selected | Shortlist | Blocked

Resolve = Callable[[Task, Collection[str], Library], Resolution]
"""A selector: this one, or somebody's own."""


def resolve(task: Task, exclude: Collection[str], library: Library, thresholds: Thresholds = THRESHOLDS) -> Resolution:
    """Decide which skills a task gets.

    In this order: an opt-out; ids that the caller asks for; the one skill that the prompt cites by name, or the
    several as a shortlist; the ranking's first, if it is good enough and far enough ahead; the ranking's first five
    as a shortlist; nothing.
    """
    explicit = tuple(dict.fromkeys(task.explicit_ids))
    if task.no_workflow:
        return Blocked(FailureCode.OPT_OUT_CONFLICT, explicit[0]) if explicit else Selected((), Reason.OPT_OUT)
    if explicit:
        return deliver(explicit, Reason.EXPLICIT, exclude, library)
    cited = citations.read(task.prompt, library.ids_by_name)
    if len(cited.asked) == 1:
        return deliver(cited.asked, Reason.CITED, exclude, library)
    if cited.asked:
        return _choose_among(cited.asked, exclude, library)
    return _judge(_hits(cited, exclude, library), library, thresholds)


def as_contract(resolution: Resolution) -> dict[str, Any]:
    """Return a resolution as the JSON value that every selector answers with."""
    if isinstance(resolution, Selected):
        return {"selectedIds": list(resolution.ids), "reason": str(resolution.reason)}
    if isinstance(resolution, Blocked):
        return {"blocked": str(resolution.code), "id": resolution.id}
    return {"shortlist": [{"id": item.id, "description": item.description} for item in resolution.candidates]}


def deliver(ids: tuple[str, ...], reason: Reason, exclude: Collection[str], library: Library) -> Selected | Blocked:
    """Select ids that somebody named, or say which of them is refused first and why.

    Parameters
    ----------
    ids
        At least one, in the order in which they are delivered.
    """
    for skill_id in ids:
        code = policy.refusal(skill_id, exclude, library)
        if code is not None:
            return Blocked(code, skill_id)
    over = context.overflowing(library, ids)
    return Selected(ids, reason) if over is None else Blocked(FailureCode.CONTEXT_BUDGET, over)


def deliverable(library: Library) -> list[str]:
    """Return the ids of the skills that a launcher may deliver alone, in sorted order."""
    return [skill.id for skill in policy.candidates((), library) if context.overflowing(library, (skill.id,)) is None]


def _choose_among(ids: Sequence[str], exclude: Collection[str], library: Library) -> Resolution:
    """Put several cited skills on the shortlist; if none of them may be delivered, the first says why."""
    each = [deliver((skill_id,), Reason.CITED, exclude, library) for skill_id in ids]
    allowed = [selected.ids[0] for selected in each if isinstance(selected, Selected)]
    return _shortlist(allowed, library) if allowed else each[0]


def _hits(cited: citations.Citations, exclude: Collection[str], library: Library) -> list[Hit]:
    """Return the best hits that could be delivered, one more than a shortlist takes."""
    allowed = {skill.id for skill in policy.candidates({*exclude, *cited.ruled_out}, library)}
    hits = []
    for hit in ranking.over(library).search(cited.text):
        if hit.id in allowed and context.overflowing(library, (hit.id,)) is None:
            hits.append(hit)
        if len(hits) > MAXIMUM_SHORTLIST:
            break
    return hits


def _judge(hits: Sequence[Hit], library: Library, thresholds: Thresholds) -> Selected | Shortlist:
    if hits and _stands_out(hits, thresholds):
        return Selected((hits[0].id,), Reason.RANKED)
    return _shortlist([hit.id for hit in hits if hit.score >= thresholds.shortlist], library)


def _stands_out(hits: Sequence[Hit], thresholds: Thresholds) -> bool:
    first, second = hits[0].score, hits[1].score if len(hits) > 1 else 0.0
    return first >= thresholds.score and first - second >= thresholds.lead * first


def _shortlist(ids: Sequence[str], library: Library) -> Selected | Shortlist:
    if not ids:
        return Selected((), Reason.NO_MATCH)
    chosen = ids[:MAXIMUM_SHORTLIST]
    return Shortlist(tuple(Candidate(skill_id, library.skills[skill_id].description) for skill_id in chosen))
