"""The Codex module with both real binaries in their real sandbox, against the loopback model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from eval_tasks import library, processes, sandbox
from eval_tasks.agents import AGENTS, codex
from eval_tasks.agents.contract import Backend, Call, Executable, Reading
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.installs.build import Builder
from eval_tasks.installs.profiles import Profile
from eval_tasks.processes import Boxed, Finished, Level
from eval_tasks.rehearsal.behaviour import Behaviour, Patch, Run, Say
from eval_tasks.rehearsal.faults import spoiled
from eval_tasks.rehearsal.model import Endpoint, LoopbackModel
from eval_tasks.sandbox import AgentPlace
from tests.authority import REFRESH, Authority, serving
from tests.sealed_places import DROP, PROJECT, located, work_folder

pytestmark = pytest.mark.agent

SKILLS = ("configure-ecc", "strategic-compact")
NODE = Path(os.path.realpath(shutil.which("node") or "/usr/bin/node"))
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-hi\n+ho\n*** End Patch\n"
CANARY = "canary-5d41402a"
BACKEND = Backend(rehearsal=True, model="gpt-5.5")


@dataclass
class Bench:
    """One version of Codex with an install, ready for calls."""

    executable: Executable
    install: Path
    work: Path
    model: LoopbackModel
    backend: Backend = BACKEND

    def workspace(self) -> Path:
        folder = self.work / "calls" / os.urandom(4).hex()
        sandbox.make_work_folder(folder.parent, drop=DROP)
        sandbox.make_work_folder(folder, drop=DROP)
        place = folder / "w"
        place.mkdir()
        (place / "a.txt").write_text("hi\n")
        sandbox.own(place, drop=DROP)
        return place

    def sealed(self, workspace: Path | None = None, auth: Path | None = None) -> AgentPlace:
        return codex.sealed(self.executable, self.install, workspace or self.workspace(), NODE, auth)

    def run(self, call: Call, wall_seconds: float = 60) -> Finished:
        return processes.run(
            call.command,
            environment=call.environment,
            stdin=call.stdin,
            wall_seconds=wall_seconds,
            stdout_bytes=call.stdout_bytes,
        )

    def other(self, backend: Backend, retries: int = 4) -> Bench:
        """Return a bench whose install has the same skills and another configuration."""
        install = self.install.with_name(os.urandom(4).hex())
        shutil.copytree(self.install, install)
        bare = codex.sealed(self.executable, self.install, None)
        config = codex.config_text(backend, bare)
        assert "stream_max_retries = 4" in config
        (install / codex.CONFIG).write_text(config.replace("stream_max_retries = 4", f"stream_max_retries = {retries}"))
        (install / codex.CATALOG).write_bytes(codex.catalog(bare, backend.model))
        return replace(self, install=install, backend=backend)

    def play(self, behaviour: Behaviour, workspace: Path | None = None) -> tuple[Finished, Reading, Endpoint]:
        """Make one sealed task call and return its end, what it says, and what the model saw."""
        with self.model.play(behaviour) as endpoint:
            place = self.sealed(workspace)
            finished = self.run(codex.task_call(place, self.backend, b"Do it.", endpoint.base_url))
        return finished, codex.read(finished, SKILLS), endpoint


@pytest.fixture(scope="module")
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as running:
        yield running


@pytest.fixture(scope="module", params=codex.VERSIONS)
def bench(request: pytest.FixtureRequest, model: LoopbackModel) -> Iterator[Bench]:
    with work_folder() as work:
        executable = located(request.param, work)
        install = work / "installs" / "a"
        skills = library.load(PROJECT.modules / "ecc-universal" / "skills")
        Builder(AGENTS["codex"], executable, BACKEND, skills).build(install, "lean", Profile("lean@1", SKILLS))
        yield Bench(executable, install, work, model)


@pytest.fixture(scope="module")
def impatient(bench: Bench) -> Bench:
    """The same agent without retries, for faults that would only be repeated."""
    return bench.other(BACKEND, retries=0)


def outputs(endpoint: Endpoint) -> str:
    return "\n".join(str(output.get("output")) for output in endpoint.outputs)


# Where it is


@pytest.mark.parametrize("version", codex.VERSIONS)
def test_every_way_to_name_an_executable_finds_its_native_binary(version: str, tmp_path: Path) -> None:
    found = codex.in_modules(PROJECT.modules, version)
    assert (found.kind, found.version) == ("codex", version)
    with found.native.open("rb") as stream:
        assert stream.read(4) == b"\x7fELF"
    alias = PROJECT.modules / {"0.155.1": "codex", "0.154.0": "codex-0154"}[version]
    link = tmp_path / "codex"
    link.symlink_to(alias / "bin" / "codex.js")
    for path in (alias / "bin" / "codex.js", link, found.native):
        assert codex.at(path, version, PROJECT.modules) == found


def test_the_two_versions_are_two_binaries() -> None:
    fingerprints = {codex.in_modules(PROJECT.modules, version).fingerprint for version in codex.VERSIONS}
    assert {fingerprint[:8] for fingerprint in fingerprints} == {"0753dfe1", "3188814c"}


def test_an_executable_of_another_version_is_refused() -> None:
    other = codex.in_modules(PROJECT.modules, "0.154.0").native
    with pytest.raises(ExperimentStopped, match=r"is Codex 0\.154\.0, not 0\.155\.1"):
        codex.at(other, "0.155.1", PROJECT.modules)


def test_what_is_no_codex_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "codex").write_text("#!/bin/sh\necho codex-cli 0.155.1\n")
    (tmp_path / "codex").chmod(0o755)
    (tmp_path / "codex.js").write_text("")
    for path in (tmp_path / "codex", tmp_path / "nothing", tmp_path, tmp_path / "codex.js", Path("/bin/sh")):
        with pytest.raises(ExperimentStopped) as stopped:
            codex.at(path, "0.155.1", PROJECT.modules)
        assert "\n" not in str(stopped.value)
    with pytest.raises(ExperimentStopped, match="doit toolchain"):
        codex.in_modules(tmp_path, "0.155.1")


# A task call


def test_a_task_call_works_through_the_agents_own_tools(bench: Bench) -> None:
    steps = (Run("echo x > b.txt; node --version"), Patch(PATCH), Run("cat ~/.codex/skills/configure-ecc/SKILL.md"))
    workspace = bench.workspace()
    finished, reading, endpoint = bench.play(Behaviour("works", (*steps, Say("done"))), workspace)
    assert (reading.failure, reading.message) == (None, "done")
    assert (reading.commands, reading.failed_commands, reading.patches, reading.failed_patches) == (2, 0, 1, 0)
    assert (reading.opened_skills, reading.unknown_opens, reading.install_alarms) == (("configure-ecc",), 0, 0)
    assert reading.usage is not None
    assert reading.usage.input_tokens > reading.usage.cached_input_tokens > 0
    assert (workspace / "a.txt").read_text() == "ho\n"
    assert (workspace / "b.txt").read_text() == "x\n"
    assert finished.contained == processes.Contained(True, True, Level.SEALED)
    node = subprocess.run([NODE, "--version"], capture_output=True, check=True, text=True).stdout
    assert node in outputs(endpoint)


def test_the_model_is_told_neutral_places_and_the_installs_skills(bench: Bench) -> None:
    _, _, endpoint = bench.play(Behaviour("says", (Say("ok"),)))
    told = json.dumps(endpoint.requests[0])
    assert "`/h/.codex/skills`" in told
    assert "<cwd>/w</cwd>" in told
    assert all(f"- {skill}: " in told for skill in SKILLS)
    for word in (os.fspath(bench.work), os.fspath(PROJECT.root), "workbench", "rehears", "manual-lean", "auto-lean"):
        assert word not in told
    names = [tool.get("name") for tool in endpoint.requests[0]["tools"]]
    assert "exec_command" in names
    assert not {"spawn_agent", "web_search"} & set(names)


def test_the_agent_cannot_write_beyond_its_workspace_or_reach_a_network(bench: Bench) -> None:
    with serving(Authority()) as address:
        _pry(bench, address)


def _pry(bench: Bench, address: str) -> None:
    script = (
        "for f in /tmp/x /h/x ~/.codex/config.toml ~/.codex/skills/x /w/.git/x /var/tmp/x /opt/agent/x; "
        "do echo 1 2>/dev/null > $f && echo wrote $f; done; "
        f"node -e \"fetch('{address}').then(() => console.log('reached'), e => console.log('refused'))\"; "
        f"ls -d {PROJECT.root} {bench.work} /root"
    )
    with bench.model.play(Behaviour("pries", (Run(script), Say("ok")))) as endpoint:
        finished = bench.run(codex.task_call(bench.sealed(), bench.backend, b"Do it.", endpoint.base_url))
    said = outputs(endpoint)
    assert codex.read(finished, SKILLS).failure is None
    assert "wrote" not in said
    assert "refused" in said
    assert said.count("No such file") >= 3


def test_a_code_mode_model_works_too(bench: Bench) -> None:
    workspace = bench.workspace()
    code_mode = bench.other(replace(bench.backend, model="gpt-6-astra"))
    steps = (Run("echo x > b.txt"), Patch(PATCH), Say("done"))
    _, reading, endpoint = code_mode.play(Behaviour("works", steps), workspace)
    assert (reading.failure, reading.commands, reading.patches) == (None, 1, 1)
    assert (workspace / "a.txt").read_text() == "ho\n"
    # Sub-agents would spend outside the turn's usage.
    assert "spawn_agent" not in json.dumps(endpoint.requests[0])


def test_a_model_that_the_binary_does_not_know_can_not_be_rehearsed_with(bench: Bench) -> None:
    with pytest.raises(ExperimentStopped, match=r"no model `made-up-model` to rehearse with; it has .*gpt-5\.5"):
        codex.catalog(bench.sealed(), "made-up-model")


# A proposal call


def test_a_proposal_call_has_no_shell_and_a_fixed_answer(bench: Bench) -> None:
    answer = '{"selectedIds": ["configure-ecc"]}'
    with bench.model.play(Behaviour("proposes", (Say(answer),))) as endpoint:
        place = codex.sealed(bench.executable, bench.install, None)
        call = codex.proposal_call(place, bench.backend, b"Which?", endpoint.base_url)
        reading = codex.read(bench.run(call), SKILLS)
    assert (reading.failure, reading.message) == (None, answer)
    assert call.stdout_bytes == 64 * 1024
    request = endpoint.requests[0]
    assert not {"exec_command", "write_stdin", "view_image"} & {tool.get("name") for tool in request["tools"]}
    assert "`sandbox_mode` is `read-only`" in json.dumps(request)
    shape = request["text"]["format"]
    assert (shape["type"], shape["schema"]["required"]) == ("json_schema", ["selectedIds"])
    # A task call is not told of that shape, and its home does not hold it.
    _, _, task = bench.play(Behaviour("lists", (Run("ls -a ~/.codex"), Say("ok"))))
    assert codex.ANSWER_SCHEMA not in outputs(task)
    assert "format" not in task.requests[0].get("text", {})


# Credentials


def test_a_lent_login_is_renewed_in_place_and_hidden_from_the_shell(bench: Bench) -> None:
    authority = Authority()
    workspace = bench.workspace()
    auth = workspace.parent / "auth.json"
    auth.write_bytes(authority.sign_in(CANARY))
    auth.chmod(0o600)
    sandbox.own(auth, drop=DROP)
    before = auth.stat()
    script = "for f in ~/.codex/auth.json /proc/*/root/h/.codex/auth.json; do cat $f; cp $f stolen; ln $f linked; done"
    behaviour = Behaviour("steals", (Run(script), Say("ok")))
    with serving(authority) as address, bench.model.play(behaviour) as endpoint:
        bench = bench.other(replace(bench.backend, authentication="login-home", refresh_url=f"{address}{REFRESH}"))
        call = codex.task_call(bench.sealed(workspace, auth), bench.backend, b"Do it.", endpoint.base_url)
        finished = bench.run(call)
    assert codex.read(finished, SKILLS).failure is None
    (renewed,) = authority.renewed
    assert json.loads(auth.read_text())["tokens"]["refresh_token"] == renewed
    assert auth.stat().st_ino == before.st_ino
    said = outputs(endpoint)
    assert renewed not in said
    assert CANARY not in said
    assert "Permission denied" in said
    assert not {"stolen", "linked"} & set(os.listdir(workspace))


def test_an_api_key_reaches_the_agent_process_only(bench: Bench) -> None:
    bench = bench.other(replace(bench.backend, authentication="api-key"))
    script = "env; cat /proc/*/environ | tr '\\0' '\\n'; grep -rs canary ~ /tmp /w; ls -A ~/.codex"
    with bench.model.play(Behaviour("looks", (Run(script), Say("ok")))) as endpoint:
        call = codex.task_call(bench.sealed(), bench.backend, b"Do it.", endpoint.base_url, CANARY)
        finished = bench.run(call)
    assert codex.read(finished, SKILLS).failure is None
    assert call.environment["CODEX_API_KEY"] == CANARY
    assert isinstance(call.command, Boxed)
    assert CANARY not in repr(call)
    assert CANARY not in " ".join((*call.command.options, *call.command.program))
    assert CANARY not in outputs(endpoint)
    assert CANARY not in json.dumps(endpoint.requests)
    assert "shell_snapshots" not in outputs(endpoint)


def test_the_agents_environment_holds_nothing_of_ours(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    call = codex.task_call(bench.sealed(), bench.backend, b"x", "http://127.0.0.1:9/v1")
    assert set(call.environment) == {"PATH", "HOME", "CODEX_HOME", "TMPDIR", "LANG"}


# Faults


@pytest.mark.parametrize(
    ("fault", "code", "stops"),
    [
        ("unauthorized", "authentication", True),
        ("rate-limited", "rate-limited", False),
        ("usage-limit", "rate-limited", True),
        ("cut", "agent-failed", False),
        ("connection-refused", "agent-failed", False),
    ],
)
def test_a_fault_of_the_provider_has_its_code(impatient: Bench, fault: str, code: str, stops: bool) -> None:
    finished, reading, _ = impatient.play(spoiled(f"fault:{fault}", Behaviour(fault, (Run("true"), Say("ok")))))
    assert (reading.failure, reading.stops_run, reading.usage) == (code, stops, None)
    assert finished.exit_status == 1


@pytest.mark.parametrize(
    ("fault", "transient", "known"), [("transient", 4, True), ("zero-usage", 0, False), ("missing-usage", 0, False)]
)
def test_a_fault_that_the_agent_survives_is_no_failure(bench: Bench, fault: str, transient: int, known: bool) -> None:
    _, reading, _ = bench.play(spoiled(f"fault:{fault}", Behaviour(fault, (Say("ok"),))))
    assert (reading.failure, reading.transient_errors) == (None, transient)
    assert (reading.usage is not None) is known


def test_an_agent_whose_own_sandbox_cannot_start_says_so(bench: Bench) -> None:
    with bench.model.play(Behaviour("works", (Run("true"), Say("ok")))) as endpoint:
        call = codex.task_call(bench.sealed(), bench.backend, b"Do it.", endpoint.base_url)
        assert isinstance(call.command, Boxed)
        poor = replace(call.command, options=("--disable-userns", *call.command.options))
        reading = codex.read(bench.run(replace(call, command=poor)), SKILLS)
    assert reading.failure is FailureCode.SANDBOX_UNAVAILABLE


# Level agent-sandbox


def test_without_an_outer_box_the_agents_own_sandbox_denies_the_rest(bench: Bench) -> None:
    secret = bench.work / "submissions"
    secret.mkdir(exist_ok=True)
    (secret / "grader").write_text(CANARY)
    sandbox.make_readable(secret)
    backend = replace(bench.backend, denied=(os.fspath(secret), os.fspath(PROJECT.root)))
    workspace = bench.workspace()
    place = codex.unsealed(bench.executable, bench.install, backend, call=workspace.parent, workspace=workspace)
    script = (
        f"pwd; cat {secret}/grader; ls {PROJECT.root}/tests; echo 1 > /tmp/x-{CANARY} && echo wrote; "
        "head -3 ~/.codex/skills/configure-ecc/SKILL.md; (setsid sleep 300 &) ; echo x > b.txt"
    )
    with bench.model.play(Behaviour("pries", (Run(script), Patch(PATCH), Say("ok")))) as endpoint:
        finished = bench.run(codex.task_call(place, backend, b"Do it.", endpoint.base_url))
    reading = codex.read(finished, SKILLS, place)
    said = outputs(endpoint)
    assert (reading.failure, reading.opened_skills) == (None, ("configure-ecc",))
    assert finished.contained == processes.Contained(True, True, Level.AGENT_SANDBOX)
    assert os.fspath(workspace) in said
    assert "name: configure-ecc" in said
    assert CANARY not in said.replace(f"x-{CANARY}", "")
    assert "wrote" not in said
    assert "synthetic_records" not in said
    assert (workspace / "a.txt").read_text() == "ho\n"
    assert (workspace / "b.txt").read_text() == "x\n"


# What it shows of its skills


@pytest.mark.parametrize("rehearsal", [True, False])
def test_discovery_lists_the_install_and_the_agents_own_skills(bench: Bench, rehearsal: bool) -> None:
    backend = replace(bench.backend, rehearsal=rehearsal)
    place = codex.sealed(bench.executable, bench.install, None, network=False)
    discovery = codex.discover(place)
    assert discovery.ids(system=False) == list(SKILLS)
    assert len(discovery.ids(system=True)) == 6
    assert (discovery.strangers, discovery.faults) == ((), 0)
    exposure = codex.exposure(place, backend, discovery)
    assert (exposure.installed, exposure.listed, exposure.own_installed, exposure.own_listed) == (2, 2, 6, 5)
    assert (exposure.shortened_ids, exposure.dropped_ids) == ((), ())
    assert 5_000 < exposure.startup_context_bytes < 10_000


def test_a_window_too_small_drops_and_shortens_skills(bench: Bench) -> None:
    models = json.loads(codex.catalog(bench.sealed(), "gpt-5.5"))["models"]
    entry = next(model for model in models if model["slug"] == "gpt-5.5")
    small = bench.work / "installs" / "small"
    shutil.copytree(bench.install, small, dirs_exist_ok=True)
    narrow = {**entry, "context_window": 10_000, "max_context_window": 10_000}
    (small / codex.CATALOG).write_text(json.dumps({"models": [narrow]}))
    place = codex.sealed(bench.executable, small, None, network=False)
    exposure = codex.exposure(place, bench.backend, codex.discover(place))
    assert exposure.installed == 2
    assert len(exposure.shortened_ids) + len(exposure.dropped_ids) == 2


def test_discovery_reports_strangers_and_faults(bench: Bench) -> None:
    odd = bench.work / "installs" / "odd"
    shutil.copytree(bench.install, odd, dirs_exist_ok=True)
    for name, text in (("deep/er", "---\nname: deep\ndescription: d\n---\n"), ("broken", "no front matter")):
        (odd / "skills" / name).mkdir(parents=True, exist_ok=True)
        (odd / "skills" / name / "SKILL.md").write_text(text)
    sandbox.make_readable(odd)
    discovery = codex.discover(codex.sealed(bench.executable, odd, None, network=False))
    assert discovery.strangers == ("deep",)
    assert discovery.faults == 1
    assert discovery.ids(system=False) == list(SKILLS)
    with bench.model.play(Behaviour("says", (Say("ok"),))) as endpoint:
        place = codex.sealed(bench.executable, odd, None)
        reading = codex.read(bench.run(codex.task_call(place, bench.backend, b"x", endpoint.base_url)), SKILLS)
    assert reading.install_alarms == 1
