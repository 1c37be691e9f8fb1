"""Whether a selector keeps to the contract: questions whose answers the contract alone decides.

Must never judge how well a selector chooses: that is what probes are for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.library import Library
from eval_tasks.selection.resolver import Blocked, Resolution, Resolve, Selected, Shortlist, Task, deliverable

STRANGE = "no-such-skill-in-any-library"
LONGEST = "Größe \N{GREEK SMALL LETTER LAMDA} \N{ROCKET} " * 400
"""Near the 8,192 bytes that a prompt may have, in several scripts."""


@dataclass(frozen=True)
class Finding:
    """One requirement and what the selector answered instead, or None if it keeps to it."""

    requirement: str
    instead: str | None

    def __str__(self) -> str:
        return (
            f"ok       {self.requirement}" if self.instead is None else f"differs  {self.requirement}: {self.instead}"
        )


def findings(resolve: Resolve, library: Library) -> list[Finding]:
    """Ask a selector every question and return how it kept to the contract, in a fixed order.

    Raises
    ------
    ExperimentStopped
        If the library has no skill that may be delivered.
    """
    return [_try(requirement, resolve, library, ask) for requirement, ask in _questions(library)]


Ask = Callable[[Resolve, Library], str | None]
"""Asks a selector something and says what was wrong with the answer, if anything was."""


def _questions(library: Library) -> Iterator[tuple[str, Ask]]:
    known = next(iter(deliverable(library)), None)
    if known is None:
        raise ExperimentStopped("library: it has no skill that may be delivered; there is nothing to select")
    text = library.skills[known].description[:2000]
    unknown, excluded, conflict = FailureCode.UNKNOWN_ID, FailureCode.EXCLUDED, FailureCode.OPT_OUT_CONFLICT
    yield "an id that the caller asks for is selected, and only that", _answers(Task("q1", "x", (known,)), (known,))
    yield "an id that the library lacks is blocked as unknown-id", _blocks(Task("q2", "x", (STRANGE,)), (), unknown)
    yield (
        "an id that the caller excludes is blocked as excluded",
        _blocks(Task("q3", "x", (known,)), (known,), excluded),
    )
    yield "a task without workflows gets none", _answers(Task("q4", text, no_workflow=True), ())
    yield "asking for an id and for none is opt-out-conflict", _blocks(Task("q5", "x", (known,), True), (), conflict)
    yield "an excluded skill is not chosen unasked", _avoids(Task("q6", text), known)
    yield "equal questions get equal answers", _repeats(Task("q7", text))
    yield "a long prompt in several scripts is answered", _repeats(Task("q8", LONGEST))


def _try(requirement: str, resolve: Resolve, library: Library, ask: Ask) -> Finding:
    try:
        return Finding(requirement, ask(resolve, library))
    except TrialFailed:
        return Finding(requirement, "it failed, took too long, or broke the answer's schema")


def _answers(task: Task, wanted: tuple[str, ...]) -> Ask:
    def ask(resolve: Resolve, library: Library) -> str | None:
        found = resolve(task, (), library)
        return None if isinstance(found, Selected) and found.ids == wanted else _said(found)

    return ask


def _blocks(task: Task, exclude: Collection[str], code: FailureCode) -> Ask:
    def ask(resolve: Resolve, library: Library) -> str | None:
        found = resolve(task, exclude, library)
        return None if isinstance(found, Blocked) and found.code is code else _said(found)

    return ask


def _avoids(task: Task, excluded: str) -> Ask:
    def ask(resolve: Resolve, library: Library) -> str | None:
        found = resolve(task, (excluded,), library)
        return _said(found) if isinstance(found, Blocked) or excluded in _ids(found) else None

    return ask


def _repeats(task: Task) -> Ask:
    def ask(resolve: Resolve, library: Library) -> str | None:
        first, second = resolve(task, (), library), resolve(task, (), library)
        return None if first == second else f"{_said(first)}, then {_said(second)}"

    return ask


def _ids(found: Selected | Shortlist) -> tuple[str, ...]:
    return found.ids if isinstance(found, Selected) else tuple(candidate.id for candidate in found.candidates)


def _said(found: Resolution) -> str:
    if isinstance(found, Blocked):
        return f"blocked as {found.code}"
    verb = "selected" if isinstance(found, Selected) else "proposed"
    return f"{verb} {', '.join(_ids(found)) or 'nothing'}"
