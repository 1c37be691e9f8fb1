"""The table of agents: a further one is a module and a row, and the rest of the evaluator asks the row alone."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_tasks.agents import AGENTS
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.stages import session
from tests.laboratory import CASES, PROBES, REPOSITORY, Laboratory

TINY = REPOSITORY / "tests" / "tiny_agent"
CLAUDE = {"kind": "claude", "version": "2.1.332", "backend": "rehearsal", "model": "claude-haiku-4-5", "effort": None}
MIXED = {
    "default": "oracle",
    "trials": {CASES[0]: {"full": "nop", "auto-lean": "wrong"}, CASES[1]: {"manual-lean": "refuse"}},
}
TINY_TRIALS = {CASES[1]: {"manual-lean": "wrong"}}
PREDICTED = {
    (CASES[0], "full"): False,
    (CASES[0], "manual-lean"): True,
    (CASES[0], "auto-lean"): False,
    (CASES[1], "full"): True,
    (CASES[1], "manual-lean"): False,
    (CASES[1], "auto-lean"): True,
}
NAMED_BESIDE_THE_AGENTS = {
    "eval_tasks/__main__.py",  # Which agent `init` takes unless it is told.
    "eval_tasks/files.py",  # What a killed sandbox of Codex leaves in a workspace.
    "eval_tasks/starter/project.py",  # Which model `init` takes unless it is told.
    "eval_tasks/rehearsal/responses.py",  # A header of Codex's requests.
    "eval_tasks/trials/lease.py",  # Logins, which only Codex is lent.
}


def add_tiny(lab: Laboratory) -> None:
    """Add the tiny agent to a laboratory: its package to the toolchain, its module, and its row."""
    modules = lab.root / "toolchain" / "node_modules"
    real = modules.resolve()
    modules.unlink()
    modules.mkdir()
    for entry in real.iterdir():
        (modules / entry.name).symlink_to(entry)
    shutil.copytree(TINY / "package", modules / "tiny")
    shutil.copy(TINY / "tiny.py", lab.root / "eval_tasks" / "agents" / "tiny.py")
    table = lab.root / "eval_tasks" / "agents" / "__init__.py"
    before = table.read_text("utf-8")
    text = before.replace("import claude, codex\n", "import claude, codex, tiny\n")
    text = text.replace("    claude.KIND: claude,\n", "    claude.KIND: claude,\n    tiny.KIND: tiny,\n")
    assert len(text.splitlines()) == len(before.splitlines()) + 1
    table.write_text(text, "utf-8")


def run(lab: Laboratory, agent: dict[str, Any]) -> dict[str, Any]:
    """Register an agent, run everything, and return the report."""
    lab.settings(agent=agent)
    for command in ("register", "run_eval", "report"):
        lab.ok(command)
    return lab.report


def passed(report: dict[str, Any]) -> dict[tuple[str, str], bool]:
    return {(row["caseId"], row["arm"]): row["passed"] for row in report["outcomes"]}


@pytest.mark.agent
def test_claude_code_runs_ecc_end_to_end_as_the_script_predicts(laboratory: Any) -> None:
    lab = laboratory(rehearsal=MIXED)
    report = run(lab, CLAUDE)
    assert passed(report) == PREDICTED
    assert {row["failure"] for row in report["outcomes"] if not row["passed"]} == {"hidden-check"}
    assert all(row["usage"] is not None for row in report["outcomes"])
    assert [row["id"] for row in report["selection"]] == list(PROBES)
    assert all(row["passed"] for row in report["selection"])
    assert report["registration"]["agent"]["kind"] == "claude"
    installs = {row["id"]: row for row in report["installs"]}
    # At a window of 200,000 tokens it tells the names of Full's skills and none of their descriptions, and says so
    # nowhere: only the request shows it.
    assert (installs["full"]["installed"], installs["full"]["listed"], installs["full"]["shortened"]) == (197, 197, 197)
    assert (installs["lean"]["installed"], installs["lean"]["listed"], installs["lean"]["shortened"]) == (3, 3, 0)
    assert "dataviz" in installs["lean"]["systemSkills"]
    assert len(lab.paid()) == report["calls"]["total"]


@pytest.mark.agent
def test_a_third_agent_is_one_module_and_one_row(laboratory: Any) -> None:
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1], rehearsal={"default": "oracle", "trials": TINY_TRIALS})
    add_tiny(lab)
    agent = {"kind": "tiny", "version": "1.0.0", "backend": "rehearsal", "model": "any", "effort": None}
    report = run(lab, agent)
    assert passed(report) == {(CASES[1], "full"): True, (CASES[1], "manual-lean"): False, (CASES[1], "auto-lean"): True}
    assert all(row["passed"] for row in report["selection"])
    assert report["registration"]["agent"]["kind"] == "tiny"
    assert "eval_tasks/agents/tiny.py" in lab.registration["design"]["sources"]["execution"]
    lab.settings(authentication="api-key", agent={**agent, "backend": "tiny"})
    lab.ok("register", "--new", "--reason", "the real provider", "--accept-shortfall")
    assert "TINY_KEY is not set" in lab.stopped("run_eval", "--allow-real-provider")


@pytest.mark.agent
def test_what_an_agent_cannot_do_is_refused_in_one_line_at_the_registration(laboratory: Any) -> None:
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.settings(agent=CLAUDE)
    for changes, said in (
        ({"isolation": "agent-sandbox"}, "isolation: agent-sandbox is not for claude; set it to one of sealed"),
        ({"agent": {**CLAUDE, "effort": "minimal"}}, "agent.effort: minimal is not for claude; set it to one of low,"),
        ({"agent": {**CLAUDE, "backend": "codex"}}, "agent.backend: must be one of rehearsal, claude"),
        ({"agent": {**CLAUDE, "version": "2.1.291"}}, "Claude Code 2.1.291 is not supported; choose one of 2.1.332"),
        ({"agent": {**CLAUDE, "kind": "other"}}, "must be one of"),
        (
            {"agent": {**CLAUDE, "backend": "claude"}, "authentication": "login-home"},
            "authentication: login-home is not for claude; set it to one of none, api-key, oauth-token",
        ),
    ):
        lab.settings(**{"agent": CLAUDE, "isolation": "sealed", "authentication": "none", **changes})
        message = lab.stopped("register", "--accept-shortfall")
        assert said in message
        assert "\n" not in message
    lab.settings(agent=CLAUDE, isolation="sealed", authentication="none")
    case = lab.root / "corpus" / "cases" / CASES[1] / "case.yaml"
    case.write_text(case.read_text("utf-8").replace("prompt: |\n", "prompt: |\n  /init the project.\n"), "utf-8")
    lab.vouch()
    assert "claude would take it for a command of its own" in lab.stopped("register")


@pytest.mark.agent
def test_a_missing_token_stops_the_run_and_no_key_stands_in(laboratory: Any) -> None:
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.settings(agent={**CLAUDE, "backend": "claude"}, authentication="oauth-token")
    lab.ok("register", "--accept-shortfall")
    assert lab.registration["design"]["authentication"] == "oauth-token"
    said = lab.stopped("run_eval", "--allow-real-provider", ANTHROPIC_API_KEY="canary")
    assert "CLAUDE_CODE_OAUTH_TOKEN is not set" in said
    assert not (lab.experiment / "arm-runs").exists()


@pytest.mark.parametrize("kind", AGENTS)
def test_each_way_to_authenticate_takes_its_own_variable_only(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {mode: name for mode, name in AGENTS[kind].CREDENTIALS.items() if name is not None}
    for name in ("CODEX_API_KEY", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.setenv(name, f"secret of {name}")
    for mode, name in variables.items():
        assert session.secret(AGENTS[kind], mode) == f"secret of {name}"
        monkeypatch.delenv(name)
        with pytest.raises(ExperimentStopped, match=f"{name} is not set") as stopped:
            session.secret(AGENTS[kind], mode)
        assert stopped.value.code is FailureCode.AUTHENTICATION
    assert session.secret(AGENTS[kind], "none") is None


def strings(path: Path) -> Iterator[str]:
    """Yield the strings of a module's code; a text that stands alone is a docstring."""
    tree = ast.parse(path.read_bytes())
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_only_the_modules_of_the_agents_name_them() -> None:
    naming = {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "eval_tasks").rglob("*.py")
        if path.parent.name != "agents" and any(kind in text.lower() for text in strings(path) for kind in AGENTS)
    }
    assert naming == NAMED_BESIDE_THE_AGENTS
