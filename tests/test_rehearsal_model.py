"""The loopback model as any client sees it, then as both versions of the real agent do."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from eval_tasks.rehearsal import model as module
from eval_tasks.rehearsal.behaviour import (
    SUMMARY,
    Behaviour,
    Fault,
    Patch,
    Reply,
    Run,
    Say,
    Silence,
    Step,
    UsageReport,
)
from eval_tasks.rehearsal.model import Endpoint, LoopbackModel
from eval_tasks.rehearsal.responses import messages
from tests.bare_codex import CODE_MODE_MODEL, MODEL, VERSIONS, Bare, opened

STEPS: tuple[Step, ...] = (Run("one"), Run("two"), Say("Done."))


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as model:
        yield model


def asked(outputs: int = 0, kind: str = "turn", prompt: str = "hello") -> dict[str, Any]:
    """A request as the agent makes it, with so many tool outputs."""
    prompted = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}
    history = [{"type": "function_call_output", "call_id": f"call_{at}", "output": f"o{at}"} for at in range(outputs)]
    metadata = {"x-codex-turn-metadata": json.dumps({"request_kind": kind})}
    return {"instructions": "i" * 4000, "tools": [], "input": [prompted, *history], "client_metadata": metadata}


def connected(base_url: str) -> http.client.HTTPConnection:
    place = urlsplit(base_url)
    return http.client.HTTPConnection(str(place.hostname), place.port, timeout=10)


def post(base_url: str, request: dict[str, Any], path: str = "responses") -> tuple[int, bytes]:
    connection = connected(base_url)
    connection.request("POST", f"{urlsplit(base_url).path}/{path}", json.dumps(request))
    with connection.getresponse() as response:
        return response.status, response.read()


def drain(received: socket.socket) -> None:
    while received.recv(4096):
        continue


def events(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream; an event may have many lines of data."""
    blocks = body.decode().split("\n\n")[:-1]
    return [json.loads("\n".join(line.removeprefix("data: ") for line in block.split("\n"))) for block in blocks]


def item(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = events(post(endpoint.base_url, request)[1])[1]["item"]
    return done


def usage(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any] | None:
    response: dict[str, dict[str, Any]] = events(post(endpoint.base_url, request)[1])[-1]["response"]
    return response.get("usage")


def command(item: dict[str, Any]) -> str:
    return str(json.loads(item["arguments"])["cmd"])


# Steps


def test_each_tool_output_brings_the_next_step_and_the_last_one_repeats(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS)) as endpoint:
        items = [item(endpoint, asked(outputs)) for outputs in (0, 1, 2, 3)]

    assert [command(one) for one in items[:2]] == ["one", "two"]
    assert [one["content"][0]["text"] for one in items[2:]] == ["Done.", "Done."]


def test_a_retried_request_gets_the_same_reply_byte_for_byte(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS)) as endpoint:
        post(endpoint.base_url, asked())
        first, second = (post(endpoint.base_url, asked(1)) for _ in range(2))

    assert first == second
    assert endpoint.request_count == 3


def test_an_agent_that_compacts_its_history_gets_a_summary_and_is_not_sent_back_to_the_start(
    model: LoopbackModel,
) -> None:
    with model.play(Behaviour("b", STEPS)) as endpoint:
        item(endpoint, asked())
        summary = item(endpoint, asked(1, kind="compaction"))
        after = item(endpoint, asked(0))

    assert summary["content"][0]["text"] == SUMMARY.text
    assert command(after) == "two"


