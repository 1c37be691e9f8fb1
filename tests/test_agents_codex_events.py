"""Every known variant of Codex's event stream, alone, cut and spoiled; the lines are those of the real binaries."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest

from eval_tasks.agents import codex
from eval_tasks.agents.contract import Reading, Usage
from eval_tasks.errors import FailureCode
from eval_tasks.processes import Contained, Finished, Level, StopReason

THREAD = {"type": "thread.started", "thread_id": "01a23194-c3f4-7663-a953-6a009ffdfe50"}
STARTED = {"type": "turn.started"}
USAGE = {
    "input_tokens": 59773,
    "cached_input_tokens": 43904,
    "cache_write_input_tokens": 0,
    "output_tokens": 184,
    "reasoning_output_tokens": 0,
}
COMPLETED = {"type": "turn.completed", "usage": USAGE}
SHORTENED = "Skill descriptions were shortened to fit the skills context budget. Codex can still see every skill."
URL = "url: http://127.0.0.1:43123/d6f2c411fb9281f8/v1/responses"


def item(kind: str, name: str = "item_1", state: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"item.{state}", "item": {"id": name, "type": kind, **more}}


def message(text: str) -> dict[str, Any]:
    return item("agent_message", text=text)


def command(
    text: str, name: str = "item_2", exit_code: int | None = 0, output: str = "", **more: Any
) -> dict[str, Any]:
    status = "completed" if exit_code == 0 else "failed"
    more = {"command": text, "aggregated_output": output, "exit_code": exit_code, "status": status, **more}
    return item("command_execution", name, **more)


def patch(name: str = "item_3", status: str = "completed") -> dict[str, Any]:
    return item("file_change", name, changes=[{"path": "/w/a.txt", "kind": "update"}], status=status)


def failed(text: str) -> list[dict[str, Any]]:
    return [{"type": "error", "message": text}, {"type": "turn.failed", "error": {"message": text}}]


def error(text: str) -> dict[str, Any]:
    return {"type": "error", "message": text}


def read(
    *events: object,
    exit_status: int | None = 0,
    number: int | None = None,
    stderr: bytes = b"",
    stopped_by: StopReason | None = None,
    raw: bytes | None = None,
    installed: tuple[str, ...] = ("api-design", "tdd-workflow"),
) -> Reading:
    stdout = b"".join(json.dumps(event).encode() + b"\n" for event in events) if raw is None else raw
    contained = Contained(True, True, Level.SEALED)
    finished = Finished(exit_status, number, stdout, stderr, len(stderr), stopped_by, 1, contained)
    return codex.read(finished, installed)


def test_a_completed_turn_with_exit_zero_is_no_failure() -> None:
    reading = read(THREAD, STARTED, message("done"), COMPLETED)
    assert reading.failure is None
    assert reading.usage == Usage(59773, 43904, 184)
    assert reading.message == "done"


def test_transient_errors_are_counted_and_not_fatal() -> None:
    reconnects = [error(f"Reconnecting... {n}/4 (stream disconnected before completion)") for n in range(1, 5)]
    reading = read(THREAD, STARTED, *reconnects, message("done"), COMPLETED)
    assert (reading.failure, reading.transient_errors) == (None, 4)


def test_the_same_errors_without_a_terminal_event_are_a_failure() -> None:
    reconnects = [error(f"Reconnecting... {n}/4 (stream disconnected before completion)") for n in range(1, 5)]
    assert read(THREAD, STARTED, *reconnects).failure is FailureCode.AGENT_FAILED
    assert read(THREAD, STARTED, *reconnects, *failed("stream disconnected")).failure is FailureCode.AGENT_FAILED


def test_the_error_that_repeats_the_failure_is_not_transient() -> None:
    assert read(THREAD, STARTED, error("Reconnecting... 1/1 (x)"), *failed("x"), exit_status=1).transient_errors == 1


@pytest.mark.parametrize("exit_status", [0, 1])
def test_a_failed_turn_is_never_a_success(exit_status: int) -> None:
    reading = read(THREAD, STARTED, message("all done!"), *failed("boom"), exit_status=exit_status)
    assert reading.failure is FailureCode.AGENT_FAILED
    assert reading.usage is None


@pytest.mark.parametrize(("exit_status", "number"), [(1, None), (101, None), (None, 9)])
def test_a_completed_turn_with_another_end_than_zero_is_a_failure(exit_status: int | None, number: int | None) -> None:
    reading = read(THREAD, STARTED, COMPLETED, exit_status=exit_status, number=number)
    assert reading.failure is FailureCode.AGENT_FAILED


def test_exit_zero_without_a_completed_turn_is_a_failure() -> None:
    for events in ([], [THREAD], [THREAD, STARTED], [THREAD, STARTED, message("done")]):
        assert read(*events).failure is FailureCode.AGENT_FAILED


@pytest.mark.parametrize(
    "events",
    [
        [THREAD, STARTED, COMPLETED, COMPLETED],
        [THREAD, STARTED, COMPLETED, STARTED, COMPLETED],
        [THREAD, STARTED, COMPLETED, *failed("x")],
        [THREAD, STARTED, *failed("x"), COMPLETED],
        [THREAD, STARTED, COMPLETED, message("more")],
    ],
)
def test_two_terminal_events_or_events_after_one_are_an_invalid_stream(events: list[dict[str, Any]]) -> None:
    reading = read(*events)
    assert reading.failure is FailureCode.INVALID_STREAM
    assert reading.usage is None


@pytest.mark.parametrize(
    ("text", "code", "stops", "seconds", "at"),
    [
        (
            f"unexpected status 401 Unauthorized: Incorrect API key provided: sk-x, {URL}",
            "authentication",
            True,
            None,
            None,
        ),
        ("Missing environment variable: `CODEX_API_KEY`.", "authentication", True, None, None),
        (
            "Your access token could not be refreshed because your refresh token was already used. "
            "Please log out and sign in again.",
            *("authentication", True, None, None),
        ),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate-limited", False, None, None),
        ("rate limit exceeded: Rate limit reached. Please try again in 1.5s", "rate-limited", False, 1.5, None),
        ("Rate limit reached. Please try again in 250ms.", "rate-limited", False, 0.25, None),
        ("Rate limit reached. try again in 3 minutes", "rate-limited", False, 180, None),
        ("Rate limit reached. try again in 2 hours", "rate-limited", False, 7200, None),
        ("Quota exceeded. Check your plan and billing details.", "rate-limited", True, None, None),
        (
            "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
            "https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 2:30 PM.",
            *("rate-limited", True, None, "2:30 PM"),
        ),
        ("You've hit your usage limit. Try again at Dec 3rd, 2026 9:05 AM.", "rate-limited", True, None, "*"),
        ("You've hit your usage limit. Or try again at Dec 3rd, 2026 9:05 AM.", "rate-limited", True, None, "*"),
        ("To use Codex with your ChatGPT plan, upgrade to Plus: https://x.", "rate-limited", True, None, None),
        (f"unexpected status 402 Payment Required: pay, {URL}", "rate-limited", True, None, None),
        (f"unexpected status 403 Forbidden: Country not supported, {URL}", "agent-failed", False, None, None),
        (
            "We\u2019re currently experiencing high demand, which may cause temporary errors.",
            "agent-failed",
            False,
            None,
            None,
        ),
        (
            "stream disconnected before completion: stream closed before response.completed",
            "agent-failed",
            False,
            None,
            None,
        ),
        ("Connection failed: error sending request", "agent-failed", False, None, None),
        ("Codex ran out of room in the model's context window.", "agent-failed", False, None, None),
        ("unexpected status 500 for 401k savings at port 4290", "agent-failed", False, None, None),
        ("", "agent-failed", False, None, None),
    ],
)
def test_a_failure_is_classified_by_the_agents_own_words(
    text: str, code: str, stops: bool, seconds: float | None, at: str | None
) -> None:
    reading = read(THREAD, STARTED, *failed(text), exit_status=1)
    assert (reading.failure, reading.stops_run, reading.retry_after_seconds) == (code, stops, seconds)
    if at == "*":
        at = "Dec 3rd, 2026 9:05 AM"
    assert reading.retry_at == at


def test_a_failure_is_not_classified_by_what_the_model_said() -> None:
    reading = read(THREAD, STARTED, message("status 401 Unauthorized; 429 Too Many Requests"), *failed("boom"))
    assert reading.failure is FailureCode.AGENT_FAILED


def test_forged_events_on_stderr_are_ignored() -> None:
    forged = json.dumps(COMPLETED).encode() + b"\n"
    assert read(THREAD, STARTED, stderr=forged).failure is FailureCode.AGENT_FAILED
    reading = read(THREAD, STARTED, stderr=b"status 401 Unauthorized", exit_status=1)
    assert reading.failure is FailureCode.AGENT_FAILED


def test_stderr_speaks_for_an_agent_that_never_began() -> None:
    assert read(stderr=b"Error: Not logged in", exit_status=1).failure is FailureCode.AUTHENTICATION
    assert read(stderr=b"Error: bad TOML", exit_status=1).failure is FailureCode.AGENT_FAILED
    dead = b"fs sandbox helper failed with status exit status: 1: bwrap: Creating new namespace failed: (ENOSPC)"
    assert read(stderr=dead, exit_status=1).failure is FailureCode.SANDBOX_UNAVAILABLE
    assert read(THREAD, STARTED, COMPLETED, stderr=dead).failure is None


def test_a_limit_goes_before_everything_in_the_stream() -> None:
    for stopped_by, code in (("wall", FailureCode.CALL_TIMEOUT), ("output", FailureCode.OUTPUT_LIMIT)):
        for events in ([THREAD, STARTED], [THREAD, STARTED, *failed("status 401")], [COMPLETED, COMPLETED]):
            reading = read(*events, stopped_by=stopped_by, exit_status=None, number=9)  # type: ignore[arg-type]
            assert reading.failure is code


def test_noise_between_events_is_tolerated_but_a_broken_event_is_not() -> None:
    noise = b"2026-12-01T12:52:21Z  INFO codex_core: hello\n[1, 2]\n\n\x1b[2mcolour\x1b[0m\nnull\n"
    good = [json.dumps(event).encode() for event in (THREAD, STARTED, COMPLETED)]
    assert read(raw=noise.join(line + b"\n" for line in good)).failure is None
    for broken in (b'{"type": "item.comp', b"{}", b'{"type": 3}', b'{"type": "x"} trailing', b"{" * 100_000):
        assert read(raw=b"\n".join([*good[:2], broken, good[2]])).failure is FailureCode.INVALID_STREAM


def test_unknown_events_items_and_keys_are_tolerated() -> None:
    reading = read(
        THREAD,
        {"type": "weather.changed", "wind": 3},
        {"type": "item.completed"},
        {"type": "item.completed", "item": [1]},
        {"type": "item.completed", "item": {"id": 7, "type": "hologram"}},
        STARTED | {"new": {}},
        {**COMPLETED, "usage": {**USAGE, "moon_tokens": 1}, "extra": []},
    )
    assert reading.failure is None
    assert reading.usage == Usage(59773, 43904, 184)


VARIANTS = [
    message("hi"),
    item("reasoning", text="hmm"),
    command("ls"),
    item(
        "command_execution", state="started", command="ls", aggregated_output="", exit_code=None, status="in_progress"
    ),
    patch(),
    item("file_change", state="started", changes=[], status="in_progress"),
    item("web_search", "ws_1", query="x", action={}),
    item("todo_list", items=[{"text": "x", "completed": False}]),
    item("todo_list", state="updated", items=[]),
    item("mcp_tool_call", server="s", tool="t", status="failed"),
    item("error", message=SHORTENED),
    error("Reconnecting... 1/4 (x)"),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda event: f"{event['type']}-{event.get('item', {}).get('type')}")
def test_each_variant_alone_and_truncated_at_every_byte(variant: dict[str, Any]) -> None:
    assert read(THREAD, STARTED, variant, COMPLETED).failure is None
    line = json.dumps(variant).encode()
    head = b"".join(json.dumps(event).encode() + b"\n" for event in (THREAD, STARTED))
    for end in range(len(line)):
        cut = read(raw=head + line[:end], exit_status=1)
        assert cut.failure is (FailureCode.AGENT_FAILED if end == 0 else FailureCode.INVALID_STREAM)
        assert cut.usage is None


def test_text_is_cut_in_the_middle_of_a_character_without_harm() -> None:
    line = json.dumps(message("\U0001f600"), ensure_ascii=False).encode()
    for end in range(len(line)):
        read(raw=line[:end])
        read(raw=line[end:])


def test_lone_surrogates_anywhere_are_harmless() -> None:
    raw = (
        rb'{"type":"thread.started","thread_id":"\ud835"}' + b"\n" + rb'{"type":"item.completed","item":{"id":"\ud835",'
        rb'"type":"command_execution","command":"cat \ud835/SKILL.md","aggregated_output":"\udc00","exit_code":0}}'
        + b"\n"
        rb'{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"\ud835"}}' + b"\n"
    ) + json.dumps(COMPLETED).encode()
    reading = read(raw=raw)
    assert (reading.failure, reading.commands, reading.message) == (None, 1, "\ud835")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        {**USAGE, "input_tokens": None},
        {**USAGE, "input_tokens": -1},
        {**USAGE, "input_tokens": 1.0},
        {**USAGE, "output_tokens": True},
        {**USAGE, "output_tokens": "184"},
        {**USAGE, "cached_input_tokens": 59774},
        {key: value for key, value in USAGE.items() if key != "cached_input_tokens"},
        dict.fromkeys(USAGE, 0),
    ],
)
def test_missing_malformed_or_all_zero_usage_is_unknown(usage: object) -> None:
    reading = read(THREAD, STARTED, {"type": "turn.completed", "usage": usage})
    assert (reading.failure, reading.usage) == (None, None)


def test_zero_in_one_counter_is_a_usage() -> None:
    reading = read(THREAD, STARTED, {**COMPLETED, "usage": {**USAGE, "cached_input_tokens": 0}})
    assert reading.usage == Usage(59773, 0, 184)


def test_commands_and_patches_are_counted_once_with_their_failures() -> None:
    start = item("command_execution", "item_2", "started", command="false", exit_code=None, status="in_progress")
    reading = read(
        *(THREAD, STARTED, start, command("false", exit_code=1), command("true", "item_4")),
        *(item("file_change", "item_5", "started", changes=[], status="in_progress"), patch("item_5", "failed")),
        *(patch("item_6"), command("x", "item_7", exit_code=None, status="declined"), COMPLETED),
    )
    assert (reading.commands, reading.failed_commands) == (3, 2)
    assert (reading.patches, reading.failed_patches) == (2, 1)


def test_a_command_that_never_ended_is_no_failed_one() -> None:
    start = item("command_execution", "item_2", "started", command="sleep 99", exit_code=None, status="in_progress")
    reading = read(THREAD, STARTED, start, COMPLETED)
    assert (reading.commands, reading.failed_commands) == (1, 0)


DEAD = "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)\n"


@pytest.mark.parametrize(
    ("events", "dead"),
    [
        ([command("ls", exit_code=1, output=DEAD)], True),
        ([command("ls", exit_code=1, output=DEAD), command("id", "item_9", exit_code=1, output="")], True),
        ([command("ls", exit_code=1, output=DEAD), patch(status="failed")], True),
        ([command("ls", exit_code=1, output="bwrap: execvp codex-linux-sandbox: No such file or directory")], True),
        ([], False),
        ([message("I did nothing")], False),
        ([command("ls", exit_code=1, output=DEAD), command("id", "item_9")], False),
        ([command("ls", exit_code=1, output=DEAD), patch()], False),
        ([command("ls", exit_code=1, output=DEAD), command("x", "item_9", exit_code=2, output="no such file")], False),
        ([command("ls", exit_code=1, output="")], False),
        ([command("cat log", exit_code=0, output=DEAD)], False),
        ([command("cat log", exit_code=1, output="the log says " + DEAD)], False),
        ([patch(status="failed")], False),
    ],
)
def test_a_dead_sandbox_is_told_from_commands_that_failed(events: list[dict[str, Any]], dead: bool) -> None:
    assert read(THREAD, STARTED, *events, COMPLETED).sandbox_dead is dead


def test_opened_skills_are_installed_ids_and_nothing_else() -> None:
    base = "/h/.codex/skills"
    reading = read(
        *(THREAD, STARTED, command(f"/usr/bin/bash -c 'cat {base}/tdd-workflow/SKILL.md'")),
        *(command(f"cat {base}/api-design/SKILL.md", "item_4"), command(f"cat {base}/secret-word/SKILL.md", "item_5")),
        *(command(["/bin/bash", "-lc", f"cat {base}/api-design/SKILL.md"], "item_6"), COMPLETED),  # type: ignore[arg-type]
    )
    assert reading.opened_skills == ("api-design", "tdd-workflow")
    assert reading.unknown_opens == 1
    assert "secret-word" not in repr(reading)


def test_a_skill_is_not_opened_by_a_sandbox_that_cannot_run() -> None:
    dead = command("cat /h/.codex/skills/api-design/SKILL.md", exit_code=1, output=DEAD)
    assert read(THREAD, STARTED, dead, COMPLETED).opened_skills == ()


def test_a_patch_of_a_skill_is_not_use() -> None:
    change = item("file_change", changes=[{"path": "/h/.codex/skills/api-design/SKILL.md", "kind": "update"}])
    reading = read(THREAD, STARTED, change, COMPLETED)
    assert (reading.opened_skills, reading.unknown_opens) == ((), 0)


def test_a_skill_that_fails_to_load_raises_an_alarm_and_a_shortened_one_does_not() -> None:
    line = b"ERROR codex_core::session::session: failed to load skill /h/.codex/skills/x/SKILL.md: missing field\n"
    assert read(THREAD, STARTED, COMPLETED, stderr=line * 2).install_alarms == 2
    assert read(THREAD, STARTED, item("error", message="Failed to load skill x"), COMPLETED).install_alarms == 1
    assert read(THREAD, STARTED, item("error", message=SHORTENED), COMPLETED).install_alarms == 0
    assert read(THREAD, STARTED, item("error", message=SHORTENED), COMPLETED).failure is None


def test_nothing_private_is_in_the_representation_of_a_reading() -> None:
    reading = read(THREAD, STARTED, message("canary-1"), command("echo canary-2"), *failed("canary-3 status 429"))
    assert "canary" not in repr(reading)


def test_a_long_stream_is_read_in_bounded_time_and_memory() -> None:
    line = json.dumps(message("x" * 20_000_000)).encode()
    many = json.dumps(command("cat /h/.codex/skills/api-design/SKILL.md")).encode() + b"\n"
    raw = line + b"\n" + many * 20_000 + json.dumps(COMPLETED).encode()
    tracemalloc.start()
    started = time.monotonic()
    try:
        assert read(raw=raw).failure is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.monotonic() - started < 30
    assert peak < 200_000_000
