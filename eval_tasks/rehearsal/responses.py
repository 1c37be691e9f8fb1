"""The Responses protocol, which Codex speaks: how its requests are read and how a step of the model looks in it.

Pure; it must never know a case, a probe or a network connection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from eval_tasks.rehearsal.behaviour import (
    Patch,
    Reply,
    Run,
    Say,
    Step,
    UsageReport,
    cached,
    call_id,
    parts,
    sse,
    tokens,
)

YIELD_MILLISECONDS = 30_000
"""How long a command may run before the agent hands back an unfinished session instead of the output."""

_METADATA = "x-codex-turn-metadata"


def answered(request: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tool outputs that a request carries, by call id, oldest first."""
    return {item["call_id"]: item for item in request["input"] if item["type"].endswith("_output")}


def messages(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return role and text of the messages that a request carries; a call's prompt is the last one of its first."""
    found = [item for item in request["input"] if item["type"] == "message"]
    return [(item["role"], "".join(part.get("text", "") for part in item["content"])) for item in found]


def compacts(request: Mapping[str, Any]) -> bool:
    """Tell whether the agent asks for a summary of its own history instead of the next step."""
    metadata: dict[str, Any] = json.loads(request.get("client_metadata", {}).get(_METADATA, "{}"))
    return metadata.get("request_kind") == "compaction"


def tokens_read(request: Mapping[str, Any]) -> int:
    """Return the made-up token count of a request: a quarter of the bytes that a model would read."""
    return tokens([request.get(part) for part in ("instructions", "tools", "input")])


def reply(step: Step, request: Mapping[str, Any], *, index: int, before: int, report: UsageReport) -> Reply:
    """Return the honest reply that takes a step; parameters as in `behaviour.Wire`."""
    item = _item(step, request, call_id(index))
    response: dict[str, Any] = {"id": f"resp_{index}"}
    usage = _usage_of(tokens_read(request), before, item, report)
    return Reply(
        sse(
            [
                {"type": "response.created", "response": response},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response if usage is None else {**response, "usage": usage}},
            ]
        )
    )


def _item(step: Step, request: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a step as the output item that the agent understands.

    Some models get their tools one by one, others only a JavaScript tool that reaches the rest ("code mode"); to those
    the agent sends no list of tools of its own.
    """
    if isinstance(step, Say):
        content = [{"type": "output_text", "text": part} for part in parts(step.text)]
        return {"type": "message", "role": "assistant", "content": content}
    if "tools" not in request:
        return {"type": "custom_tool_call", "call_id": name, "name": "exec", "input": _javascript(step)}
    if isinstance(step, Patch):
        return {"type": "custom_tool_call", "call_id": name, "name": "apply_patch", "input": step.text}
    arguments = json.dumps(_arguments(step))
    return {"type": "function_call", "call_id": name, "name": "exec_command", "arguments": arguments}


def _javascript(step: Run | Patch) -> str:
    if isinstance(step, Patch):
        return f"text(await tools.apply_patch({json.dumps(step.text)}));"
    return f"text(await tools.exec_command({json.dumps(_arguments(step))}));"


def _arguments(step: Run) -> dict[str, Any]:
    return {"cmd": step.command, "yield_time_ms": YIELD_MILLISECONDS}


def _usage_of(read: int, before: int, item: Mapping[str, Any], report: UsageReport) -> dict[str, Any] | None:
    if report is UsageReport.MISSING:
        return None
    if report is UsageReport.ZERO:
        return _usage(0, 0, 0)
    return _usage(read, cached(read, before), tokens(item))


def _usage(read: int, from_cache: int, written: int) -> dict[str, Any]:
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": from_cache},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
