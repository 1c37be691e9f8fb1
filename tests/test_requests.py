"""What an agent is really told and can really see, read off the requests that the loopback model received."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from eval_tasks.paths import Project
from eval_tasks.rehearsal.model import Endpoint, LoopbackModel
from eval_tasks.rehearsal.responses import messages
from eval_tasks.schedule import Trial
from eval_tasks.selection import context
from eval_tasks.stages import prepare, register, run_arm
from eval_tasks.stages.session import Session
from tests.laboratory import CASES, PROBES, Laboratory

pytestmark = pytest.mark.agent

CASE = CASES[0]
ARMS = ("full", "manual-lean", "auto-lean")
LOOK = [
    "env; pwd; id; hostname; ls -la / /w /h /h/.codex /tmp",
    "find /w /h -type f | sort",
    "cat /proc/self/mountinfo /proc/self/cgroup; tr '\\0' ' ' < /proc/1/cmdline",
    "ls -la .. ../.. 2>&1; git log 2>&1; git rev-parse --show-toplevel 2>&1",
]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Endpoint]]]:
    """Run one case in every arm, with a model that looks around, and keep each arm's calls."""
    script = {"default": "attack:look", "attacks": {"look": LOOK}}
    lab = Laboratory(tmp_path_factory.mktemp("requests") / "p", cases=[CASE], probes=PROBES[:1], rehearsal=script)
    register.register(Project(lab.root), register.Request(overrides={}))
    session = Session.open(Project(lab.root), consent=False)
    found: dict[str, list[Endpoint]] = {}
    try:
        for install in ("full", "lean"):
            prepare.prepare(session, install)
        with LoopbackModel(keep_calls=True) as model:
            session.__dict__["model"] = model
            for arm in ARMS:
                before = len(model.calls)
                run_arm.run_arm(session, Trial(CASE, arm, 1).name)
                found[arm] = model.calls[before:]
        found["session"] = [session]  # type: ignore[list-item]
        yield found
    finally:
        session.close()
        lab.close()


def prompt_of(call: Endpoint) -> str:
    """Return what the user said last in a call's first request."""
    return messages(call.requests[0])[-1][1]


def session_of(seen: dict[str, Any]) -> Session:
    found: Session = seen["session"][0]
    return found


def test_full_is_told_the_cases_prompt_byte_for_byte_and_nothing_else(seen):
    case = session_of(seen).assembly.corpus.case(CASE)
    assert len(seen["full"]) == 1
    assert prompt_of(seen["full"][0]) == case.prompt
    assert context.SCHEMA_VERSION not in json.dumps(seen["full"][0].requests)


def test_manual_lean_is_told_exactly_the_preregistered_skill(seen):
    session = session_of(seen)
    case = session.assembly.corpus.case(CASE)
    assert len(seen["manual-lean"]) == 1
    prompt = prompt_of(seen["manual-lean"][0])
    assert prompt == context.with_context(case.prompt, session.assembly.library, [case.skill])
    block = json.loads(prompt.splitlines()[-1])
    assert block["selectedIds"] == [case.skill]
    assert [resource["content"] for resource in block["resources"]] == [
        session.assembly.library.skills[case.skill].text
    ]


def test_auto_lean_is_told_what_the_resolver_or_the_proposal_chose(seen):
    session = session_of(seen)
    case = session.assembly.corpus.case(CASE)
    record = json.loads(session.experiment.arm_run(Trial(CASE, "auto-lean", 1).name).read_bytes())
    assert record["selection"] in ("resolver", "proposal", "none")
    wanted = context.with_context(case.prompt, session.assembly.library, record["selectedIds"])
    assert prompt_of(seen["auto-lean"][-1]) == wanted
    assert len(seen["auto-lean"]) == 1 + (record["selection"] == "proposal")


def test_full_lists_the_library_natively_and_lean_only_its_core(seen):
    full, lean = (json.dumps(seen[arm][0].requests[0]["input"]) for arm in ("full", "manual-lean"))
    for skill in ("react-performance", "postgres-patterns"):
        assert f"/{skill}/SKILL.md" in full
        assert f"r0/{skill}/SKILL.md" not in lean
    assert "configure-ecc/SKILL.md" in lean


@pytest.mark.parametrize("arm", ARMS)
def test_nothing_that_an_agent_can_see_names_the_case_the_arm_or_the_grader(seen, arm):
    session = session_of(seen)
    case = session.assembly.corpus.case(CASE)
    text = json.dumps(seen[arm][-1].requests, ensure_ascii=False)
    assert len(seen[arm][-1].outputs) == len(LOOK)
    assert "/w/" in text
    assert "mountinfo" in text
    forbidden = [case.id, "manual-lean", "auto-lean", "grader.cjs", str(session.project.root)]
    assert [word for word in forbidden if word in text] == []
    lines = [line.strip() for line in case.grader.read_text("utf-8").splitlines()]
    visible = "\n".join(content.decode("utf-8") for content in case.workspace.values())
    own = [line for line in lines if len(line) > 30 and line not in visible]
    assert len(own) > 10
    assert [line for line in own if line in text] == []