def test_an_endless_behaviour_begins_again(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", (Run("one"), Run("two")), endless=True)) as endpoint:
        commands = [command(item(endpoint, asked(outputs))) for outputs in range(5)]

    assert commands == ["one", "two", "one", "two", "one"]


def test_a_model_in_code_mode_is_told_from_the_request(model: LoopbackModel) -> None:
    request = asked()
    del request["tools"]
    with model.play(Behaviour("b", (Run("ls"),))) as endpoint:
        played = item(endpoint, request)

    assert (played["type"], played["name"]) == ("custom_tool_call", "exec")
    assert 'tools.exec_command({"cmd": "ls"' in played["input"]


def test_a_long_message_is_sent_in_many_lines_and_comes_together_again(model: LoopbackModel) -> None:
    text = "é\n\u2028😀" * 50_000
    with model.play(Behaviour("b", (Say(text),))) as endpoint:
        body = post(endpoint.base_url, asked())[1]

    assert max(map(len, body.splitlines())) < 200_000
    assert "".join(part["text"] for part in events(body)[1]["item"]["content"]) == text


# Calls


def test_requests_are_kept_by_the_call_that_made_them(model: LoopbackModel) -> None:
    def call(number: int) -> tuple[list[str], str]:
        with model.play(Behaviour("b", (Say(f"answer {number}"),))) as endpoint:
            replies = [item(endpoint, asked(prompt=f"prompt {number}")) for _ in range(5)]
            prompts = [messages(request)[-1][1] for request in endpoint.requests]
        return prompts, "".join(reply["content"][0]["text"] for reply in replies)

    with ThreadPoolExecutor(8) as pool:
        calls = list(pool.map(call, range(24)))

    assert calls == [([f"prompt {number}"] * 5, f"answer {number}" * 5) for number in range(24)]


def test_an_endpoint_answers_while_its_call_lasts_and_nothing_but_steps(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS)) as endpoint:
        other = post(endpoint.base_url, asked(), "responses/compact")[0]
        stranger = post(endpoint.base_url.replace("/v1", "0/v1"), asked())[0]
        during = post(endpoint.base_url, asked())[0]
    after = post(endpoint.base_url, asked())[0]

    assert (other, stranger, during, after) == (404, 404, 200, 404)
    assert endpoint.request_count == 1


def test_the_address_of_a_call_says_nothing_about_it(model: LoopbackModel) -> None:
    with model.play(Behaviour("oracle", STEPS), "case.full.r1") as one, model.play(Behaviour("nop", STEPS)) as two:
        paths = [urlsplit(endpoint.base_url).path for endpoint in (one, two)]

    assert all(len(path) == len("/0123456789abcdef/v1") for path in paths)
    assert paths[0] != paths[1]
    assert set("".join(paths).replace("/v1", "").replace("/", "")) <= set("0123456789abcdef")


def test_calls_are_kept_after_their_end_only_on_demand() -> None:
    with LoopbackModel(keep_calls=True) as keeping, LoopbackModel() as forgetting:
        for model in (keeping, forgetting):
            with model.play(Behaviour("b", STEPS), "a"), model.play(Behaviour("b", STEPS), "b"):
                pass

    assert [call.name for call in keeping.calls] == ["a", "b"]
    assert forgetting.calls == []


def test_what_an_endless_loop_sends_is_counted_but_not_all_kept(
    model: LoopbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 3 * len(json.dumps(asked())))
    with model.play(Behaviour("b", STEPS)) as endpoint:
        for _ in range(5):
            post(endpoint.base_url, asked())

    assert (len(endpoint.requests), endpoint.request_count) == (3, 5)


# Usage


def test_usage_is_reported_as_a_function_of_the_request_and_the_step(model: LoopbackModel) -> None:
    found = []
    for _ in range(2):
        with model.play(Behaviour("b", STEPS)) as endpoint:
            found.append([usage(endpoint, asked(outputs)) for outputs in (0, 1, 1, 2)])

    assert found[0] == found[1]
    assert found[0][1] == found[0][2]


