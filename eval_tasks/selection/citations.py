"""Which skills a prompt asks for by name, which it rules out, and what of it is left to search with.

Must never take a name that is quoted, ruled out or part of a longer word for a wish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Code and quoted text is mentioned, not said. Pairs are the straight and the typographic ones of several languages;
# a single quote opens only where no apostrophe can stand.
_QUOTED = re.compile(
    r"```.*?```|(`+)(?!`)[^`]+?\1(?!`)"
    r"|\"[^\"\n]+\""
    r"|[\u201c\u201e][^\u201c\u201d\n]+[\u201c\u201d]"
    r"|\u00ab[^\u00bb\n]+\u00bb"
    r"|\u2018[^\u2019\n]+\u2019(?!\w)"
    r"|(?<![\w'])'[^'\n]+'(?!\w)",
    re.DOTALL,
)
_MARK = r"[`\"'\u201c\u201d\u2018\u2019]"
# `name` skill, skill "name": marks around nothing but the name of what is called a skill are emphasis.
_NAMED_SKILL = re.compile(rf"(?<=\bskill ){_MARK}([\w-]+){_MARK}|{_MARK}([\w-]+){_MARK}(?= skill\b)")
_WORD = re.compile(r"(?<![\w.$@/-])[a-z0-9]+(?:-[a-z0-9]+)*(?![\w@/-]|\.\w)")
_CLAUSE = re.compile(r"[.,;:!?](?=\s|$)|\n\s*\n|\s[\u2013-]\s|\u2014|[()]|\bbut\b")
_NEGATION = re.compile(
    r"\b(?:no|not|never|nor|neither|without|avoid|skip|ignore|cannot|dont|instead of|rather than)\b"
    r"|\b\w+n['\u2019]t\b",
    re.IGNORECASE,
)
_NEGATED_AFTER = re.compile(
    r"\s+(?:skill\s+)?(?:(?:is|are|was|were|do|does|did|has|must|should|shall|will|would|can|could|may|need)\s+not"
    r"|\w+n['\u2019]t|cannot)\b",
    re.IGNORECASE,
)
_SKILL_BEFORE = re.compile(r"\bskill\s+$", re.IGNORECASE)
_SKILL_AFTER = re.compile(r"\s+skill\b", re.IGNORECASE)


@dataclass(frozen=True)
class Citations:
    """What a prompt says about skills by name.

    Parameters
    ----------
    asked
        Ids that it asks for, in the order of their first mention.
    ruled_out
        Ids that it names in a negation.
    text
        The prompt without quotations, code and ruled-out names.
    """

    asked: tuple[str, ...]
    ruled_out: frozenset[str]
    text: str


def read(prompt: str, ids_by_name: Mapping[str, str]) -> Citations:
    """Return the citations of a prompt.

    A name is cited where it stands as its folder or its front matter writes it, as a word of its own, outside
    quotation and code. A name of a single word (`seo`, `council`) is cited only beside the word *skill*, since it is
    an ordinary word as well. A name is ruled out if a negation stands before it in its clause, or an auxiliary with
    *not* right after it; a name that is both asked for and ruled out is ruled out. The negations are English.
    """
    said = _QUOTED.sub(" ", _NAMED_SKILL.sub(lambda found: found[1] or found[2], prompt))
    asked: dict[str, None] = {}
    ruled_out: dict[str, None] = {}
    clauses = []
    for clause in _CLAUSE.split(said):
        kept = clause
        for name, start, negated in _mentions(clause, ids_by_name):
            (ruled_out if negated else asked)[ids_by_name[name]] = None
            if negated:
                kept = kept[:start] + " " * len(name) + kept[start + len(name) :]
        clauses.append(kept)
    wished = tuple(skill_id for skill_id in asked if skill_id not in ruled_out)
    return Citations(wished, frozenset(ruled_out), "\n".join(clauses))


def _mentions(clause: str, ids_by_name: Mapping[str, str]) -> Iterator[tuple[str, int, bool]]:
    negation = _NEGATION.search(clause)
    for found in _WORD.finditer(clause):
        name, start, end = found.group(), found.start(), found.end()
        if name in ids_by_name and ("-" in name or _beside_skill(clause, start, end)):
            before = negation is not None and negation.end() <= start
            yield name, start, before or _NEGATED_AFTER.match(clause, end) is not None


def _beside_skill(clause: str, start: int, end: int) -> bool:
    return bool(_SKILL_BEFORE.search(clause[max(0, start - 16) : start]) or _SKILL_AFTER.match(clause, end))
