"""Each fault shows in the real agent's events as the facts say, in both versions."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from eval_tasks.errors import ExperimentStopped
from eval_tasks.rehearsal.behaviour import Behaviour, Patch, Say
from eval_tasks.rehearsal.faults import FAULTS, LONG_LINE_BYTES, NUMBERED, TRANSIENT_ERRORS, spoiled
from eval_tasks.rehearsal.model import Endpoint, LoopbackModel
from tests.bare_codex import VERSIONS, Bare, Turn, opened

PATCH = Patch("*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n")
HONEST = Behaviour("oracle", (PATCH, Say("Done.")))
OLD, NEW = {"a.txt": b"one\n"}, {"a.txt": b"two\n"}

# What `turn.failed` says, and whether Codex tries again before it says so. The versions differ in an apostrophe, hence
# no whole sentences.
FAILURES = {
    "unauthorized": ("401 Unauthorized", True),
    "rate-limited": ("last status: 429", False),
    "retry-after": ("last status: 429", False),
    "usage-limit": ("hit your usage limit", False),
    "server-error": ("high demand", True),
    "cut": ("stream closed before response.completed", True),
    "malformed": ("stream disconnected before completion", True),
    "response-failed": ("It failed.", True),
    "response-rate-limited": ("try again in 1.5s", True),
    "response-quota": ("Quota exceeded", False),
    "response-incomplete": ("max_output_tokens", True),
    "connection-refused": ("Connection failed", True),
    "cut:0": ("stream closed before response.completed", True),
    "cut:90": ("stream closed before response.completed", True),
    "status:400": ('"message": "error"', False),
    "status:503": ("503 Service Unavailable", True),
}
SURVIVED = ("transient", "huge-output", "surrogates", "zero-usage", "missing-usage")
NEVER_ENDING = ("no-headers", "no-events", "endless-loop")
OF_THEIR_OWN = ("quota", "empty", "long-line")

pytestmark = pytest.mark.agent


@pytest.fixture(scope="module", params=VERSIONS)
def codex(request: pytest.FixtureRequest) -> Iterator[Bare]:
    with opened(request.param) as bare:
        yield bare


@pytest.fixture(scope="module")
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as model:
        yield model


def turn(codex: Bare, model: LoopbackModel, fault: str, retries: int = 0, seconds: float = 60) -> tuple[Turn, Endpoint]:
    codex.write(OLD)
    with model.play(spoiled(f"fault:{fault}", HONEST)) as endpoint:
        return codex.exec(endpoint, stream_retries=retries, seconds=seconds), endpoint


def test_the_tests_of_this_file_walk_all_faults() -> None:
    walked = {name.partition(":")[0] for name in (*FAILURES, *SURVIVED, *NEVER_ENDING, *OF_THEIR_OWN)}

    assert walked == {*FAULTS, *NUMBERED}


@pytest.mark.parametrize("fault", FAILURES)
def test_a_fault_that_fails_the_turn_says_why_and_edits_nothing(codex: Bare, model: LoopbackModel, fault: str) -> None:
    words, retried = FAILURES[fault]
    done, endpoint = turn(codex, model, fault, retries=1)

    assert (done.exit_status, done.last, done.transient) == (1, "turn.failed", int(retried))
    assert words in done.failure
    assert endpoint.request_count == (0 if fault == "connection-refused" else 1 + int(retried))
    assert codex.files() == OLD


def test_a_tool_call_that_arrived_before_the_cut_is_carried_out_by_a_turn_that_fails(
    codex: Bare, model: LoopbackModel
) -> None:
    done, endpoint = turn(codex, model, "cut:300")

    assert (done.last, endpoint.request_count) == ("turn.failed", 1)
    assert codex.files() == NEW


def test_an_exhausted_quota_has_words_of_its_own_in_the_newer_version_only(codex: Bare, model: LoopbackModel) -> None:
    done, endpoint = turn(codex, model, "quota", retries=2)

    assert (done.exit_status, done.last, endpoint.request_count) == (1, "turn.failed", 1)
    assert ("Quota exceeded" if codex.version == "0.155.1" else "last status: 429") in done.failure


def test_transient_errors_are_reported_and_then_the_turn_succeeds(codex: Bare, model: LoopbackModel) -> None:
    done, endpoint = turn(codex, model, "transient", retries=TRANSIENT_ERRORS)

    assert (done.exit_status, done.last, done.transient) == (0, "turn.completed", TRANSIENT_ERRORS)
    assert endpoint.request_count == TRANSIENT_ERRORS + 2
    assert codex.files() == NEW


@pytest.mark.parametrize("fault", ["zero-usage", "missing-usage"])
def test_unreported_usage_is_shown_as_zeros_by_a_turn_that_succeeds(
    codex: Bare, model: LoopbackModel, fault: str
) -> None:
    done, _ = turn(codex, model, fault)

    assert done.last == "turn.completed"
    assert set(done.usage.values()) == {0}
    assert codex.files() == NEW


def test_fifty_megabytes_of_output_are_cut_before_they_reach_model_or_events(codex: Bare, model: LoopbackModel) -> None:
    done, endpoint = turn(codex, model, "huge-output")

    assert done.last == "turn.completed"
    assert len(done.stdout) < 2_000_000
    assert 30_000 < len(endpoint.outputs[0]["output"]) < 50_000
    assert codex.files() == NEW


def test_lone_surrogates_end_in_a_refused_command_and_a_dropped_message(codex: Bare, model: LoopbackModel) -> None:
    done, endpoint = turn(codex, model, "surrogates")

    assert done.last == "turn.completed"
    assert "failed to parse function arguments" in endpoint.outputs[0]["output"]
    assert (done.items("command_execution"), done.items("agent_message")) == ([], [])
    assert codex.files() == NEW


def test_a_reply_without_an_item_completes_a_turn_in_which_nothing_was_done(codex: Bare, model: LoopbackModel) -> None:
    done, _ = turn(codex, model, "empty")

    assert (done.exit_status, done.last) == (0, "turn.completed")
    assert [event["type"] for event in done.events] == ["thread.started", "turn.started", "turn.completed"]


def test_a_long_line_comes_out_whole(codex: Bare, model: LoopbackModel) -> None:
    done, _ = turn(codex, model, "long-line")

    assert max(map(len, done.stdout.splitlines())) > LONG_LINE_BYTES
    assert done.message == "x" * LONG_LINE_BYTES


@pytest.mark.parametrize("fault", ["no-headers", "no-events"])
def test_a_silent_server_keeps_the_agent_waiting_until_it_is_killed(
    codex: Bare, model: LoopbackModel, fault: str
) -> None:
    done, endpoint = turn(codex, model, fault, seconds=1.5)

    assert (done.exit_status, endpoint.request_count) == (-9, 1)
    assert [event["type"] for event in done.events] == ["thread.started", "turn.started"]


def test_an_endless_tool_loop_goes_on_until_it_is_killed(codex: Bare, model: LoopbackModel) -> None:
    done, endpoint = turn(codex, model, "endless-loop", seconds=3)

    assert done.exit_status == -9
    assert len(done.items("command_execution")) > 3
    assert all(item["exit_code"] == 0 for item in done.items("command_execution"))
    assert endpoint.request_count > len(endpoint.outputs) - 1 > 2


@pytest.mark.parametrize("name", ["fault:", "fault:nonsense", "fault:cut:", "fault:cut:x", "fault:transient:3"])
def test_an_unknown_fault_stops_with_the_known_ones(name: str) -> None:
    with pytest.raises(ExperimentStopped, match=r"unknown fault .* known: .*cut:<number>") as stopped:
        spoiled(name, HONEST)

    assert "\n" not in json.dumps(str(stopped.value))
