"""The output of `claude -p`: bytes of stdout and the way the process ended, to what they say.

Pure; must never take a word of the stream for a verdict on the work, nor keep text beyond the last message in memory.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_tasks.agents import skill_reads
from eval_tasks.agents.contract import Reading, Usage
from eval_tasks.errors import FailureCode
from eval_tasks.processes import Finished

_AUTHENTICATION = re.compile(
    r"not logged in|please run /login|invalid api key|invalid bearer token|oauth token (?:has expired|revoked)"
    r"|authentication_error|permission_error|organization has been disabled",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"usage limit|hit your (?:\w+ )?limit|(?:session|weekly|daily|monthly) limit reached|credit balance is too low"
    r"|out of (?:extra )?(?:usage|credits)|spend(?:ing)? limit|billing_error|insufficient.quota|quota exceeded",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate.?limit|too many requests|overloaded", re.IGNORECASE)
_RETRY_IN = re.compile(r"(?i:try again in|retry after) (\d+(?:\.\d+)?) ?(?:s|sec|seconds?)\b")
_RETRY_AT = re.compile(
    r"(?i:resets?(?: at)?) ((?:[A-Z][a-z]{2,8} \d{1,2},? (?:at )?)?\d{1,2}(?::\d\d)? ?[ap]m)", re.IGNORECASE
)
_START_ERROR = re.compile(r"\bbwrap: ")
_AUTHENTICATION_STATUS = (401, 403)
_PAYMENT_STATUS = 402
_RATE_STATUS = (429, 529)

_COMMAND = "Bash"
_PATCHES = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_MOST_TOOLS = 1000
"""An endless loop of tools is looked through for skills no further."""


@dataclass
class _Tool:
    """What is known of one tool call."""

    name: str
    arguments: Mapping[str, Any]
    failed: bool = False


@dataclass
class _Tally:
    """What a stream adds up to, event by event."""

    events: int = 0
    malformed: bool = False
    results: list[dict[str, Any]] = field(default_factory=list)
    after_the_end: bool = False
    retries: int = 0
    tools: dict[str, _Tool] = field(default_factory=dict)
    skills: list[str] | None = None


def read(finished: Finished, installed: Collection[str], *, skills: str, roots: Mapping[str, str], cwd: str) -> Reading:
    """Return what a finished call's output says, whether it is a stream of events or one result.

    Parameters
    ----------
    installed
        Ids of the skills in the call's install; no other text of the stream can become an id.
    skills, roots, cwd
        As `skill_reads.opened` takes them.
    """
    tally = _Tally()
    for line in finished.stdout.splitlines():
        _count_line(tally, line.strip())
    failure, text = _failure(finished, tally)
    tools = list(tally.tools.values())
    commands = [tool for tool in tools if tool.name == _COMMAND]
    patches = [tool for tool in tools if tool.name in _PATCHES]
    opened, unknown = _opened(tools[:_MOST_TOOLS], installed, skills, roots, cwd)
    within, at = (
        (_RETRY_IN.search(text), _RETRY_AT.search(text)) if failure is FailureCode.RATE_LIMITED else (None, None)
    )
    completed = len(tally.results) == 1 and not tally.after_the_end and _completed(tally.results[0])
    result = tally.results[0] if completed else {}
    return Reading(
        failure=failure,
        stops_run=failure is FailureCode.AUTHENTICATION
        or (failure is FailureCode.RATE_LIMITED and bool(_SPENT.search(text))),
        retry_after_seconds=None if within is None else float(within[1]),
        retry_at=None if at is None else at[1],
        usage=usage_of(result),
        transient_errors=tally.retries,
        commands=len(commands),
        failed_commands=sum(tool.failed for tool in commands),
        patches=len(patches),
        failed_patches=sum(tool.failed for tool in patches),
        opened_skills=tuple(sorted(opened)),
        unknown_opens=unknown,
        install_alarms=0 if tally.skills is None else len(set(installed) - set(tally.skills)),
        message=_text(result) if failure is None else None,
    )


def usage_of(result: Mapping[str, Any]) -> Usage | None:
    """Return the counters of a result, or None where they are missing, malformed or all zero.

    Claude Code counts what was written to and read from the cache beside the input; ours counts them in it. It prints
    zeros for a usage that the provider left out, so all zero is unknown.
    """
    counters = result.get("usage")
    if not isinstance(counters, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    asked = [counters.get(name, 0 if name.startswith("cache_") else None) for name in names]
    # JSON's true is an int to Python, and a float is no counter.
    found = [count for count in asked if type(count) is int and count >= 0]
    if len(found) < len(names):
        return None
    fresh, written, cached, output = found
    total = fresh + written + cached
    return Usage(total, cached, output) if total or output else None


def _count_line(tally: _Tally, line: bytes) -> None:
    # Noise between events is tolerated; a line that begins like an event has to be one.
    if not line.startswith(b"{"):
        return
    try:
        event = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        tally.malformed = True
        return
    kind = event.get("type")
    if not isinstance(kind, str):
        tally.malformed = True
        return
    tally.events += 1
    tally.after_the_end |= bool(tally.results) and kind in {"assistant", "user"}
    if kind == "result":
        tally.results.append(event)
    elif kind == "system":
        _count_notice(tally, event)
    elif kind in {"assistant", "user"}:
        for block in _blocks(event):
            _count_block(tally, block)


def _count_notice(tally: _Tally, event: Mapping[str, Any]) -> None:
    tally.retries += event.get("subtype") == "api_retry"
    if event.get("subtype") == "init" and isinstance(event.get("skills"), list):
        tally.skills = [name for name in event["skills"] if isinstance(name, str)]


def _blocks(event: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    yield from (block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()


def _count_block(tally: _Tally, block: Mapping[str, Any]) -> None:
    if block.get("type") == "tool_use":
        name, arguments = block.get("name"), block.get("input")
        tool = _Tool(name if isinstance(name, str) else "", arguments if isinstance(arguments, dict) else {})
        # Without an id a call stands alone.
        tally.tools[str(block.get("id", f"#{len(tally.tools)}"))] = tool
    elif block.get("type") == "tool_result":
        known = tally.tools.get(str(block.get("tool_use_id")))
        if known is not None:
            known.failed = block.get("is_error") is True


def _failure(finished: Finished, tally: _Tally) -> tuple[FailureCode | None, str]:
    """Return why a call is no completed turn, and the text that says so."""
    if finished.stopped_by == "wall":
        return FailureCode.CALL_TIMEOUT, ""
    if finished.stopped_by == "output":
        return FailureCode.OUTPUT_LIMIT, ""
    if tally.malformed or tally.after_the_end or len(tally.results) > 1:
        return FailureCode.INVALID_STREAM, ""
    return _judged(finished, tally.results[0]) if tally.results else _unfinished(finished, tally)


def _unfinished(finished: Finished, tally: _Tally) -> tuple[FailureCode, str]:
    """Return why there is no result; once a turn runs, stderr belongs to its tools as well and says nothing of that."""
    text = "" if tally.events else finished.stderr_tail.decode("utf-8", "replace")
    if _START_ERROR.search(text):
        return FailureCode.SANDBOX_UNAVAILABLE, ""
    return classify(None, text), text


def _judged(finished: Finished, result: Mapping[str, Any]) -> tuple[FailureCode | None, str]:
    # `subtype` says success for every error of the provider as well.
    if finished.exit_status == 0 and _completed(result):
        return None, ""
    text = _text(result) if result.get("is_error") is not False else ""
    return classify(result.get("api_error_status"), text), text


def _completed(result: Mapping[str, Any]) -> bool:
    """Return whether a result is that of a turn which came to its end."""
    ends = result.get("subtype") == "success" and result.get("terminal_reason", "completed") == "completed"
    return ends and result.get("is_error") is False


def _text(result: Mapping[str, Any]) -> str:
    text, errors = result.get("result"), result.get("errors")
    if isinstance(text, str):
        return text
    return "\n".join(error for error in errors if isinstance(error, str)) if isinstance(errors, list) else ""


def classify(status: Any, text: str) -> FailureCode:
    """Return the failure code that an HTTP status of the provider and the agent's own error message mean."""
    if status == _PAYMENT_STATUS or _SPENT.search(text):
        return FailureCode.RATE_LIMITED
    if status in _AUTHENTICATION_STATUS or _AUTHENTICATION.search(text):
        return FailureCode.AUTHENTICATION
    if status in _RATE_STATUS or _RATE.search(text):
        return FailureCode.RATE_LIMITED
    return FailureCode.AGENT_FAILED


def _opened(
    tools: list[_Tool], installed: Collection[str], skills: str, roots: Mapping[str, str], cwd: str
) -> tuple[set[str], int]:
    """Return the installed skills that were loaded, through the tool for it or by reading the file; and other loads."""
    ids: set[str] = set()
    unknown = 0
    for tool in tools:
        if tool.name == "Skill":
            asked = str(tool.arguments.get("skill", "")).removeprefix("/")
            known = asked in installed and not tool.failed
            found, others = ({asked} if known else set()), int(not known)
        else:
            command = _reading(tool)
            found, others = skill_reads.opened(command, installed, skills=skills, roots=roots, cwd=cwd)
        ids |= found
        unknown += others
    return ids, unknown


def _reading(tool: _Tool) -> str:
    """Return a tool call that can read a file as the shell command that would."""
    if tool.name == "Read" and not tool.failed:
        return f"cat {shlex.quote(str(tool.arguments.get('file_path', '')))}"
    return str(tool.arguments.get("command", "")) if tool.name == _COMMAND else ""
