"""What the loopback model can do in one call, and how a step of it looks in the Responses protocol.

Pure; it must never know a case, a probe or a network connection.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

BYTES_A_TOKEN = 4
CACHE_BLOCK_TOKENS = 128
"""Providers cache prefixes in blocks; the made-up usage does so too."""

YIELD_MILLISECONDS = 30_000
"""How long a command may run before the agent hands back an unfinished session instead of the output."""

PART_CHARACTERS = 10_000
LINE_CHARACTERS = 65_536
"""A longer event is sent as many lines of one event: Codex takes quadratic time to read a long line."""

_EVENT_STREAM = (("Content-Type", "text/event-stream"),)
_METADATA = "x-codex-turn-metadata"


@dataclass(frozen=True)
class Say:
    """End the turn with this message."""

    text: str


@dataclass(frozen=True)
class Run:
    """Run one shell command through the agent's own tool."""

    command: str


@dataclass(frozen=True)
class Patch:
    """Apply one patch, in the agent's own patch language."""

    text: str


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


def sse(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Return events as a server-sent stream; JSON's escapes carry lone surrogates, which no encoder lets through."""
    return b"".join(_event(event) for event in events)


def _event(event: Mapping[str, Any]) -> bytes:
    text = json.dumps(event)
    lines = [text] if len(text) <= LINE_CHARACTERS else json.dumps(event, separators=(",\n", ": ")).split("\n")
    return b"".join(b"data: " + line.encode("ascii") + b"\n" for line in lines) + b"\n"


def answered(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool outputs that a request carries, oldest first."""
    return [item for item in request["input"] if item["type"].endswith("_output")]


def messages(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return role and text of the messages that a request carries; a call's prompt is the last one of its first."""
    found = [item for item in request["input"] if item["type"] == "message"]
    return [(item["role"], "".join(part.get("text", "") for part in item["content"])) for item in found]


def compacts(request: Mapping[str, Any]) -> bool:
    """Tell whether the agent asks for a summary of its own history instead of the next step."""
    metadata: dict[str, Any] = json.loads(request.get("client_metadata", {}).get(_METADATA, "{}"))
    return metadata.get("request_kind") == "compaction"


def item_of(step: Step, request: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    """Return a step as the output item that the agent understands.

    Some models get their tools one by one, others only a JavaScript tool that reaches the rest ("code mode"); to those
    the agent sends no list of tools of its own.
    """
    if isinstance(step, Say):
        parts = [step.text[at : at + PART_CHARACTERS] for at in range(0, len(step.text), PART_CHARACTERS)]
        content = [{"type": "output_text", "text": part} for part in parts]
        return {"type": "message", "role": "assistant", "content": content}
    if "tools" not in request:
        return {"type": "custom_tool_call", "call_id": call_id, "name": "exec", "input": _javascript(step)}
    if isinstance(step, Patch):
        return {"type": "custom_tool_call", "call_id": call_id, "name": "apply_patch", "input": step.text}
    arguments = json.dumps(_arguments(step))
    return {"type": "function_call", "call_id": call_id, "name": "exec_command", "arguments": arguments}


def _javascript(step: Run | Patch) -> str:
    if isinstance(step, Patch):
        return f"text(await tools.apply_patch({json.dumps(step.text)}));"
    return f"text(await tools.exec_command({json.dumps(_arguments(step))}));"


def _arguments(step: Run) -> dict[str, Any]:
    return {"cmd": step.command, "yield_time_ms": YIELD_MILLISECONDS}


def stream(index: int, item: Mapping[str, Any], usage: Mapping[str, Any] | None) -> bytes:
    """Return the honest body of a reply that holds one item."""
    response: dict[str, Any] = {"id": f"resp_{index}"}
    return sse(
        [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response if usage is None else {**response, "usage": usage}},
        ]
    )


def tokens_read(request: Mapping[str, Any]) -> int:
    """Return the made-up token count of a request: a quarter of the bytes that a model would read."""
    return _tokens([request.get(part) for part in ("instructions", "tools", "input")])


def usage_of(read: int, cached: int, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the made-up usage of a reply.

    Parameters
    ----------
    read
        Tokens of the request.
    cached
        Tokens of the request before it, which is a prefix of this one; whole blocks of them are cached.
    item
        What is written.
    """
    return _usage(read, min(read, cached // CACHE_BLOCK_TOKENS * CACHE_BLOCK_TOKENS), _tokens(item))


def no_usage() -> dict[str, Any]:
    """Return usage that is all zero."""
    return _usage(0, 0, 0)


def _tokens(value: object) -> int:
    return math.ceil(len(json.dumps(value)) / BYTES_A_TOKEN)


def _usage(read: int, cached: int, written: int) -> dict[str, Any]:
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
