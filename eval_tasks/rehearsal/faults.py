"""The faults that a server can make: what each one sends instead of, or on top of, an honest behaviour.

A table and nothing else; it must never decide what a fault means for a trial, which is the agent module's work.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from eval_tasks.errors import ExperimentStopped
from eval_tasks.rehearsal.behaviour import Behaviour, Fault, Reply, Run, Say, Silence, Step, UsageReport, sse

LONG_LINE_BYTES = 20_000_000
HUGE_OUTPUT_BYTES = 50_000_000
TRANSIENT_ERRORS = 4
SURROGATE = "\ud835"

Spoil = Callable[[Behaviour], Behaviour]


def _always(reply: Reply) -> Spoil:
    return lambda honest: replace(honest, fault=Fault(reply=reply))


def _cut(where: float, times: int | None = None) -> Spoil:
    return lambda honest: replace(honest, fault=Fault(cut=where, times=times))


def _first(*steps: Step) -> Spoil:
    return lambda honest: replace(honest, steps=(*steps, *honest.steps))


def _surrogates(honest: Behaviour) -> Behaviour:
    steps = (Run(f"echo {SURROGATE}"), *honest.steps[:-1], Say(SURROGATE))
    return replace(honest, steps=steps)


def _status(status: int, kind: str, headers: Mapping[str, str] | None = None, **more: Any) -> Spoil:
    error = {"type": kind, "code": kind, "message": kind.replace("_", " "), **more}
    lines = {"Content-Type": "application/json", **(headers or {})}
    return _always(Reply(json.dumps({"error": error}).encode(), status=status, headers=tuple(lines.items())))


def _ended(kind: str, **response: Any) -> Spoil:
    return _always(Reply(sse([{"type": kind, "response": {"id": "resp_0", **response}}])))


_GARBLED = b'data: {"type":"response.output_item.done","item":\n\ndata: \xff\xfe\n\ndata: []\n\nevent: x\nnonsense\n\n'
_RATE_LIMIT = {"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 1.5s."}

FAULTS: Mapping[str, Spoil] = {
    # Survived: the honest behaviour comes after it.
    "transient": _cut(0.5, times=TRANSIENT_ERRORS),
    "huge-output": _first(Run(f"head -c {HUGE_OUTPUT_BYTES} /dev/zero | tr '\\0' x")),
    "surrogates": _surrogates,
    "zero-usage": lambda honest: replace(honest, usage=UsageReport.ZERO),
    "missing-usage": lambda honest: replace(honest, usage=UsageReport.MISSING),
    # The turn fails, or says nothing.
    "unauthorized": _status(401, "invalid_api_key"),
    "rate-limited": _status(429, "rate_limit_exceeded"),
    "retry-after": _status(429, "rate_limit_exceeded", {"Retry-After": "1"}),
    "quota": _status(429, "insufficient_quota"),
    "usage-limit": _status(429, "usage_limit_reached", plan_type="plus", resets_at=4102444800),
    "server-error": _status(500, "server_error"),
    "cut": _cut(0.5),
    "malformed": _always(Reply(_GARBLED)),
    "response-failed": _ended("response.failed", error={"code": "server_error", "message": "It failed."}),
    "response-rate-limited": _ended("response.failed", error=_RATE_LIMIT),
    "response-quota": _ended("response.failed", error={"code": "insufficient_quota", "message": "No credit."}),
    "response-incomplete": _ended("response.incomplete", incomplete_details={"reason": "max_output_tokens"}),
    "empty": _ended("response.completed"),
    "connection-refused": lambda honest: replace(honest, fault=Fault(refused=True)),
    # Only a limit of the caller ends these.
    "no-headers": _always(Reply(silence=Silence.BEFORE_HEADERS)),
    "no-events": _always(Reply(silence=Silence.AFTER_HEADERS)),
    "endless-loop": lambda honest: replace(honest, steps=(Run("true"),), endless=True),
    "long-line": lambda honest: replace(honest, steps=(*honest.steps[:-1], Say("x" * LONG_LINE_BYTES))),
}

NUMBERED: Mapping[str, Callable[[int], Spoil]] = {
    "cut": _cut,
    "status": lambda code: _status(code, "error"),
}
"""Faults with a number after their name: every reply cut after so many bytes, or answered with that HTTP status."""


def spoiled(name: str, honest: Behaviour) -> Behaviour:
    """Return an honest behaviour with the fault that `fault:<name>` or `fault:<name>:<number>` means.

    Raises
    ------
    ExperimentStopped
        There is no such fault.
    """
    _, _, spelled = name.partition(":")
    word, colon, number = spelled.partition(":")
    if not colon and word in FAULTS:
        return FAULTS[word](honest)
    if number.isdecimal() and word in NUMBERED:
        return NUMBERED[word](int(number))(honest)
    known = [*FAULTS, *(f"{word}:<number>" for word in NUMBERED)]
    raise ExperimentStopped(f"rehearsal: unknown fault `{name}`; known: {', '.join(sorted(known))}")
