"""The grammar of what the two grading processes say, checked before one byte is passed on.

Must never hand on anything that it did not parse and write anew itself.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ANSWER_BYTES = 256 * 1024
"""How long one message of a subject may be."""
REQUEST_BYTES = 1024 * 1024
"""How long one message of the grader may be; longer than an answer, so that it can hand one on."""
DEPTH = 100
"""How deep a message may nest; two levels of JSON for each level of a value, and the envelope."""
NODES = 400_000
"""How many JSON values one message may hold."""
TEXT = 200
"""How long a reason may be, in characters."""

_INTEGER = re.compile(r"-?[0-9]{1,1000}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_FLAGS = re.compile(r"[dgimsuvy]{0,8}")
_SPECIAL_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity", "-0"})
_LATEST_DATE = 8.64e15
_LARGEST_ID = 2**31


class MessageRefused(Exception):
    """A process said something that is no message; `str()` says what was wrong with it, in a word."""


@dataclass(frozen=True)
class Answer:
    """What a subject process answers to one run."""

    id: int
    outcome: str
    value: Any


@dataclass(frozen=True)
class Ready:
    """A subject process has started and has loaded nothing of the submission yet."""


@dataclass(frozen=True)
class Run:
    """The grader wants a driver function to be run in a subject."""

    id: int
    subject: int
    source: str
    arguments: list[Any]


@dataclass(frozen=True)
class Subject:
    """The grader wants a further subject to be started (`start`, no id) or one to be ended (`stop`)."""

    verb: str
    id: int | None
    subject: int


@dataclass(frozen=True)
class Look:
    """The grader wants to see the submission's files as data: `read`, `list` or `exists`."""

    verb: str
    id: int
    path: str


@dataclass(frozen=True)
class Said:
    """How the grader process says that it ended."""

    kind: str
    checks: int
    reason: str
    labels: tuple[str, ...] = ()


KINDS = frozenset({"passed", "failed", "threw", "broken", "outstanding", "unchecked"})


def write(message: list[Any]) -> bytes:
    """Return the one line of a message."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def from_subject(line: bytes) -> Answer | Ready:
    """Parse what a subject process said.

    Raises
    ------
    MessageRefused
        If it is no message.
    """
    match _parse(line, ANSWER_BYTES):
        case ["ready"]:
            return Ready()
        case [id_, ("ok" | "err") as outcome, value] if _is_id(id_):
            _check_value(value)
            return Answer(id_, outcome, value)
        case _:
            raise MessageRefused("form")


def from_grader(line: bytes) -> Run | Subject | Look | Said:
    """Parse what the grader process said.

    Raises
    ------
    MessageRefused
        If it is no message.
    """
    match _parse(line, REQUEST_BYTES):
        case ["run", id_, number, str(source), list(arguments)] if _is_id(id_) and _is_id(number):
            for argument in arguments:
                _check_value(argument)
            return Run(id_, number, source, arguments)
        case ["start", number] if _is_id(number):
            return Subject("start", None, number)
        case ["stop", id_, number] if _is_id(id_) and _is_id(number):
            return Subject("stop", id_, number)
        case [("read" | "list" | "exists") as verb, id_, str(path)] if _is_id(id_):
            return Look(verb, id_, path)
        case ["verdict", str(kind), checks, str(reason), list(labels)] if kind in KINDS and _is_id(checks):
            return Said(kind, checks, plain(reason), tuple(plain(str(label)) for label in labels))
        case _:
            raise MessageRefused("form")


def plain(text: str) -> str:
    """Return a text as one bounded line that any file can hold."""
    kept = text[:TEXT].encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() else " " for character in kept)


def died(reason: str) -> list[Any]:
    """Return the error value with which a run is rejected whose subject is no more."""
    return ["e", "SubjectDied", plain(reason), []]


def refused(code: str, message: str) -> list[Any]:
    """Return the error value with which a look at a file is rejected."""
    return ["e", "Error", message, [["code", code]]]


def strings(texts: list[str]) -> list[Any]:
    """Return a list of texts as a value."""
    return ["a", texts]


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST_ID


def _parse(line: bytes, limit: int) -> Any:
    if len(line) > limit:
        raise MessageRefused("length")
    try:
        # No object can be in a message, so no key can stand twice in one or mean anything.
        message = json.loads(line.decode("utf-8"), object_pairs_hook=_no_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MessageRefused("json") from error
    _check_size(message)
    return message


def _no_object(pairs: list[tuple[str, Any]]) -> Any:
    raise ValueError("object")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _check_size(message: Any) -> None:
    pending = [(message, 0)]
    nodes = 0
    while pending:
        value, depth = pending.pop()
        nodes += 1
        if nodes > NODES:
            raise MessageRefused("size")
        if depth > DEPTH:
            raise MessageRefused("depth")
        if isinstance(value, list):
            pending += ((item, depth + 1) for item in value)


def _check_value(value: Any) -> None:
    """Check one value; it was found to be neither too deep nor too large before."""
    if value is None or isinstance(value, str | bool):
        return
    if isinstance(value, int | float):
        _check_number(value)
        return
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        raise MessageRefused("value")
    check = _FORMS.get(value[0])
    if check is None or not check(value[1:]):
        raise MessageRefused("value")


def _check_number(value: float) -> None:
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        raise MessageRefused("number")


def _texts(rest: list[Any], *patterns: re.Pattern[str]) -> bool:
    return len(rest) == len(patterns) and all(
        isinstance(text, str) and pattern.fullmatch(text) is not None
        for text, pattern in zip(rest, patterns, strict=True)
    )


def _is_date(rest: list[Any]) -> bool:
    if len(rest) != 1:
        return False
    moment = rest[0]
    return moment is None or (type(moment) in (int, float) and abs(moment) <= _LATEST_DATE)


def _are_values(rest: list[Any]) -> bool:
    if len(rest) != 1 or not isinstance(rest[0], list):
        return False
    for item in rest[0]:
        if item != ["h"]:
            _check_value(item)
    return True


def _are_pairs(rest: list[Any], *, named: bool) -> bool:
    if len(rest) != 1 or not isinstance(rest[0], list):
        return False
    for pair in rest[0]:
        if not isinstance(pair, list) or len(pair) != 2 or (named and not isinstance(pair[0], str)):
            return False
        for part in pair:
            _check_value(part)
    return True


def _is_error(rest: list[Any]) -> bool:
    if len(rest) != 3:
        return False
    return isinstance(rest[0], str) and isinstance(rest[1], str) and _are_pairs(rest[2:], named=True)


_ANY = re.compile(r".*", re.DOTALL)
_FORMS: Mapping[str, Callable[[list[Any]], bool]] = {
    "u": lambda rest: not rest,
    "n": lambda rest: len(rest) == 1 and isinstance(rest[0], str) and rest[0] in _SPECIAL_NUMBERS,
    "i": lambda rest: _texts(rest, _INTEGER),
    "d": _is_date,
    "a": _are_values,
    "s": _are_values,
    "m": lambda rest: _are_pairs(rest, named=False),
    "o": lambda rest: _are_pairs(rest, named=True),
    "b": lambda rest: _texts(rest, _BASE64),
    "r": lambda rest: _texts(rest, _ANY, _FLAGS),
    "e": _is_error,
}
