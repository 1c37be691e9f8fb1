"""Every known variant of Claude Code's output, alone and spoiled; the lines are those of the real binary."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_tasks.agents import claude
from eval_tasks.agents.contract import Reading, Usage
from eval_tasks.errors import FailureCode
from eval_tasks.processes import Contained, Finished, Level, StopReason

INIT = {"type": "system", "subtype": "init", "skills": ["api-design", "tdd-workflow", "doctor"], "tools": ["Bash"]}
USAGE = {
    "input_tokens": 11597,
    "cache_creation_input_tokens": 400,
    "cache_read_input_tokens": 33024,
    "output_tokens": 192,
}
RESULT: dict[str, Any] = {
    **{"type": "result", "subtype": "success", "is_error": False, "result": "done", "usage": USAGE},
    **{"terminal_reason": "completed", "total_cost_usd": 0.01},
}


def use(name: str, tool: str = "t1", **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": tool, "name": name, "input": arguments}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def back(tool: str = "t1", *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": tool, "content": "text", "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def failed(text: str, status: int | None = None, **more: Any) -> dict[str, Any]:
    error = {"is_error": True, "terminal_reason": "api_error", "api_error_status": status, "result": text}
    return {**RESULT, **error, **more}


def read(
    *events: object,
    exit_status: int | None = 0,
    stderr: bytes = b"",
    stopped_by: StopReason | None = None,
    raw: bytes | None = None,
    installed: tuple[str, ...] = ("api-design", "tdd-workflow"),
) -> Reading:
    stdout = b"".join(json.dumps(event).encode() + b"\n" for event in events) if raw is None else raw
    contained = Contained(True, True, Level.SEALED)
    finished = Finished(exit_status, None, stdout, stderr, len(stderr), stopped_by, 1, contained)
    return claude.read(finished, installed)


def test_a_completed_turn_with_exit_zero_is_no_failure() -> None:
    reading = read(INIT, RESULT)
    assert (reading.failure, reading.message) == (None, "done")
    assert reading.usage == Usage(11597 + 400 + 33024, 33024, 192)
    assert read(RESULT).failure is None


@pytest.mark.parametrize(
    "spoiled",
    [
        {"is_error": True},
        {"is_error": None},
        {"subtype": "error_max_turns", "result": None, "errors": ["too many turns"]},
        {"subtype": "error_during_execution"},
        {"terminal_reason": "max_turns"},
        {"terminal_reason": "aborted_tools"},
    ],
)
def test_the_word_success_alone_is_no_success(spoiled: dict[str, Any]) -> None:
    reading = read(INIT, {**RESULT, **spoiled})
    assert (reading.failure, reading.usage, reading.message) == (FailureCode.AGENT_FAILED, None, None)


def test_an_exit_status_other_than_zero_is_a_failure_whatever_the_result_says() -> None:
    assert read(INIT, RESULT, exit_status=1).failure is FailureCode.AGENT_FAILED
    assert read(INIT, RESULT, exit_status=None).failure is FailureCode.AGENT_FAILED


@pytest.mark.parametrize(
    ("text", "status", "code", "stops", "back"),
    [
        ("Invalid API key · Fix external API key", 401, "authentication", True, (None, None)),
        ("API Error: 403 error", 403, "authentication", True, (None, None)),
        ("Not logged in · Please run /login", None, "authentication", True, (None, None)),
        ("API Error: Request rejected (429) · rate limit exceeded", 429, "rate-limited", False, (None, None)),
        ("API Error: 529 Overloaded", 529, "rate-limited", False, (None, None)),
        ("API Error: 429 try again in 30 seconds", 429, "rate-limited", False, (30.0, None)),
        ("You've hit your session limit · resets 3:45pm (UTC)", 429, "rate-limited", True, (None, "3:45pm")),
        ("Claude usage limit reached. Your limit will reset at 3 PM", 429, "rate-limited", True, (None, "3 PM")),
        ("Credit balance is too low", 400, "rate-limited", True, (None, None)),
        ("API Error: 402 billing_error", 402, "rate-limited", True, (None, None)),
        ("API Error: 500 server error.", 500, "agent-failed", False, (None, None)),
        ("API Error: Connection refused (ECONNREFUSED)", None, "agent-failed", False, (None, None)),
        ("Prompt is too long", None, "agent-failed", False, (None, None)),
    ],
)
def test_an_error_of_the_provider_has_its_code(
    text: str, status: int | None, code: str, stops: bool, back: tuple[float | None, str | None]
) -> None:
    reading = read(INIT, failed(text, status), exit_status=1)
    assert (reading.failure, reading.stops_run) == (code, stops)
    assert (reading.retry_after_seconds, reading.retry_at) == back


def test_a_message_that_speaks_of_limits_in_a_good_turn_is_no_failure() -> None:
    assert read(INIT, {**RESULT, "result": "I added a rate limit; 401 for who is not logged in."}).failure is None


def test_what_stopped_the_call_goes_before_what_it_said() -> None:
    assert read(INIT, RESULT, stopped_by="wall").failure is FailureCode.CALL_TIMEOUT
    assert read(INIT, RESULT, stopped_by="output").failure is FailureCode.OUTPUT_LIMIT


def test_a_stream_that_cannot_be_is_invalid() -> None:
    for stream in ((RESULT, RESULT), (INIT, RESULT, use("Bash", command="ls")), (INIT, {"type": 3}, RESULT)):
        assert read(*stream).failure is FailureCode.INVALID_STREAM
    assert read(raw=b'{"type": "result"').failure is FailureCode.INVALID_STREAM


def test_noise_between_events_is_no_fault() -> None:
    raw = b"warning\n\n" + json.dumps(INIT).encode() + b"\n[x]\n" + json.dumps(RESULT).encode()
    assert read(raw=raw).failure is None


def test_without_a_result_stderr_speaks_only_if_no_turn_began() -> None:
    assert read(stderr=b"Not logged in", exit_status=1).failure is FailureCode.AUTHENTICATION
    assert read(stderr=b"bwrap: No permissions", exit_status=1).failure is FailureCode.SANDBOX_UNAVAILABLE
    assert read(INIT, stderr=b"Not logged in", exit_status=1).failure is FailureCode.AGENT_FAILED
    assert read(exit_status=137).failure is FailureCode.AGENT_FAILED


@pytest.mark.parametrize(
    ("counters", "usage"),
    [
        ({"input_tokens": 5, "output_tokens": 2}, Usage(5, 0, 2)),
        ({**USAGE, "input_tokens": 0}, Usage(33424, 33024, 192)),
        (dict.fromkeys(USAGE, 0), None),
        ({**USAGE, "input_tokens": -1}, None),
        ({**USAGE, "input_tokens": True}, None),
        ({**USAGE, "output_tokens": 1.5}, None),
        ({**USAGE, "cache_read_input_tokens": None}, None),
        ({"output_tokens": 5}, None),
        (None, None),
    ],
)
def test_usage_is_whole_or_unknown(counters: object, usage: Usage | None) -> None:
    assert read(INIT, {**RESULT, "usage": counters}).usage == usage


def test_tools_are_counted_by_what_they_do_and_how_they_end() -> None:
    events = (
        *(use("Bash", "a", command="false"), back("a", failed=True), use("Bash", "b", command="ls"), back("b")),
        *(use("Write", "c", file_path="/w/x"), back("c"), use("Edit", "d", file_path="/w/x"), back("d", failed=True)),
        *(use("Read", "e", file_path="/w/x"), back("e")),
    )
    reading = read(INIT, *events, RESULT)
    assert (reading.commands, reading.failed_commands) == (2, 1)
    assert (reading.patches, reading.failed_patches) == (2, 1)


def test_a_skill_is_opened_by_its_tool_by_reading_its_file_or_by_a_command() -> None:
    for event in (
        use("Skill", skill="api-design"),
        use("Read", file_path="/h/.claude/skills/api-design/SKILL.md"),
        use("Bash", command="cat $CLAUDE_CONFIG_DIR/skills/api-design/SKILL.md"),
        use("Bash", command="head ~/.claude/skills/api-design/SKILL.md"),
    ):
        reading = read(INIT, event, back(), RESULT)
        assert (reading.opened_skills, reading.unknown_opens) == (("api-design",), 0)


def test_what_is_no_installed_skill_is_counted_and_never_named() -> None:
    for event, answer in (
        (use("Skill", skill="canary"), back()),
        (use("Skill", skill="api-design"), back(failed=True)),
        (use("Read", file_path="/h/.claude/skills/canary/SKILL.md"), back()),
    ):
        reading = read(INIT, event, answer, RESULT)
        assert (reading.opened_skills, reading.unknown_opens) == ((), 1)
    own = read(INIT, use("Read", file_path="/w/SKILL.md"), back(), RESULT)
    assert (own.opened_skills, own.unknown_opens) == ((), 0)


def test_retries_are_counted_and_skills_that_the_agent_did_not_load_are_alarms() -> None:
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": 500}
    assert read(INIT, retry, retry, RESULT).transient_errors == 2
    assert read(INIT, RESULT).install_alarms == 0
    assert read({**INIT, "skills": ["doctor"]}, RESULT).install_alarms == 2
