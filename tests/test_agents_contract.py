"""What every agent's module promises: each version of each real binary, sealed, against the loopback model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from eval_tasks import library, processes, sandbox
from eval_tasks.agents import AGENTS
from eval_tasks.agents.contract import Agent, Backend, Call, Executable, Reading
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.installs.build import Builder
from eval_tasks.installs.profiles import Profile
from eval_tasks.processes import Boxed, Finished, Level
from eval_tasks.rehearsal import messages, responses
from eval_tasks.rehearsal.behaviour import Behaviour, Run, Say, Step
from eval_tasks.rehearsal.edits import steps_for
from eval_tasks.rehearsal.faults import spoiled
from eval_tasks.rehearsal.model import Endpoint, LoopbackModel
from eval_tasks.sandbox import AgentBox
from tests.sealed_places import DROP, PROJECT, work_folder

pytestmark = pytest.mark.agent

SKILLS = ("configure-ecc", "strategic-compact")
MODELS = {"codex": "gpt-5.5", "claude": "claude-haiku-4-5"}
HOMES = {"codex": "~/.codex", "claude": "~/.claude"}
SETTINGS = {"codex": "config.toml", "claude": "settings.json"}
NODE = Path(os.path.realpath(shutil.which("node") or "/usr/bin/node"))
CANARY = "canary-5d41402a"
ALL = [(kind, version) for kind, agent in AGENTS.items() for version in agent.VERSIONS]
EDITS = steps_for(
    {"a.txt": b"hi\n", "c.txt": b"bye\n"}, {"a.txt": b"ho\n", "c.txt": None, "n/d.txt": "h\u00e9\n".encode()}
)


@dataclass
class Bench:
    """One version of one agent with an install, ready for sealed calls."""

    agent: Agent
    executable: Executable
    install: Path
    work: Path
    model: LoopbackModel
    backend: Backend

    def workspace(self) -> Path:
        place = self.work / "calls" / os.urandom(4).hex() / "w"
        for folder in (place.parent.parent, place.parent):
            sandbox.make_work_folder(folder, drop=DROP)
        place.mkdir()
        (place / "a.txt").write_text("hi\n")
        (place / "c.txt").write_text("bye\n")
        sandbox.own(place, drop=DROP)
        return place

    def box(self, workspace: Path | None = None) -> AgentBox:
        return self.agent.sealed(self.executable, self.install, workspace or self.workspace(), NODE)

    def run(self, call: Call, wall_seconds: float = 60) -> Finished:
        return processes.run(
            call.command,
            environment=call.environment,
            stdin=call.stdin,
            wall_seconds=wall_seconds,
            stdout_bytes=call.stdout_bytes,
        )

    def play(self, *steps: Step, workspace: Path | None = None) -> tuple[Finished, Reading, Endpoint]:
        """Make one task call and return its end, what it says, and what the model saw."""
        with self.model.play(Behaviour("plays", steps)) as endpoint:
            finished = self.run(self.agent.task_call(self.box(workspace), self.backend, b"Do it.", endpoint.base_url))
        return finished, self.agent.read(finished, SKILLS), endpoint


@pytest.fixture(scope="module")
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as running:
        yield running


@pytest.fixture(scope="module", params=ALL, ids=" ".join)
def bench(request: pytest.FixtureRequest, model: LoopbackModel) -> Iterator[Bench]:
    kind, version = request.param
    agent = AGENTS[kind]
    with work_folder() as work:
        executable = agent.adopted(agent.in_modules(PROJECT.modules, version), work / "packages")
        backend = Backend(rehearsal=True, model=MODELS[kind])
        skills = library.load(PROJECT.modules / "ecc-universal" / "skills")
        Builder(agent, executable, backend, skills).build(work / "installs" / "a", "lean", Profile("lean@1", SKILLS))
        yield Bench(agent, executable, work / "installs" / "a", work, model, backend)


def told(request: dict[str, Any]) -> list[str]:
    """Return the texts that a request carries, whichever protocol it speaks."""
    found = responses.messages(request) if "input" in request else messages.messages(request)
    return [text for _, text in found]


def outputs(endpoint: Endpoint) -> str:
    return "\n".join(str(output["output"]) for output in endpoint.outputs)


def tools(request: dict[str, Any]) -> set[str]:
    return {str(tool.get("name")) for tool in request.get("tools", ())}


# Where it is


@pytest.mark.parametrize("kind", AGENTS)
def test_each_row_of_the_table_is_named_as_its_agent_and_can_be_sealed(kind: str) -> None:
    agent = AGENTS[kind]
    assert kind == agent.KIND
    assert Level.SEALED in agent.LEVELS
    assert agent.VERSIONS
    assert agent.CREDENTIALS


@pytest.mark.parametrize("kind", AGENTS)
@pytest.mark.parametrize("version", ["0.155.0", "2.1.291", "2.2.0", "latest", ""])
def test_an_unsupported_version_is_refused_with_the_list(kind: str, version: str) -> None:
    with pytest.raises(ExperimentStopped, match=f"not supported; choose one of {', '.join(AGENTS[kind].VERSIONS)}"):
        AGENTS[kind].in_modules(PROJECT.modules, version)


@pytest.mark.parametrize("kind", AGENTS)
def test_what_is_no_such_agent_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    agent = AGENTS[kind]
    (tmp_path / kind).write_text("#!/bin/sh\necho 0\n")
    (tmp_path / kind).chmod(0o755)
    for path in (tmp_path / kind, tmp_path / "nothing", tmp_path, Path("/bin/sh")):
        with pytest.raises(ExperimentStopped) as stopped:
            agent.at(path, agent.VERSIONS[-1], PROJECT.modules)
        assert "\n" not in str(stopped.value)
    with pytest.raises(ExperimentStopped, match="doit toolchain"):
        agent.in_modules(tmp_path, agent.VERSIONS[-1])


def test_an_executable_is_found_by_its_own_path_and_is_a_native_binary(bench: Bench) -> None:
    found = bench.agent.in_modules(PROJECT.modules, bench.executable.version)
    assert bench.agent.at(found.native, found.version, PROJECT.modules) == found
    assert found.fingerprint == bench.executable.fingerprint
    assert found.native.read_bytes()[:4] == b"\x7fELF"
    for path in (bench.executable.native, bench.executable.bubblewrap):
        assert path.is_relative_to(bench.work)


# A task call


def test_a_task_call_works_through_the_agents_own_tools(bench: Bench) -> None:
    workspace = bench.workspace()
    skill = f"{HOMES[bench.agent.KIND]}/skills/configure-ecc/SKILL.md"
    steps = (Run("echo x > b.txt; node --version"), *EDITS, Run(f"cat {skill}"), Run("false"), Say("done"))
    finished, reading, endpoint = bench.play(*steps, workspace=workspace)
    assert (reading.failure, reading.message) == (None, "done")
    assert (reading.failed_commands, reading.failed_patches) == (1, 0)
    assert reading.commands >= 3
    assert reading.patches >= 1
    assert (reading.opened_skills, reading.unknown_opens, reading.install_alarms) == (("configure-ecc",), 0, 0)
    assert reading.usage is not None
    assert reading.usage.input_tokens > reading.usage.cached_input_tokens > 0
    assert reading.usage.output_tokens > 0
    found = {path.relative_to(workspace).as_posix() for path in workspace.rglob("*") if path.is_file()}
    assert found == {"a.txt", "b.txt", "n/d.txt"}
    assert (workspace / "a.txt").read_text() == "ho\n"
    assert (workspace / "n" / "d.txt").read_text("utf-8") == "h\u00e9\n"
    assert finished.contained == processes.Contained(True, True, Level.SEALED)
    node = subprocess.run([NODE, "--version"], capture_output=True, check=True, text=True).stdout.strip()
    assert node in outputs(endpoint)


def test_the_prompt_arrives_byte_for_byte_and_is_no_argument(bench: Bench) -> None:
    prompt = "--help resume \u00e9 \U0001f600 `x` $(id) @/etc/passwd\n\n  end  \n"
    with bench.model.play(Behaviour("says", (Say("ok"),))) as endpoint:
        call = bench.agent.task_call(bench.box(), bench.backend, prompt.encode(), endpoint.base_url)
        assert bench.agent.read(bench.run(call), SKILLS).failure is None
    assert prompt in told(endpoint.requests[0])
    assert "root:" not in json.dumps(endpoint.requests[0])
    assert isinstance(call.command, Boxed)
    assert not any("resume" in part for part in (*call.command.options, *call.command.program))


def test_the_model_is_told_neutral_places_and_the_installs_skills(bench: Bench) -> None:
    _, _, endpoint = bench.play(Say("ok"))
    request = json.dumps(endpoint.requests[0])
    assert all(f"- {skill}: " in request for skill in SKILLS)
    for word in (os.fspath(bench.work), os.fspath(PROJECT.root), "workbench", "rehears", "manual-lean", "auto-lean"):
        assert word not in request
    assert not {"spawn_agent", "web_search", "Agent", "Task", "WebSearch", "WebFetch"} & tools(endpoint.requests[0])


def test_what_the_agent_runs_sees_nothing_of_ours_and_cannot_change_the_install(bench: Bench) -> None:
    home = HOMES[bench.agent.KIND]
    script = (
        f"for f in {home}/skills/x {home}/skills/configure-ecc/SKILL.md {home}/{SETTINGS[bench.agent.KIND]} "
        "/opt/agent/x /usr/x; do test -e $(dirname $f) && echo 1 2>/dev/null >> $f && echo wrote $f; done; "
        f"ls -d {PROJECT.root} {bench.work} /root 2>&1; id -u; env"
    )
    before = {path: path.stat() for path in bench.install.rglob("*") if path.is_file()}
    _, reading, endpoint = bench.play(Run(script), Say("ok"))
    said = outputs(endpoint)
    assert reading.failure is None
    assert said.count("No such file") == 3
    assert "wrote" not in said
    assert not DROP or f"\n{sandbox.UNPRIVILEGED_ID}\n" in said
    after = {path: path.stat() for path in bench.install.rglob("*") if path.is_file()}
    assert {path: (s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for path, s in before.items()} == {
        path: (s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for path, s in after.items()
    }


# A proposal call


def test_a_proposal_call_has_no_tool_that_works_and_returns_the_answer(bench: Bench) -> None:
    answer = '{"selectedIds": ["configure-ecc"]}'
    with bench.model.play(Behaviour("proposes", (Say(answer),))) as endpoint:
        place = bench.agent.sealed(bench.executable, bench.install, None)
        call = bench.agent.proposal_call(place, bench.backend, b"Which?", endpoint.base_url)
        reading = bench.agent.read(bench.run(call), SKILLS)
    assert (reading.failure, reading.message) == (None, answer)
    assert reading.usage is not None
    assert call.stdout_bytes == 64 * 1024
    assert not {"exec_command", "write_stdin", "Bash", "Edit", "Write", "Read"} & tools(endpoint.requests[0])


def test_a_long_proposal_is_stopped_at_its_cap(bench: Bench) -> None:
    with bench.model.play(Behaviour("talks", (Say("x" * 100_000),))) as endpoint:
        place = bench.agent.sealed(bench.executable, bench.install, None)
        call = bench.agent.proposal_call(place, bench.backend, b"?", endpoint.base_url)
        reading = bench.agent.read(bench.run(call), SKILLS)
    assert reading.failure is FailureCode.OUTPUT_LIMIT


# Credentials


def test_a_secret_stands_on_no_command_line_and_is_required_where_it_is_registered(bench: Bench) -> None:
    place = bench.box()
    modes = [mode for mode, variable in bench.agent.CREDENTIALS.items() if variable is not None]
    assert modes
    for mode in modes:
        backend = replace(bench.backend, rehearsal=False, authentication=mode)
        call = bench.agent.task_call(place, backend, b"x", None, CANARY)
        assert isinstance(call.command, Boxed)
        given = [*call.environment.values(), *(content.decode() for _, content in call.command.secrets)]
        assert given.count(CANARY) == 1
        assert not any("127.0.0.1" in value for value in given)
        assert CANARY not in " ".join((*call.command.options, *call.command.program))
        assert CANARY not in repr(call)
        with pytest.raises(ValueError, match="key"):
            bench.agent.task_call(place, backend, b"x")


def test_a_secret_can_not_be_read_by_what_the_model_runs(bench: Bench) -> None:
    # The command must not hold the word that it looks for.
    word = f"{CANARY[:3]}''{CANARY[3:]}"
    script = (
        f"env | grep {word}; for f in /proc/*/environ /proc/*/cmdline; do tr '\\0' '\\n' < $f | grep -a {word}; done; "
        f"for f in /proc/*/fd/*; do test -p $f && timeout 1 cat $f | grep -a {word}; done; "
        f"grep -rsal {word} /h /tmp /w; echo looked"
    )
    for mode, variable in bench.agent.CREDENTIALS.items():
        if variable is None:
            continue
        with bench.model.play(Behaviour("looks", (Run(script), Say("ok")))) as endpoint:
            backend = replace(bench.backend, authentication=mode)
            call = bench.agent.task_call(bench.box(), backend, b"Do it.", endpoint.base_url, CANARY)
            reading = bench.agent.read(bench.run(call), SKILLS)
        assert (reading.failure, reading.commands) == (None, 1)
        assert "looked" in outputs(endpoint)
        assert CANARY not in outputs(endpoint)
        assert CANARY not in json.dumps(endpoint.requests)


def test_a_credential_or_address_that_was_not_registered_is_a_fault_of_ours(bench: Bench) -> None:
    place, agent = bench.box(), bench.agent
    with pytest.raises(ValueError, match="key"):
        agent.task_call(place, bench.backend, b"x", "http://127.0.0.1:9/v1", "key")
    with pytest.raises(ValueError, match="loopback"):
        agent.task_call(place, bench.backend, b"x")
    with pytest.raises(ValueError, match="loopback"):
        agent.task_call(place, replace(bench.backend, rehearsal=False), b"x", "http://127.0.0.1:9/v1")


def test_the_agents_environment_holds_nothing_of_ours(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CODEX_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.setenv(variable, CANARY)
    call = bench.agent.task_call(bench.box(), bench.backend, b"x", "http://127.0.0.1:9/v1")
    assert CANARY not in json.dumps(dict(call.environment))
    assert not {"CLAUDECODE", "PYTHONPATH", "USER"} & set(call.environment)


# Faults


@pytest.mark.parametrize(("fault", "stops"), [("rate-limited", False), ("usage-limit", True)])
def test_a_limit_of_the_provider_has_its_code(bench: Bench, fault: str, stops: bool) -> None:
    with bench.model.play(spoiled(f"fault:{fault}", Behaviour(fault, (Run("true"), Say("ok"))))) as endpoint:
        finished = bench.run(bench.agent.task_call(bench.box(), bench.backend, b"Do it.", endpoint.base_url))
    reading = bench.agent.read(finished, SKILLS)
    assert (reading.failure, reading.stops_run, reading.usage) == ("rate-limited", stops, None)
    assert finished.exit_status == 1


@pytest.mark.parametrize("fault", ["zero-usage", "missing-usage"])
def test_usage_that_the_provider_does_not_report_is_unknown(bench: Bench, fault: str) -> None:
    with bench.model.play(spoiled(f"fault:{fault}", Behaviour(fault, (Say("ok"),)))) as endpoint:
        finished = bench.run(bench.agent.task_call(bench.box(), bench.backend, b"Do it.", endpoint.base_url))
    reading = bench.agent.read(finished, SKILLS)
    assert (reading.failure, reading.usage) == (None, None)


@pytest.mark.parametrize("fault", ["no-headers", "endless-loop"])
def test_a_call_that_would_never_end_is_ended_in_time(bench: Bench, fault: str) -> None:
    with bench.model.play(spoiled(f"fault:{fault}", Behaviour(fault, (Say("ok"),)))) as endpoint:
        for wall_seconds in (3.0, 9.0, 32.0):
            finished = bench.run(
                bench.agent.task_call(bench.box(), bench.backend, b"Do it.", endpoint.base_url), wall_seconds
            )
            assert bench.agent.read(finished, SKILLS).failure is FailureCode.CALL_TIMEOUT
            assert finished.contained == processes.Contained(True, True, Level.SEALED)
            if endpoint.request_count:
                break  # On a busy machine the agent may not have come so far yet.
    assert endpoint.request_count


# What it shows of its skills


def test_discovery_lists_the_install_and_the_agents_own_skills(bench: Bench) -> None:
    place = bench.agent.sealed(bench.executable, bench.install, None, network=False)
    discovery = bench.agent.discover(place)
    assert discovery.ids(system=False) == list(SKILLS)
    assert len(discovery.ids(system=True)) >= 6
    assert (discovery.strangers, discovery.faults) == ((), 0)
    exposure = bench.agent.exposure(place, bench.backend, discovery)
    assert (exposure.installed, exposure.listed) == (2, 2)
    assert exposure.own_installed == len(discovery.ids(system=True))
    assert 0 < exposure.own_listed <= exposure.own_installed
    assert (exposure.shortened_ids, exposure.dropped_ids) == ((), ())
    assert 5_000 < exposure.startup_context_bytes < 12_000


def test_exposure_of_a_real_provider_asks_none_and_is_that_of_a_rehearsal(bench: Bench) -> None:
    place = bench.agent.sealed(bench.executable, bench.install, None, network=False)
    discovery = bench.agent.discover(place)
    way = next(mode for mode, variable in bench.agent.CREDENTIALS.items() if variable is not None)
    real = replace(bench.backend, rehearsal=False, authentication=way)
    assert bench.agent.exposure(place, real, discovery) == bench.agent.exposure(place, bench.backend, discovery)
