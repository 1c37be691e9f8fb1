"""The Messages protocol, which Claude Code speaks: how its requests are read and how a step of the model looks in it.

Pure; it must never know a case, a probe or a network connection.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval_tasks.rehearsal.behaviour import Edit, Reply, Run, Say, Step, UsageReport, cached, call_id, parts, sse, tokens

_JSON = (("Content-Type", "application/json"),)
_MODEL = "rehearsal"


def answered(request: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tool outputs that a request carries, by the id of the tool call, oldest first."""
    return {
        block["tool_use_id"]: {"output": _text(block.get("content", "")), "failed": block.get("is_error", False)}
        for message in request["messages"]
        for block in _blocks(message)
        if block["type"] == "tool_result"
    }


def messages(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return role and text of each text block that a request carries; a call's prompt is the last one of its first."""
    return [
        (message["role"], block["text"])
        for message in request["messages"]
        for block in _blocks(message)
        if block["type"] == "text"
    ]


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def compacts(request: Mapping[str, Any]) -> bool:
    """Tell that the agent asks for the next step: Claude Code marks no request as one for a summary."""
    _ = request
    return False


def tokens_read(request: Mapping[str, Any]) -> int:
    """Return the made-up token count of a request: a quarter of the bytes that a model would read."""
    return tokens([request.get(part) for part in ("system", "tools", "messages")])


def reply(step: Step, request: Mapping[str, Any], *, index: int, before: int, report: UsageReport) -> Reply:
    """Return the honest reply that takes a step, streamed or whole as the request asks; as in `behaviour.Wire`."""
    content = _content(step, index)
    read = tokens_read(request)
    usage = _usage(read, cached(read, before), tokens(content), report)
    message = {
        **{"id": f"msg_{index}", "type": "message", "role": "assistant", "model": _MODEL, "content": content},
        **{"stop_reason": "end_turn" if isinstance(step, Say) else "tool_use", "stop_sequence": None},
        **usage,
    }
    if not request.get("stream"):
        return Reply(json.dumps(message).encode("ascii"), headers=_JSON)
    return Reply(sse(_events(message, usage), named=True))


def _content(step: Step, index: int) -> list[dict[str, Any]]:
    """Return a step as content blocks: a message, or tool calls that the agent makes one after the other."""
    if isinstance(step, Say):
        return [{"type": "text", "text": step.text}]
    calls = [_bash(step.command)] if isinstance(step, Run) else [call for edit in step.edits for call in _edit(edit)]
    if not calls:
        raise ValueError("a patch without its edits can't be played to an agent that writes files whole")
    return [
        {"type": "tool_use", "id": call_id(index, part), "name": name, "input": arguments}
        for part, (name, arguments) in enumerate(calls)
    ]


def _bash(command: str) -> tuple[str, dict[str, Any]]:
    return "Bash", {"command": command, "description": "Go on"}


def _edit(edit: Edit) -> Iterator[tuple[str, dict[str, Any]]]:
    if edit.content is None:
        yield _bash(f"rm -- {shlex.quote(f'./{edit.path}')}")
        return
    if edit.existed:
        # Claude Code writes over a file only when it has read it.
        yield "Read", {"file_path": edit.path}
    yield "Write", {"file_path": edit.path, "content": edit.content}


def _events(message: Mapping[str, Any], usage: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events by which a message is streamed."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        empty = {**block, **({"text": ""} if block["type"] == "text" else {"input": {}})}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, **usage}
    yield {"type": "message_stop"}


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": part} for part in parts(block["text"]))
    else:
        yield from ({"type": "input_json_delta", "partial_json": part} for part in parts(json.dumps(block["input"])))


def _usage(read: int, from_cache: int, written: int, report: UsageReport) -> dict[str, Any]:
    if report is UsageReport.MISSING:
        return {}
    if report is UsageReport.ZERO:
        read = from_cache = written = 0
    return {
        "usage": {
            "input_tokens": read - from_cache,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": from_cache,
            "output_tokens": written,
        }
    }