def test_a_larger_request_costs_more_and_the_one_before_it_is_cached_in_blocks(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS)) as endpoint:
        first, second = (usage(endpoint, asked(outputs)) for outputs in (0, 1))

    assert first is not None
    assert second is not None
    cached = [one["input_tokens_details"]["cached_tokens"] for one in (first, second)]
    assert first["input_tokens"] < second["input_tokens"] < 2000
    assert cached == [0, first["input_tokens"] // 128 * 128]
    assert cached[1] > 0


def test_usage_can_be_zero_or_missing(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS, usage=UsageReport.ZERO)) as zero:
        zeros = usage(zero, asked())
    with model.play(Behaviour("b", STEPS, usage=UsageReport.MISSING)) as missing:
        nothing = usage(missing, asked())

    assert zeros is not None
    assert (zeros["input_tokens"], zeros["output_tokens"], zeros["total_tokens"]) == (0, 0, 0)
    assert nothing is None


# Faults


def test_a_reply_is_cut_at_any_byte(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS)) as endpoint:
        whole = post(endpoint.base_url, asked())[1]
    for cut in range(len(whole) + 1):
        with model.play(Behaviour("b", STEPS, Fault(cut=cut))) as endpoint:
            assert post(endpoint.base_url, asked())[1] == whole[:cut]


def test_a_fault_can_end_after_some_requests(model: LoopbackModel) -> None:
    fault = Fault(reply=Reply(status=503), times=2)
    with model.play(Behaviour("b", STEPS, fault)) as endpoint:
        statuses = [post(endpoint.base_url, asked())[0] for _ in range(4)]

    assert statuses == [503, 503, 200, 200]


def test_a_refused_call_finds_nobody_listening(model: LoopbackModel) -> None:
    with model.play(Behaviour("b", STEPS, Fault(refused=True))) as endpoint:
        place = urlsplit(endpoint.base_url)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((str(place.hostname), place.port or 0), timeout=5)


@pytest.mark.parametrize("silence", Silence)
def test_the_end_of_a_call_hangs_up_on_an_agent_that_still_waits(model: LoopbackModel, silence: Silence) -> None:
    with model.play(Behaviour("b", STEPS, Fault(reply=Reply(silence=silence)))) as endpoint:
        connection = connected(endpoint.base_url)
        connection.request("POST", f"{urlsplit(endpoint.base_url).path}/responses", json.dumps(asked()))
        received = connection.sock
        received.settimeout(0.3)
        with pytest.raises(TimeoutError):
            drain(received)
        received.settimeout(5)
        began = time.monotonic()
    drain(received)
    connection.close()

    assert time.monotonic() - began < 1


def test_no_thread_outlives_the_model() -> None:
    before = set(threading.enumerate())
    with LoopbackModel() as model, model.play(Behaviour("b", STEPS, Fault(reply=Reply(silence=Silence.AFTER_HEADERS)))):
        idle = [socket.create_connection(model._server.server_address[:2]) for _ in range(3)]  # type: ignore[arg-type]
        time.sleep(0.1)
        assert len(set(threading.enumerate()) - before) == 4
    for connection in idle:
        connection.close()
    wait_until = time.monotonic() + 1
    while set(threading.enumerate()) - before and time.monotonic() < wait_until:
        time.sleep(0.01)

    assert set(threading.enumerate()) - before == set()


# The ledger


def test_the_ledger_gets_one_line_a_call_however_many_requests_it_makes(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    for _ in range(2):
        with LoopbackModel(ledger) as model:
            for name in ("a.full.r1", "b.full.r1"):
                with model.play(Behaviour("b", STEPS), name) as endpoint:
                    for outputs in (0, 0, 1, 2):
                        post(endpoint.base_url, asked(outputs, prompt="CANARY"))
            with model.play(Behaviour("b", STEPS), "never called"):
                pass
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]

    assert [line["name"] for line in lines] == ["a.full.r1", "b.full.r1"] * 2
    assert len({line["token"] for line in lines}) == 4
    assert "CANARY" not in ledger.read_text()
    assert ledger.stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_without_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with LoopbackModel() as model, model.play(Behaviour("b", STEPS)) as endpoint:
        post(endpoint.base_url, asked())

    assert list(tmp_path.iterdir()) == []


