"""The event stream of `codex exec --json`: bytes of stdout and the way the process ended, to what they say.

Pure; must never take a word of the stream for a verdict on the work, nor keep text beyond the last message in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_tasks.agents import skill_reads
from eval_tasks.agents.contract import Reading, Usage
from eval_tasks.errors import FailureCode
from eval_tasks.processes import Finished

_AUTHENTICATION = re.compile(
    r"status:? 401\b|401 unauthorized|not logged in|log ?in again|sign in again|missing environment variable"
    r"|refresh token|could not be refreshed|invalid_api_key|token (?:is|has) (?:expired|been)",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"hit your usage limit|usage limit (?:has been )?reached|quota exceeded|exceeded your current quota"
    r"|insufficient_quota|status:? 402\b|to use codex with your|out of credits",
    re.IGNORECASE,
)
_RATE = re.compile(r"status:? 429\b|rate limit|too many requests", re.IGNORECASE)
_RETRY_IN = re.compile(
    r"(?i:try again in) (\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec(?:onds?)?|m|min(?:utes?)?|h|hours?|d|days?)\b"
)
_RETRY_AT = re.compile(r"(?i:try again at) ((?:[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?, \d{4},? )?\d{1,2}:\d\d ?[AP]M)")
_SECONDS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0, "d": 86400.0}
_SKILL_FAULT = re.compile(r"\bskills?\b", re.IGNORECASE)
_SKILL_BUDGET = re.compile(r"skills context budget", re.IGNORECASE)
_SANDBOX_ERROR = re.compile(
    r"\A\s*(?:bwrap: |error running landlock|sandbox error|.{0,200}codex-linux-sandbox)", re.IGNORECASE
)
_START_ERROR = re.compile(r"sandbox helper failed|\bbwrap: ")
_LOAD_ERROR = re.compile(r"\bcodex_core\S*: failed to (?:load skill|install system skills)")
_MOST_COMMANDS = 1000
"""An endless loop of commands is looked through for skills no further."""

_TURN_EVENTS = ("thread.", "turn.", "item.")


@dataclass
class _Item:
    """What is known of one command or patch."""

    kind: str
    command: str = ""
    failed: bool = False
    output: str = ""


@dataclass
class _Tally:
    """What a stream adds up to, event by event."""

    events: int = 0
    malformed: bool = False
    completed: list[Any] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    after_the_end: bool = False
    items: dict[str, _Item] = field(default_factory=dict)
    install_alarms: int = 0
    message: str | None = None


def read(finished: Finished, installed: Collection[str], *, skills: str, roots: Mapping[str, str], cwd: str) -> Reading:
    """Return what a finished call's stream says.

    Parameters
    ----------
    installed
        Ids of the skills in the call's install; no other text of the stream can become an id.
    skills, roots, cwd
        As `skill_reads.opened` takes them.
    """
    tally = _Tally()
    for line in _lines(finished.stdout):
        _count_line(tally, line)
    failure, text = _failure(finished, tally)
    items = list(tally.items.values())
    commands = [item for item in items if item.kind == "command_execution"]
    patches = [item for item in items if item.kind == "file_change"]
    opened, unknown = _opened(commands, installed, skills, roots, cwd)
    retry_in, retry_at = _retry(text) if failure is FailureCode.RATE_LIMITED else (None, None)
    return Reading(
        failure=failure,
        stops_run=failure is FailureCode.AUTHENTICATION
        or (failure is FailureCode.RATE_LIMITED and bool(_SPENT.search(text))),
        retry_after_seconds=retry_in,
        retry_at=retry_at,
        usage=usage_of(tally.completed[0]) if len(tally.completed) == 1 and not tally.after_the_end else None,
        transient_errors=_transient(tally),
        commands=len(commands),
        failed_commands=sum(item.failed for item in commands),
        patches=len(patches),
        failed_patches=sum(item.failed for item in patches),
        sandbox_dead=_sandbox_dead(commands, patches),
        opened_skills=tuple(sorted(opened)),
        unknown_opens=unknown,
        install_alarms=tally.install_alarms + len(_LOAD_ERROR.findall(_stderr(finished))),
        message=tally.message,
    )


def usage_of(event: Any) -> Usage | None:
    """Return the counters of a `turn.completed` event, or None where they are missing, malformed or all zero.

    Codex prints zeros for a usage that the provider left out, so all zero is unknown.
    """
    counters = event.get("usage") if isinstance(event, dict) else None
    if not isinstance(counters, dict):
        return None
    read, cached, written = (counters.get(name) for name in ("input_tokens", "cached_input_tokens", "output_tokens"))
    # JSON's true is an int to Python, and a float is no counter.
    if type(read) is not int or type(cached) is not int or type(written) is not int:
        return None
    if min(read, cached, written) < 0 or cached > read or read == written == 0:
        return None
    return Usage(read, cached, written)


def _lines(stdout: bytes) -> Iterator[bytes]:
    """Yield lines one by one, so that a long stream is never held twice."""
    start = 0
    while start < len(stdout):
        end = stdout.find(b"\n", start)
        end = len(stdout) if end < 0 else end
        yield stdout[start:end].strip()
        start = end + 1


def _count_line(tally: _Tally, line: bytes) -> None:
    # Tracing noise between events is tolerated; a line that begins like an event has to be one.
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
    if (tally.completed or tally.failures) and kind.startswith(_TURN_EVENTS):
        tally.after_the_end = True
    if kind == "turn.completed":
        tally.completed.append(event)
    elif kind == "turn.failed":
        tally.failures.append(_text(event.get("error")))
    elif kind == "error":
        tally.errors.append(_text(event))
    elif kind.startswith("item.") and isinstance(event.get("item"), dict):
        _count_item(tally, event["item"], kind == "item.completed")


def _text(holder: Any) -> str:
    message = holder.get("message") if isinstance(holder, dict) else holder
    return message if isinstance(message, str) else ""


def _count_item(tally: _Tally, item: dict[str, Any], done: bool) -> None:
    kind = item.get("type")
    if kind == "error":
        text = _text(item)
        tally.install_alarms += bool(_SKILL_FAULT.search(text)) and not _SKILL_BUDGET.search(text)
    elif kind == "agent_message" and isinstance(item.get("text"), str):
        tally.message = item["text"]
    elif kind in {"command_execution", "file_change"}:
        # The same item is reported at its start and at its end; without an id each report stands alone.
        name = item.get("id")
        known = tally.items.setdefault(name if isinstance(name, str) else f"#{len(tally.items)}", _Item(kind))
        known.command = _command(item.get("command")) or known.command
        output = item.get("aggregated_output")
        known.output = output[:1024] if isinstance(output, str) else ""
        known.failed = done and (item.get("status") in {"failed", "declined"} or item.get("exit_code") not in {0, None})


def _command(value: Any) -> str:
    """Return a command as one text, whether it was reported as a text or as a list of arguments."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value[-1] if value else ""
    return ""


