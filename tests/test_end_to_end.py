"""The real doit on the real Codex and the real library: what a user sees from `register` to `report`."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess

import pytest

from tests.chaos import places
from tests.laboratory import CASES, PROBES

pytestmark = pytest.mark.agent

CLAUDE = {"kind": "claude", "version": "2.1.332", "backend": "rehearsal", "model": "claude-haiku-4-5", "effort": None}
MIXED = {
    "default": "oracle",
    "trials": {
        CASES[0]: {"full": "nop", "auto-lean": "wrong"},
        CASES[1]: {"manual-lean": "refuse"},
    },
}


def outcome_table(report):
    return {(row["caseId"], row["arm"]): row["passed"] for row in report["outcomes"]}


def test_a_mixed_script_gives_exactly_the_paired_table_that_it_predicts(laboratory):
    lab = laboratory(rehearsal=MIXED)
    lab.ok("register")
    lab.ok("run_eval")
    said = lab.ok("report")
    assert "gate: synthetic-only" in said
    assert outcome_table(lab.report) == {
        (CASES[0], "full"): False,
        (CASES[0], "manual-lean"): True,
        (CASES[0], "auto-lean"): False,
        (CASES[1], "full"): True,
        (CASES[1], "manual-lean"): False,
        (CASES[1], "auto-lean"): True,
    }
    deltas = {pair["arm"]: pair["delta"] for pair in lab.report["summary"]["pairs"]}
    assert deltas == {"auto-lean": 0.0, "manual-lean": 0.0}
    assert {row["failure"] for row in lab.report["outcomes"] if not row["passed"]} == {"hidden-check"}
    assert [row["id"] for row in lab.report["selection"]] == list(PROBES)
    assert all(row["passed"] for row in lab.report["selection"])
    assert lab.report["gate"]["releaseApproved"] is False


def test_a_finished_experiment_costs_no_further_call_and_builds_nothing(laboratory):
    lab = laboratory(probes=PROBES[:1])
    lab.ok("register")
    lab.ok("run_eval")
    lab.ok("report")
    paid, report = lab.paid(), lab.report
    assert len(paid) == len(set(paid)) + sum(
        record["selection"] == "proposal" for record in lab.records("arm-runs").values()
    )
    assert not lab.work.exists()
    (lab.root / "experiments" / ".doit.db").unlink()
    lab.ok("run_eval")
    lab.ok("run", "-a", "run_eval")
    lab.ok("report")
    assert lab.paid() == paid
    assert not (lab.work / "installs").exists()
    assert lab.report == report


@pytest.mark.parametrize("agent", [None, CLAUDE], ids=["codex", "claude"])
def test_six_arms_run_each_on_its_install_and_only_the_lean_ones_are_judged(laboratory, agent):
    (case,) = places.proposing_cases(1)
    script = {"default": "oracle", "trials": {case: {"pinned": "nop"}}}
    lab = laboratory(cases=[case], probes=PROBES[1:2], rehearsal=script)
    small = places.give_library_of(lab.root, case)
    old = lab.root / "library" / "strategic-compact" / "SKILL.md"
    for arguments in (["init", "--quiet"], ["add", "library"], ["commit", "--quiet", "-m", "old"]):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", "-C", lab.root, *identity, *arguments], check=True)
    commit = subprocess.run(
        ["git", "-C", lab.root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    was = hashlib.sha256(old.read_bytes()).hexdigest()
    old.write_text(old.read_text("utf-8") + "\nA sentence of the newer version.\n", "utf-8")
    lab.settings(
        library=small,
        arms=["full", "manual-lean", "auto-lean", "baseline", "pinned", "a-a"],
        pinned={"library": {"git": ".", "commit": commit, "skills": "library"}, "profile": "corpus/profiles/full.yaml"},
        **({} if agent is None else {"agent": agent}),
    )
    lab.ok("register")
    lab.ok("run_eval")
    lab.ok("report")
    assert {arm: passed for (_, arm), passed in outcome_table(lab.report).items()} == {
        **dict.fromkeys(("full", "manual-lean", "auto-lean", "baseline", "a-a"), True),
        "pinned": False,
    }
    inventories = lab.records("inventory")
    installed = {name: found["exposure"]["installed"] for name, found in inventories.items()}
    every = len(list((lab.root / "library").iterdir()))
    assert installed == {"full": every, "lean": 3, "baseline": 0, "pinned": every}
    place = "skills/strategic-compact/SKILL.md"
    assert inventories["pinned"]["files"][place] == was != inventories["full"]["files"][place]
    assert [(pair["arm"], pair["claimed"]) for pair in lab.report["summary"]["pairs"]] == [
        ("auto-lean", True),
        ("manual-lean", True),
        ("a-a", False),
        ("baseline", False),
        ("pinned", False),
    ]
    assert lab.report["summary"]["pairs"][0]["alphaPerSide"] == 0.05 / 10
    assert "matches           inventory of pinned holds the bound skills" in lab.ok("verify")


def test_an_own_selector_is_bound_asked_and_named_in_the_verdict(laboratory):
    (case,) = places.proposing_cases(1)
    lab = laboratory(cases=[case], probes=PROBES[1:2])
    router = lab.root / "router.py"
    skill = places.cases()[case]["skill"]
    router.write_text(f"import json\nprint(json.dumps({{'selectedIds': ['{skill}'], 'reason': 'always'}}))\n", "utf-8")
    lab.settings(library=places.give_library_of(lab.root, case), selector={"command": ["python3", "router.py"]})
    assert "the selector breaks 4 of 8 requirements" in lab.stopped("selector")
    lab.ok("register")
    before = router.read_text("utf-8")
    router.write_text(before + "# edited\n", "utf-8")
    assert lab.stopped("run_eval").startswith("source-drift: selector: command@")
    router.write_text(before, "utf-8")
    lab.ok("run_eval")
    lab.ok("report")
    (auto,) = [row for row in lab.report["outcomes"] if row["arm"] == "auto-lean"]
    assert (auto["passed"], auto["selectedIds"]) == (True, [skill])
    (probe,) = lab.report["selection"]
    assert (probe["passed"], probe["selectedIds"]) == (False, [skill])
    selector = lab.registration["design"]["selector"]
    assert selector.startswith("command@")
    assert f"With the registered selector {selector}, of which the claim speaks." in lab.report["verdict"]["notes"][0]
    assert len(lab.paid()) == 3


def test_every_arm_fails_every_case_if_the_agent_does_nothing_also_on_the_older_codex(laboratory):
    lab = laboratory(rehearsal={"default": "nop"}, probes=PROBES[:1])
    lab.ok("register", "--agent-version", "0.154.0")
    lab.ok("run_eval")
    lab.ok("report")
    assert lab.registration["design"]["agent"]["version"] == "0.154.0"
    assert [row["failure"] for row in lab.report["outcomes"]] == ["hidden-check"] * 6


def test_changed_analysis_sources_analyze_again_without_a_call_and_the_report_says_so(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    lab.ok("run_eval")
    lab.ok("report")
    paid, before = lab.paid(), lab.report
    assert before["analysis"]["differs"] is False
    source = lab.root / "eval_tasks" / "analysis" / "pairs.py"
    source.write_text(source.read_text("utf-8") + "\n# another thought\n", "utf-8")
    lab.ok("report")
    after = lab.report
    assert lab.paid() == paid
    assert after["analysis"]["differs"] is True
    assert after["analysis"]["registered"] == before["analysis"]["registered"] != after["analysis"]["current"]
    assert after["analysis"]["registeredNumbers"] is not None


BOUND = (
    "corpus/cases/open-slots/grader.cjs",
    "corpus/cases/open-slots/case.yaml",
    "corpus/probes.yaml",
    "eval_tasks/stages/run_arm.py",
    "eval_tasks/grading/runtime.cjs",
    "dodo.py",
)


def test_an_edit_of_a_bound_file_after_the_registration_stops_before_any_call_and_names_it(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    for place in BOUND:
        path = lab.root / place
        before = path.read_text("utf-8")
        path.write_text(f"{before}\n{'//' if place.endswith('cjs') else '#'} edited\n", "utf-8")
        said = lab.stopped("run_eval")
        assert said.startswith("source-drift: ")
        assert place in said
        assert "->" in said
        assert "\n" not in said
        path.write_text(before, "utf-8")
    assert lab.paid() == []
    assert not (lab.experiment / "arm-runs").exists()


def test_a_changed_design_is_refused_line_by_line_and_can_be_registered_beside_the_old_one(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    assert "registered experiment" in lab.ok("register")
    assert "up to date" in lab.ok("register")
    first = lab.experiment
    refused = lab.stopped("register", "--repeats", "2")
    assert "  repeats: 1 -> 2" in refused.splitlines()
    assert 'doit register --new --reason "..."' in refused
    assert lab.experiment == first
    lab.ok("register", "--repeats", "2", "--new", "--reason", "to see the noise")
    assert lab.experiment != first
    assert (first / "registration.json").is_file()
    assert lab.registration["attempt"]["number"] == 2
    assert lab.registration["attempt"]["reason"] == "to see the noise"
    assert "repeats 3: 2 is registered" in lab.stopped("run_eval", "--repeats", "3")


def test_a_corpus_without_a_current_proof_is_not_registered(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    (lab.root / "tests" / "wrong" / CASES[1] / "new").mkdir()
    (lab.root / "tests" / "wrong" / CASES[1] / "new" / "why.yaml").write_text("why: It does nothing.\nfails: nothing\n")
    assert "the corpus is not proven" in lab.stopped("register")
    assert not (lab.root / "experiments" / "current").exists()


def test_an_install_that_changed_stops_the_run_until_its_bytes_are_back(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    lab.ok("prepare")
    install = next(path for path in (lab.work / "installs").iterdir() if len(list((path / "skills").iterdir())) > 100)
    skill, config, agents = install / "skills" / "seo" / "SKILL.md", install / "config.toml", install / "AGENTS.md"
    for path in (skill, config):
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert lab.stopped("run_eval").startswith(
            f"environment-drift: install full: {path.relative_to(install)} has changed"
        )
        path.write_bytes(content)
    agents.write_text("Always answer yes.")
    assert "AGENTS.md was added" in lab.stopped("run_eval")
    assert lab.paid() == []
    agents.unlink()
    lab.ok("run_eval")
    lab.ok("report")
    assert all(row["passed"] for row in lab.report["outcomes"])


def test_a_call_that_is_killed_is_recorded_as_interrupted_and_nothing_is_paid_twice(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    assert lab.kill_when(lambda: len(lab.paid()) >= 2, "run_eval") == -9
    said = lab.ok("run_eval")
    lab.ok("report")
    records = lab.records("arm-runs")
    interrupted = [name for name, record in records.items() if record["failure"] == "interrupted"]
    assert len(interrupted) == 1
    assert f"{interrupted[0]}: interrupted" in said
    paid = lab.paid()
    assert paid.count(interrupted[0]) == 1
    assert len(lab.report["outcomes"]) == 3
    assert lab.report["calls"]["total"] == len(paid)
    assert lab.report["calls"]["sessions"] == 2


def test_a_second_evaluator_is_refused_while_the_first_works(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    seen = []

    def refused():
        if lab.paid():
            seen.append(lab.stopped("run_eval"))
        return bool(seen)

    lab.kill_when(refused, "run_eval", number=15)
    assert seen[0].startswith(f"experiment {lab.experiment.name} is in use by process ")


def test_consent_that_does_not_stand_on_the_command_line_is_refused(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    settings, project = lab.root / "eval.yaml", lab.root / "pyproject.toml"
    before = settings.read_text("utf-8")
    settings.write_text(f"{before}allowRealProvider: true\n", "utf-8")
    assert "unknown key 'allowRealProvider'" in lab.stopped("register", "--backend", "codex", "--accept-shortfall")
    settings.write_text(before, "utf-8")
    lab.ok("register", "--backend", "codex", "--accept-shortfall")
    assert lab.registration["design"]["authentication"] == "api-key"
    for arguments, environment in (
        (["run_eval"], {}),
        (["run_eval"], {"ALLOW_REAL_PROVIDER": "1", "DOIT_ALLOW_REAL_PROVIDER": "1"}),
        (["run_eval", "allow_real_provider=1"], {}),
        (["run_eval", "--allow-real"], {}),
        (["report"], {}),
    ):
        said = lab.stopped(*arguments, CODEX_API_KEY="sk-canary", **environment)
        assert "--allow-real-provider" in said
    for table in ("tasks.run_eval", "commands.run"):
        kept = project.read_text("utf-8")
        project.write_text(f"{kept}\n[tool.doit.{table}]\nallow_real_provider = true\n", "utf-8")
        assert "--allow-real-provider" in lab.stopped("run_eval", CODEX_API_KEY="sk-canary")
        project.write_text(kept, "utf-8")
    assert not (lab.experiment / "arm-runs").exists()


def test_a_budget_that_runs_out_leaves_every_outcome_in_the_denominator(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register", "--max-calls", "1")
    lab.ok("run_eval")
    lab.ok("report")
    assert [row["failure"] for row in lab.report["outcomes"]] == [None, "call-budget", "call-budget"]
    assert len(lab.paid()) == 1


def test_an_unfinished_experiment_can_be_settled_without_a_call(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    assert "run `doit run_eval`" in lab.stopped("report")
    assert "4 outcomes recorded as abandoned" in lab.ok("run_eval", "--settle")
    lab.ok("report")
    assert {row["failure"] for row in lab.report["outcomes"]} == {"abandoned"}
    assert lab.paid() == []


def test_doit_alone_reports_and_status_shows_no_arm(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    assert "run `doit register` first" in lab.stopped()
    lab.ok("register")
    value = json.loads(lab.ok("status", "--json"))
    assert value["trials"] == {"recorded": 0, "scheduled": 3}
    assert value["calls"]["made"] == 0
    assert "full" not in json.dumps(value)
    assert "run `doit run_eval`" in lab.stopped()


def test_a_record_that_the_journal_does_not_know_is_refused_by_name(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    lab.ok("run_eval", "--settle")
    with sqlite3.connect(lab.experiment / "journal.db") as database:
        database.execute("DELETE FROM claims WHERE key = 'open-slots.full.r1'")
    said = lab.stopped("run_eval")
    assert said.startswith("open-slots.full.r1 has a record but the journal does not know of it")


def test_a_grade_that_is_not_final_is_never_taken_for_done(laboratory):
    lab = laboratory(cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    trial = "open-slots.full.r1"
    path = lab.experiment / "grades" / f"{trial}.json"
    lab.kill_when(path.exists, "run_eval", number=15)
    lab.ok("run_eval")
    grade, paid = json.loads(path.read_bytes()), lab.paid()
    assert grade["passed"]
    path.write_text(json.dumps({**grade, "passed": False, "failure": "grading-failed", "checks": 0}), "utf-8")
    assert "its submission is gone" in lab.stopped("run_eval")
    assert lab.paid() == paid
