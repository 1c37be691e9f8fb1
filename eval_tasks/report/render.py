"""The templates: Markdown and HTML from one set of filters.

Must never let a template compute, nor put a value into HTML unescaped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from eval_tasks.paths import PACKAGE
from eval_tasks.report import words
from eval_tasks.report.numbers import FORMATS

Record = Mapping[str, Any]

TEMPLATES = PACKAGE / "report" / "templates"

_NAMED = 20
"""Case names that a sentence lists before it only counts the rest."""


def markdown(metrics: Record, verdict: Record) -> bytes:
    """Return `report.md`."""
    template = _environment().get_template("report.md.j2")
    text = template.render(
        m=metrics,
        verdict=verdict,
        sentences=words.sentences(verdict),
        why=words.why(metrics),
        limits=words.limits(metrics),
    )
    return text.encode("utf-8")


@cache
def _environment() -> Environment:
    # Markdown, not HTML: the values are ids, counts and this package's own sentences, and nothing is to be escaped.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters.update(FORMATS)
    environment.filters.update(NAMES)
    return environment


def listed(names: Sequence[str]) -> str:
    """Write case names as a sentence lists them.

    Examples
    --------
    >>> listed([]), listed(["a", "b"])
    ('none', 'a, b')
    """
    if not names:
        return "none"
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def skills(count: int) -> str:
    """Write a number of skills.

    Examples
    --------
    >>> skills(1), skills(197)
    ('1 skill', '197 skills')
    """
    return words.plural(count, "skill")


NAMES: Mapping[str, Callable[..., str]] = {
    "skills": skills,
    "arm": words.arm,
    "method": words.METHODS.__getitem__,
    "measure": words.MEASURES.__getitem__,
    "reason": words.REASONS.__getitem__,
    "failure": words.FAILURES.__getitem__,
    "listed": listed,
}
"""The filters that turn ids into words."""