def _failure(finished: Finished, tally: _Tally) -> tuple[FailureCode | None, str]:
    """Return why a call is no completed turn, and the text that says so."""
    if finished.stopped_by == "wall":
        return FailureCode.CALL_TIMEOUT, ""
    if finished.stopped_by == "output":
        return FailureCode.OUTPUT_LIMIT, ""
    if tally.malformed or tally.after_the_end or (tally.completed and tally.failures):
        return FailureCode.INVALID_STREAM, ""
    if tally.completed and finished.exit_status == 0:
        return None, ""
    if not tally.events and _START_ERROR.search(_stderr(finished)):
        return FailureCode.SANDBOX_UNAVAILABLE, ""
    text = _last_words(finished, tally)
    return classify(text), text


def _stderr(finished: Finished) -> str:
    return finished.stderr_tail.decode("utf-8", "replace")


def _last_words(finished: Finished, tally: _Tally) -> str:
    """Return the agent's own message about its failure, if it left one."""
    if tally.failures:
        return tally.failures[-1]
    if tally.completed:
        return ""
    if tally.errors:
        return tally.errors[-1]
    # Once a turn runs, tools write on stderr as well, and their text is no message of the agent.
    return "" if tally.events else _stderr(finished)


def classify(text: str) -> FailureCode:
    """Return the failure code that an agent's own error message means."""
    if _SPENT.search(text):
        return FailureCode.RATE_LIMITED
    if _AUTHENTICATION.search(text):
        return FailureCode.AUTHENTICATION
    if _RATE.search(text):
        return FailureCode.RATE_LIMITED
    return FailureCode.AGENT_FAILED


def _retry(text: str) -> tuple[float | None, str | None]:
    within = _RETRY_IN.search(text)
    at = _RETRY_AT.search(text)
    seconds = None
    if within is not None:
        unit = within[2]
        seconds = float(within[1]) * _SECONDS.get(unit[:2], _SECONDS[unit[0]])
    return seconds, at[1] if at is not None else None


def _transient(tally: _Tally) -> int:
    """Count the reported errors, without the one that only repeats the failure."""
    repeated = bool(tally.failures) and bool(tally.errors) and tally.errors[-1] == tally.failures[-1]
    return len(tally.errors) - repeated


def _sandbox_dead(commands: list[_Item], patches: list[_Item]) -> bool:
    """Return whether each command and patch failed, at least one with the sandbox's error and none with another text.

    The output of a quick command is often missing from its event, so an empty one is no evidence against.
    """
    actions = [*commands, *patches]
    if not actions or not all(item.failed for item in actions):
        return False
    outputs = [item.output for item in actions if item.output.strip()]
    return bool(outputs) and all(_SANDBOX_ERROR.search(output) for output in outputs)


def _opened(
    commands: list[_Item], installed: Collection[str], skills: str, roots: Mapping[str, str], cwd: str
) -> tuple[set[str], int]:
    ids: set[str] = set()
    unknown = 0
    for item in commands[:_MOST_COMMANDS]:
        if item.failed and _SANDBOX_ERROR.search(item.output):
            continue
        found, others = skill_reads.opened(item.command, installed, skills=skills, roots=roots, cwd=cwd)
        ids |= found
        unknown += others
    return ids, unknown