def test_a_call_stands_in_the_ledger_before_it_is_answered_and_after_the_evaluator_is_killed(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from eval_tasks.rehearsal.behaviour import Behaviour, Fault, Reply, Say, Silence
from eval_tasks.rehearsal.model import LoopbackModel
silent = Behaviour("b", (Say("x"),), Fault(reply=Reply(silence=Silence.BEFORE_HEADERS)))
with LoopbackModel(Path({os.fspath(tmp_path / "ledger")!r})) as model, model.play(silent, "a") as endpoint:
    print(endpoint.base_url, flush=True)
    sys.stdin.read()
"""
    root = Path(module.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as evaluator:
        assert evaluator.stdout is not None
        base_url = evaluator.stdout.readline().strip()
        connection = connected(base_url)
        connection.request("POST", f"{urlsplit(base_url).path}/responses", json.dumps(asked()))
        wait_until = time.monotonic() + 10
        while not (tmp_path / "ledger").exists() and time.monotonic() < wait_until:
            time.sleep(0.01)
        evaluator.send_signal(signal.SIGKILL)
        connection.close()
    lines = [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]

    assert evaluator.returncode == -signal.SIGKILL
    assert [line["name"] for line in lines] == ["a"]


# The real agent


@pytest.fixture(scope="module", params=VERSIONS)
def codex(request: pytest.FixtureRequest) -> Iterator[Bare]:
    with opened(request.param) as bare:
        yield bare


@pytest.mark.agent
def test_the_agents_prompt_and_its_list_of_skills_can_be_read_off_the_requests(
    codex: Bare, model: LoopbackModel
) -> None:
    prompt = "Füge\n$nothing  hinzu\n"
    codex.ask("debug", "prompt-input", "x")
    with model.play(Behaviour("nop", (Say("Hi."),))) as endpoint:
        turn = codex.exec(endpoint, prompt)
    told = messages(endpoint.requests[0])

    assert turn.message == "Hi."
    assert told[-1] == ("user", prompt)
    assert any(role == "developer" and "<skills_instructions>" in text for role, text in told)


@pytest.mark.agent
@pytest.mark.parametrize("name", [MODEL, CODE_MODE_MODEL])
def test_the_agent_carries_out_commands_and_patches_with_its_own_tools(
    codex: Bare, model: LoopbackModel, name: str
) -> None:
    patch = Patch("*** Begin Patch\n*** Add File: a/b.txt\n+hé\n*** End Patch\n")
    codex.write({})
    with model.play(Behaviour("b", (patch, Run("cat a/b.txt a/b.txt > c.txt"), Say("Done.")))) as endpoint:
        turn = codex.exec(endpoint, model=name)

    assert codex.files() == {"a/b.txt": "hé\n".encode(), "c.txt": "hé\nhé\n".encode()}
    assert (len(turn.items("file_change")), len(turn.items("command_execution"))) == (1, 1)
    assert (turn.last, turn.message, len(endpoint.outputs)) == ("turn.completed", "Done.", 2)
    assert 0 < turn.usage["cached_input_tokens"] < turn.usage["input_tokens"]


@pytest.mark.agent
def test_two_agents_at_once_follow_a_behaviour_each(model: LoopbackModel) -> None:
    def call(version: str) -> dict[str, bytes]:
        with opened(version) as bare, model.play(Behaviour("b", (Run(f"echo {version} > v"), Say("x")))) as endpoint:
            bare.exec(endpoint)
            return bare.files()

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(call, VERSIONS))

    assert found == [{"v": f"{version}\n".encode()} for version in VERSIONS]


@pytest.mark.agent
def test_the_same_turn_has_the_same_usage_each_time(codex: Bare, model: LoopbackModel) -> None:
    def spent() -> dict[str, int]:
        codex.write({})
        with model.play(Behaviour("b", (Run("echo x > a"), Say("Done.")))) as endpoint:
            return codex.exec(endpoint).usage

    assert spent() == spent()
