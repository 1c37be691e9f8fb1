"""BM25 over what skills are called and say, in units that do not depend on the library's size.

Owns the index and must never decide anything: thresholds, policy and citations are the resolver's.
"""

from __future__ import annotations

import base64
import importlib.metadata
import json
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Any

from eval_tasks import digests, records
from eval_tasks.library import Library, Skill

NAME_WEIGHT = 2
"""How often a name's words count in its document: a name is the author's own summary of the description."""

TOKEN = r"(?u)\b(?!\d+\b)\w\w+\b|\b\w[+#]+"
"""Words of two characters and more and names such as C++ and F#; no bare numbers, which match by accident only."""


_STOP_WORDS = "en_plus"


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
    """An index over some texts, each by the id of its skill.

    bm25s builds it. Whoever only asks it needs neither bm25s nor numpy, which take longer to import than a query and
    the library together.
    """

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        tokens = _tokens([text for _, text in documents])
        numbers, scores, begins, words = _postings(tokens) if any(tokens) else ([], [], [0], [])
        self._take(
            {
                "ids": [skill_id for skill_id, _ in documents],
                "unit": _rare_word(len(documents)),
                "stopWords": sorted(_stop_words()),
                "words": words,
                "begins": begins,
                "numbers": _packed("i", numbers),
                "scores": _packed("f", scores),
            }
        )

    @classmethod
    def of_value(cls, value: Mapping[str, Any]) -> Ranking:
        """Return the index that a JSON value holds."""
        found = cls.__new__(cls)
        found._take(value)
        return found

    def _take(self, value: Mapping[str, Any]) -> None:
        self.value = value
        """The index as a JSON value."""
        self._stop_words = frozenset(value["stopWords"])
        self._columns = {word: column for column, word in enumerate(value["words"])}
        self._numbers, self._scores = _unpacked("i", value["numbers"]), _unpacked("f", value["scores"])

    def search(self, text: str) -> list[Hit]:
        """Return every skill that shares a word with a text, best first; ties by id.

        A word counts once, however often the text has it: a long prompt repeats its subject without meaning it more.
        """
        sums: dict[int, float] = {}
        for word in sorted(self._words(text) & self._columns.keys()):
            first, end = self.value["begins"][self._columns[word] :][:2]
            for number, score in zip(self._numbers[first:end], self._scores[first:end], strict=True):
                sums[number] = sums.get(number, 0.0) + score
        ids, unit = self.value["ids"], self.value["unit"]
        hits = [Hit(ids[number], score / unit) for number, score in sums.items() if score > 0]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def _words(self, text: str) -> set[str]:
        """Return the words of a text as the documents' were made: in lower case, no stop words, stems."""
        found = {word for word in re.findall(TOKEN, text.lower()) if word not in self._stop_words}
        return set(_stemmer().stemWords(sorted(found)))


def _packed(kind: str, values: Sequence[float]) -> str:
    return base64.b64encode(array(kind, values).tobytes()).decode("ascii")


def _unpacked(kind: str, text: str) -> array[Any]:
    return array(kind, base64.b64decode(text))


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
    """Return the index of a library, from disk if this machine has built it before; a damaged one is built again."""
    kept = _kept(source)
    found = None if kept is None else _read(kept)
    if found is not None:
        return found
    built = Ranking([(skill.id, document(skill)) for skill in source.library.skills.values()])
    if kept is not None:
        content = records.canonical(built.value)
        records.write_bytes(kept, digests.of_bytes(content).encode("ascii") + b"\n" + content)
    return built


def _kept(source: _Source) -> Path | None:
    """Return where an index lies: under the digest of all that it is made from, beside the digests of large files."""
    if digests.CACHE.folder is None:
        return None
    versions = {name: importlib.metadata.version(name) for name in ("bm25s", "pystemmer", "numpy")}
    made_by = digests.of_file(Path(__file__))
    return digests.CACHE.folder / f"ranking-{digests.of_value([source.digest, versions, made_by])}"


def _read(kept: Path) -> Ranking | None:
    """Read an index whose bytes are those that were written, or None."""
    try:
        digest, _, content = kept.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    return Ranking.of_value(json.loads(content)) if digest == digests.of_bytes(content).encode("ascii") else None


def _rare_word(count: int) -> float:
    """Return the idf, as BM25 defines it, of a word that one document of so many has."""
    return log(1 + (count - 0.5) / 1.5)


def _postings(tokens: list[list[str]]) -> tuple[list[int], list[float], list[int], list[str]]:
    """Return the documents that have each word, what it adds to their scores, where a word begins, and the words."""
    index = _bm25().BM25()
    index.index(tokens, show_progress=False)
    numbers, scores, begins = (index.scores[name].tolist() for name in ("indices", "data", "indptr"))
    words = {column: word for word, column in index.vocab_dict.items()}
    # The empty word, which bm25s adds, has no column.
    return numbers, scores, begins, [words[column] for column in range(len(begins) - 1)]


def _tokens(texts: list[str]) -> list[list[str]]:
    """Split texts into lower-case stems without stop words."""
    found: list[list[str]] = _bm25().tokenize(
        texts, token_pattern=TOKEN, stopwords=_STOP_WORDS, stemmer=_stemmer(), return_ids=False, show_progress=False
    )
    return found


def _stop_words() -> tuple[str, ...]:
    found: tuple[str, ...] = _bm25().tokenization._infer_stopwords(_STOP_WORDS)
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
