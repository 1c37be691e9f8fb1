"""BM25 over what skills are called and say, in units that do not depend on the library's size.

Owns the index and must never decide anything: thresholds, policy and citations are the resolver's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import Any

from eval_tasks.library import Library, Skill

NAME_WEIGHT = 2
"""How often a name's words count in its document: a name is the author's own summary of the description."""

TOKEN = r"(?u)\b(?!\d+\b)\w\w+\b|\b\w[+#]+"
"""Words of two characters and more and names such as C++ and F#; no bare numbers, which match by accident only."""


@dataclass(frozen=True)
class Hit:
    """A skill and how well it fits.

    Parameters
    ----------
    score
        BM25 in *rare words*: 1.0 is the idf of a word that only one skill of the library has.
    """

    id: str
    score: float


class Ranking:
    """An index over some texts, each by the id of its skill."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self._ids = [skill_id for skill_id, _ in documents]
        tokens = _tokens([text for _, text in documents])
        self._vocabulary = {token for document in tokens for token in document}
        self._unit = _rare_word(len(documents))
        self._index = _bm25().BM25() if self._vocabulary else None
        if self._index is not None:
            self._index.index(tokens, show_progress=False)

    def search(self, text: str) -> list[Hit]:
        """Return every skill that shares a word with a text, best first; ties by id.

        A word counts once, however often the text has it: a long prompt repeats its subject without meaning it more.
        """
        words = sorted(set(_tokens([text])[0]) & self._vocabulary)
        if self._index is None or not words:
            return []
        scores = self._index.get_scores(words)
        hits = [Hit(skill_id, float(score) / self._unit) for skill_id, score in zip(self._ids, scores, strict=True)]
        return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.id))


def over(library: Library) -> Ranking:
    """Return the index over all skills of a library; those of the last two libraries are kept."""
    return _built(_Source(library.digest, library))


def document(skill: Skill) -> str:
    """Return the text by which a skill is found: its name, its description and its body.

    Only the first two are in a host's catalogue. The body adds the words in which the need for a skill is felt, and
    ranks better on either half of the probes (docs/selection.md).
    """
    return " ".join([*[skill.id] * NAME_WEIGHT, skill.description, skill.body])


@dataclass(frozen=True)
class _Source:
    """A library as the key of a cache: equal digests have equal indexes, wherever and whenever they were loaded."""

    digest: str
    library: Library = field(compare=False, repr=False)


@lru_cache(maxsize=2)
def _built(source: _Source) -> Ranking:
    return Ranking([(skill.id, document(skill)) for skill in source.library.skills.values()])


def _rare_word(count: int) -> float:
    """Return the idf, as BM25 defines it, of a word that one document of so many has."""
    return log(1 + (count - 0.5) / 1.5)


def _tokens(texts: list[str]) -> list[list[str]]:
    """Split texts into lower-case stems without stop words."""
    found: list[list[str]] = _bm25().tokenize(
        texts, token_pattern=TOKEN, stopwords="en_plus", stemmer=_stemmer(), return_ids=False, show_progress=False
    )
    return found


@lru_cache(maxsize=1)
def _bm25() -> Any:
    # Imported late: bm25s imports scipy.sparse, which takes longer than everything else here together.
    import bm25s  # noqa: PLC0415

    return bm25s


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer  # noqa: PLC0415

    return Stemmer.Stemmer("english")
