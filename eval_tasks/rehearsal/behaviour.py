"""What the loopback model can do in one call, whatever protocol an agent speaks to it.

Pure; it must never know a case, a probe, an agent or a network connection.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

BYTES_A_TOKEN = 4
CACHE_BLOCK_TOKENS = 128
"""Providers cache prefixes in blocks; the made-up usage does so too."""

PART_CHARACTERS = 10_000
LINE_CHARACTERS = 65_536
"""A longer event is sent as many lines of one event: Codex takes quadratic time to read a long line."""

_EVENT_STREAM = (("Content-Type", "text/event-stream"),)


@dataclass(frozen=True)
class Say:
    """End the turn with this message."""

    text: str


@dataclass(frozen=True)
class Run:
    """Run one shell command through the agent's own tool."""

    command: str


@dataclass(frozen=True)
class Edit:
    """One file that a patch writes or deletes.

    Parameters
    ----------
    path
        Relative to the workspace.
    content
        The whole new text; None deletes the file.
    existed
        Whether there is such a file before the patch.
    """

    path: str
    content: str | None
    existed: bool


@dataclass(frozen=True)
class Patch:
    """Apply one patch through the agent's own tools.

    Parameters
    ----------
    text
        In the patch language, for agents that have one.
    edits
        The same, file by file, for agents that write files whole.
    """

    text: str
    edits: tuple[Edit, ...] = ()


Step = Say | Run | Patch

SUMMARY = Say("The files show what has been done; go on from there.")
"""The answer to an agent that summarizes its history because it outgrew the context window."""


class UsageReport(StrEnum):
    """What the last event of a reply says about usage."""

    COUNTED = "counted"
    ZERO = "zero"
    MISSING = "missing"


class Silence(StrEnum):
    """Where a reply stops while the connection stays open."""

    BEFORE_HEADERS = "before-headers"
    AFTER_HEADERS = "after-headers"


@dataclass(frozen=True)
class Reply:
    """One HTTP reply, as it will be sent.

    Parameters
    ----------
    body
        The bytes after the headers.
    status, headers
        As in HTTP.
    cut
        The connection is closed after this many bytes of the body; None sends all of it.
    silence
        Where the reply stops without an end, if it does.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = _EVENT_STREAM
    cut: int | None = None
    silence: Silence | None = None


@dataclass(frozen=True)
class Fault:
    """What spoils the replies of a call.

    Parameters
    ----------
    reply
        Sent instead of the honest reply, if given.
    cut
        Where the honest reply is cut: a fraction is a share of its body, a whole number counts bytes.
    times
        How many requests are spoiled, from the first on; None spoils every one.
    refused
        Nothing listens at the endpoint at all.
    """

    reply: Reply | None = None
    cut: float | None = None
    times: int | None = None
    refused: bool = False

    def spoil(self, honest: Reply, number: int) -> Reply:
        """Return what is sent instead of the honest reply to the request of this number, which counts from 1."""
        if self.times is not None and number > self.times:
            return honest
        if self.reply is not None:
            return self.reply
        if self.cut is None:
            return honest
        cut = int(self.cut * len(honest.body)) if isinstance(self.cut, float) else self.cut
        return Reply(honest.body, cut=cut)


@dataclass(frozen=True)
class Behaviour:
    """What the model does in one call.

    Parameters
    ----------
    name
        As the script spells it.
    steps
        One for each request that carries another tool output; the last one repeats.
    fault, usage
        What is wrong with the replies, and what they say about usage.
    endless
        Begin again with the first step after the last one.
    """

    name: str
    steps: tuple[Step, ...]
    fault: Fault | None = None
    usage: UsageReport = UsageReport.COUNTED
    endless: bool = False

    def step(self, index: int) -> Step:
        """Return the step to take after so many tool outputs."""
        return self.steps[index % len(self.steps) if self.endless else min(index, len(self.steps) - 1)]


class Wire(Protocol):
    """One protocol between an agent and its model; a module satisfies it."""

    def answered(self, request: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the tool outputs that a request carries, by the ids that `reply` gave, oldest first."""

    def compacts(self, request: Mapping[str, Any]) -> bool:
        """Tell whether the agent asks for a summary of its own history instead of the next step."""

    def tokens_read(self, request: Mapping[str, Any]) -> int:
        """Return the made-up token count of a request."""

    def reply(self, step: Step, request: Mapping[str, Any], *, index: int, before: int, report: UsageReport) -> Reply:
        """Return the honest reply that takes a step.

        Parameters
        ----------
        index
            How many steps were taken before.
        before
            Tokens of the request before this one, which is a prefix of it.
        """


def call_id(index: int, part: int | None = None) -> str:
    """Return the id of a step's tool call, or of one of its tool calls."""
    return f"call_{index}" if part is None else f"call_{index}_{part}"


def steps_taken(ids: Iterable[str]) -> int:
    """Return how many steps some tool outputs come from."""
    return len({name.split("_")[1] for name in ids})


def tokens(value: object) -> int:
    """Return a made-up token count: a quarter of the bytes of a value's JSON."""
    return math.ceil(len(json.dumps(value)) / BYTES_A_TOKEN)


def cached(read: int, before: int) -> int:
    """Return how many of a request's tokens are cached: whole blocks of the request before it."""
    return min(read, before // CACHE_BLOCK_TOKENS * CACHE_BLOCK_TOKENS)


def parts(text: str) -> list[str]:
    """Return a message in parts of a bearable size."""
    return [text[at : at + PART_CHARACTERS] for at in range(0, len(text), PART_CHARACTERS)]


def sse(events: Iterable[Mapping[str, Any]], *, named: bool = False) -> bytes:
    """Return events as a server-sent stream; JSON's escapes carry lone surrogates, which no encoder lets through.

    Parameters
    ----------
    named
        Whether each event is headed by its type, as the Messages protocol wants it.
    """
    return b"".join((f"event: {event['type']}\n".encode() if named else b"") + _event(event) for event in events)


def _event(event: Mapping[str, Any]) -> bytes:
    text = json.dumps(event)
    lines = [text] if len(text) <= LINE_CHARACTERS else json.dumps(event, separators=(",\n", ": ")).split("\n")
    return b"".join(b"data: " + line.encode("ascii") + b"\n" for line in lines) + b"\n"
