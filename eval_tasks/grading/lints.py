"""What can be said against a case without an opponent: its prompt, its labels, its drivers, its numbers.

Must never grade anything, nor judge taste: each rule names a way in which graders or prompts were seen to go wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

QUOTED_WORDS = 4
"""So many words in a row of its skill's description make a prompt a quotation."""
LEAST_ALTERNATIVES = 1
LEAST_WRONG = 4
FREE_REASONS = ("threw: ", "subject: ")
"""Reasons that are no labels: what was thrown and not caught, and how a subject's process ended."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_ALWAYS = (frozenset({"true"}), frozenset({"false"}))
_SHOWN = 60


def of_prompt(prompt: str, skill: str | None, description: str | None) -> list[str]:
    """Return what a prompt gives away about its skill."""
    if skill is None:
        return []
    words = _words(prompt)
    found = []
    if _holds(words, _words(skill)):
        found.append(f"the prompt names its skill, {skill}")
    quoted = _quoted(words, _words(description or ""))
    if quoted:
        found.append(f"the prompt quotes its skill's description: {' '.join(quoted)!r}")
    return found


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    return bool(part) and any(words[start : start + len(part)] == part for start in range(len(words)))


def _quoted(words: Sequence[str], description: Sequence[str]) -> Sequence[str] | None:
    runs = (description[start : start + QUOTED_WORDS] for start in range(len(description) - QUOTED_WORDS + 1))
    return next((run for run in runs if _holds(words, run)), None)


def of_labels(labels: Sequence[str], stated: Mapping[str, str]) -> list[str]:
    """Return what is wrong with a grader's labels.

    Parameters
    ----------
    labels
        The labels of the checks that the reference met, in order.
    stated
        The label that each wrong solution names, by the solution's name.
    """
    counts = Counter(labels)
    found = [f"the label {label!r} stands on {count} checks" for label, count in counts.items() if label and count > 1]
    if counts[""]:
        found.append(f"{counts['']} checks have no label")
    unknown = [name for name, label in stated.items() if label not in counts and not label.startswith(FREE_REASONS)]
    return found + [f"wrong/{name} names a check that the reference does not meet" for name in unknown]


def of_drivers(drivers: Mapping[str, frozenset[str]], comparing: Iterable[str]) -> list[str]:
    """Return the drivers that keep the grader from judging.

    Parameters
    ----------
    drivers
        What each driver led to with the reference, by its text.
    comparing
        The texts of those whose syntax compares.
    """
    found = [f"a driver compares instead of returning a value: {_shown(text)}" for text in comparing]
    dull = [text for text, kinds in drivers.items() if kinds in _ALWAYS]
    return found + [f"a driver only ever returns one boolean: {_shown(text)}" for text in dull]


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def of_numbers(alternatives: int, wrong: int) -> list[str]:
    """Return which opponents are missing."""
    found = []
    if alternatives < LEAST_ALTERNATIVES:
        found.append("there is no alternative solution")
    if wrong < LEAST_WRONG:
        found.append(f"there are {wrong} wrong solutions; a case needs {LEAST_WRONG}")
    return found
