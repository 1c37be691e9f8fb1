"""Every fault of `tests/chaos/faults.py`, played to the real doit: what is recorded, what is spent, what stops."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from eval_tasks.library import Library, Skill
from eval_tasks.selection import resolver
from eval_tasks.selection.resolver import Blocked, Task
from tests.chaos import agents, faults, namespaces, places
from tests.chaos.faults import Fault
from tests.laboratory import REPOSITORY, Laboratory

pytestmark = pytest.mark.agent

PAGE = REPOSITORY / "docs" / "failure-codes.md"
QUICK = not os.environ.get("CONTEXT_EVAL_CHAOS")
NONE = places.silent_case()


def played(*kinds: tuple[Fault, ...]) -> list[Fault]:
    return [fault for fault in itertools.chain(*kinds) if fault.quick or not QUICK]


def cells(chosen: list[Fault], cases: list[str]) -> dict[tuple[str, str], Fault]:
    """Give each fault a trial of its own: cell by cell, all arms of a case before the next case."""
    places_ = itertools.product(cases, agents.ARMS)
    return dict(zip(places_, chosen, strict=False))


def outcomes(lab: Laboratory) -> dict[tuple[str, str], tuple[str | None, dict]]:
    """Return the final code and the task call of every trial."""
    found = {}
    grades = lab.records("grades")
    for name, run in lab.records("arm-runs").items():
        code = run["failure"] if run["failure"] is not None else grades[name]["failure"]
        call = next((call for call in run["calls"] if call["phase"] == "task"), None)
        found[run["caseId"], run["arm"]] = (code, {**run, "call": call})
    return found


def expect(fault: Fault, code: str | None, limit: str | None, call: dict, graded: str | None) -> list[str]:
    """Return how an outcome differs from what its fault must lead to."""
    wanted = {
        "code": graded if fault.code is None else str(fault.code),
        "limit": fault.limit,
        "usage": fault.usage,
        "quiescent": True,
        "wallHonoured": True,
        "level": "sealed",
    }
    seen = {"code": code, "limit": limit, "usage": call["usage"] is not None, **call["contained"]}
    if fault.usage is None:
        del wanted["usage"]
    if fault.transient is not None:
        wanted["transient"], seen["transient"] = fault.transient, call["transientErrors"]
    return [f"{fault.name}: {key} is {seen[key]}, not {wanted[key]}" for key in wanted if seen[key] != wanted[key]]


def differences(lab: Laboratory, table: dict[tuple[str, str], Fault], graded: str | None) -> list[str]:
    found = outcomes(lab)
    return [
        line
        for cell, fault in table.items()
        for line in expect(fault, found[cell][0], found[cell][1]["limit"], found[cell][1]["call"], graded)
    ]


def charged(lab: Laboratory) -> Counter[str]:
    """Return how many calls each claim has on record."""
    found = Counter({name: len(run["calls"]) for name, run in lab.records("arm-runs").items()})
    found.update({f"probe:{name}": len(probe["calls"]) for name, probe in lab.records("probes").items()})
    return +found


def run_through(lab: Laboratory) -> None:
    lab.ok("register")
    lab.ok("run_eval")
    assert lab.survivors() == []
    assert not lab.work.exists()


def test_every_fault_of_the_provider_that_does_not_stop_a_run_ends_under_its_code(laboratory):
    chosen, asked = played(faults.PROVIDER), played(faults.PROPOSALS)
    cases = places.proposing_cases(-(-len(chosen) // 3))
    probes = places.proposing_probes(len(asked))
    table = cells(chosen, cases)
    trials: dict[str, dict[str, str]] = {}
    for (case, arm), fault in table.items():
        trials.setdefault(case, {})[arm] = f"fault:{fault.name}"
    lab = laboratory(
        cases=cases,
        probes=probes,
        rehearsal={
            "default": "oracle",
            "trials": trials,
            "probes": dict(zip(probes, (fault.name for fault in asked), strict=True)),
        },
    )
    lab.limits(stopAfterInfrastructure=1000)
    run_through(lab)
    assert differences(lab, table, graded=None) == []
    records = lab.records("probes")
    assert [
        line
        for probe, fault in zip(probes, asked, strict=True)
        for line in expect(fault, records[probe]["failure"], records[probe]["limit"], records[probe]["calls"][0], None)
    ] == []
    lab.ok("report")
    assert len(lab.report["outcomes"]) == 3 * len(cases)
    refused = [f"{case}.{arm}.r1" for (case, arm), fault in table.items() if "refused" in fault.name]
    refused += [f"probe:{probe}" for probe, fault in zip(probes, asked, strict=True) if "refused" in fault.name]
    assert Counter([*lab.paid(), *refused]) == charged(lab)
    assert lab.report["calls"]["total"] == charged(lab).total()


PLAYS = {
    "noise": """start; echo 'WARN tracing noise'; echo; echo '[]'
        echo '{"type":"item.dreamt","item":{"id":7}}'; echo '{"type":"cosmic.ray"}'
        printf '{"type":"turn.completed","extra":1,"usage":{"input_tokens":9,"cached_input_tokens":0,'
        echo '"output_tokens":1,"sighs":2}}'""",
    "lone-surrogates": r"""start; say '\ud835'
        item '{"id":"\ud835","type":"command_execution","command":"cat \ud835","status":"completed","exit_code":0}'
        item '{"id":"p","type":"file_change","changes":[{"path":"\ud835","kind":"add"}],"status":"completed"}'
        printf '{"type":"item.completed","item":{"type":"agent_message","text":"\355\240\265"}}\n'; end""",
    "long-event": """start; printf '{"type":"item.completed","item":{"type":"agent_message","text":"'
        head -c 20000000 /dev/zero | tr '\\0' x; echo '"}}'; end""",
    "much-stderr": "start; head -c 50000000 /dev/zero >&2; end",
    "unknown-usage": """start
        echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":2,"output_tokens":3}}'""",
    "daemon": "start; (setsid sh -c 'trap \"\" TERM; while :; do date > /w/beat; sleep 0.1; done' &) ; sleep 0.3; end",
    "odd-files": """start; cd /w; mkfifo pipe; ln -s /etc/passwd link; mkdir -p shut/in; touch shut/in/file suid
        chmod 4755 suid; chmod 000 shut/in shut; mkdir .git; ln -s / root; end""",
    "planted": "start; touch /w/__GRADER__.CJS; end",
    "failed-but-0": "start; failed",
    "no-end": "start; say done",
    "silent": "exit 0",
    "crash": "start; kill -SEGV $$",
    "completed-but-1": "start; end; exit 1",
    "forged-on-stderr": "start; end >&2; failed; exit 1",
    "two-ends": "start; end; end",
    "both-ends": "start; end; failed",
    "torn-event": 'start; printf \'{"type":"turn.compl\'',
    "endless-output": 'start; exec yes \'{"type":"item.started","item":{"type":"reasoning"}}\'',
    "large-workspace": "start; cd /w; for i in 1 2 3 4; do head -c 50000000 /dev/zero > big$i; done; end",
    "many-files": "start; cd /w; seq 3000 | xargs touch; end",
    "fake-dead-sandbox": """start
        printf '{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"ls","status":"failed",'
        echo '"exit_code":1,"aggregated_output":"bwrap: No permissions to create new namespace"}}'; end""",
    "hung": "start; trap '' TERM INT HUP; while :; do sleep 1; done",
    "hung-family": """start; for i in 1 2 3; do
        (setsid sh -c 'trap "" TERM INT HUP; while :; do date > /w/beat; sleep 0.1; done' &) ; done
        trap '' TERM INT HUP; while :; do sleep 1; done""",
    "flood": "start; cd /w; i=0; while :; do i=$((i+1)); head -c 30000000 /dev/zero > big$i; sleep 0.1; done",
}


def staffed(laboratory, tmp_path: Path, cases: list[str], probes: list[str], table, **options) -> Laboratory:
    """Make a laboratory whose agent plays scripts, cell by cell."""
    lab = laboratory(cases=cases, probes=probes, **options)
    prompts = {case: places.cases()[case]["prompt"].strip().split("\n")[0] for case in cases}
    prompts |= {probe: places.probes()[probe]["prompt"].strip().split("\n")[0] for probe in probes}
    assert not [key for key, part in prompts.items() if sum(part in other for other in prompts.values()) > 1]
    plays = {f"{case}.{arm}": PLAYS[fault.name] for (case, arm), fault in table.items() if fault.name in PLAYS}
    lab.executable = agents.package(tmp_path / "agent", prompts, plays)
    return lab


def test_every_fault_of_the_agents_process_ends_under_its_code_with_its_whole_tree_gone(laboratory, tmp_path):
    chosen = played(faults.PROCESS)
    cases = places.proposing_cases(-(-len(chosen) // 3))
    table = cells(chosen, cases)
    lab = staffed(laboratory, tmp_path, cases, [places.silent_probe()], table, rehearsal={"default": "nop"})
    lab.limits(stopAfterInfrastructure=1000)
    lab.ok("register", "--executable", str(lab.executable))
    lab.ok("run_eval")
    assert lab.survivors() == []
    assert not lab.work.exists()
    assert differences(lab, table, graded="hidden-check") == []
    lab.ok("report")
    assert len(lab.report["outcomes"]) == 3 * len(cases)


def test_what_never_ends_is_ended_by_the_limit_of_its_call_within_a_second(laboratory, tmp_path):
    chosen = [*faults.ENDLESS, *faults.HUNG]
    cases, probes = places.proposing_cases(2), places.proposing_probes(1)
    table = cells(chosen, cases)
    trials: dict[str, dict[str, str]] = {}
    for (case, arm), fault in table.items():
        trials.setdefault(case, {})[arm] = "nop" if fault.name in PLAYS else f"fault:{fault.name}"
    (endless,) = faults.ENDLESS_PROPOSALS
    lab = staffed(
        laboratory,
        tmp_path,
        cases,
        probes,
        table,
        rehearsal={"default": "nop", "trials": trials, "probes": {probes[0]: endless.name}},
    )
    # The fixture answers the proposals of trials by itself; the probe's goes on to the real agent.
    text = lab.executable.read_text("utf-8")
    lab.executable.write_text(
        text.replace("*.proposal)", f'{probes[0]}.proposal)\nreal "$@"\n;;\n*.proposal)'), "utf-8"
    )
    lab.limits(callSeconds=4, proposalSeconds=3, stopAfterInfrastructure=1000)
    lab.ok("register", "--executable", str(lab.executable))
    lab.ok("run_eval")
    assert lab.survivors() == []
    assert differences(lab, table, graded="hidden-check") == []
    probe = lab.records("probes")[probes[0]]
    assert expect(endless, probe["failure"], probe["limit"], probe["calls"][0], None) == []
    for _, run in outcomes(lab).values():
        assert run["call"]["elapsedMs"] < 5_000 + 500


FEW_AFTER_THE_GRADERS = f"""
import sys
from pathlib import Path
from doit.doit_cmd import DoitMain
from eval_tasks.stages.session import Session

whole = Session.require_graders
def then_few(session):
    whole(session)
    Path("/proc/sys/user/max_user_namespaces").write_text("{namespaces.FEW}", "ascii")

Session.require_graders = then_few
sys.exit(DoitMain().run(sys.argv[1:]))
"""
"""Takes the namespaces away once the graders were seen to be shut in: the agent's own sandbox is what can't start."""


@pytest.mark.parametrize("version", ["0.155.1"] if QUICK else ["0.155.1", "0.154.0"])
def test_an_agent_whose_own_sandbox_cannot_start_is_no_wrong_answer(laboratory, version):
    lab = laboratory(cases=[NONE], probes=[places.silent_probe()], rehearsal={"default": faults.DEAD.name})
    lab.settings(library=places.give_small_library(lab.root))
    lab.limits(stopAfterInfrastructure=1000)
    lab.ok("register", "--agent-version", version)
    lab.ok("prepare")
    ran = lab.run(namespaces.__file__, "100", sys.executable, "-c", FEW_AFTER_THE_GRADERS, "run_eval")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [(run["failure"], run["limit"]) for run in lab.records("arm-runs").values()] == [
        (faults.DEAD.code, None)
    ] * 3


# What stops a run


def stopping(laboratory, **options) -> Laboratory:
    lab = laboratory(cases=[NONE], probes=[places.silent_probe()], **options)
    lab.settings(library=places.give_small_library(lab.root))
    return lab


def counted(lab: Laboratory) -> tuple[int, int]:
    """Return how many trials were paid for, and how many outcomes are recorded."""
    trials = {name for name in lab.paid() if not name.startswith("probe:")}
    return len(trials), len(lab.records("arm-runs")) + len(lab.records("probes"))


@pytest.mark.parametrize("fault", played(faults.STOPPING), ids=lambda fault: fault.name)
def test_a_fault_that_no_further_call_can_escape_stops_the_run_and_costs_one_outcome(laboratory, fault):
    lab = stopping(laboratory, rehearsal={"default": "oracle", "trials": {NONE: {"full": f"fault:{fault.name}"}}})
    lab.ok("register")
    said = lab.stopped("run_eval")
    assert "nothing is recorded for what has not run" in said
    assert "\n" not in said
    assert counted(lab) == (1, 1)
    (record,) = lab.records("arm-runs").values()
    assert expect(fault, record["failure"], record["limit"], record["calls"][0], None) == []
    assert "run `doit run_eval`" in lab.stopped("report")
    lab.ok("run_eval")
    assert counted(lab) == (3, 4)
    codes = [outcome[0] for outcome in outcomes(lab).values()]
    assert sorted(map(str, codes)) == sorted(["None", "None", str(fault.code)])


def test_three_infrastructure_codes_in_a_row_stop_the_run_and_can_be_settled(laboratory):
    lab = laboratory(cases=[NONE], probes=places.proposing_probes(2), rehearsal={"default": "fault:rate-limited"})
    lab.ok("register")
    said = lab.stopped("run_eval")
    assert said.startswith("3 calls in a row ended in infrastructure codes, the last in rate-limited: ")
    paid, recorded = counted(lab)
    assert recorded == 3
    assert "2 outcomes recorded as rate-limited" in lab.ok("run_eval", "--settle")
    assert counted(lab) == (paid, 5)
    assert [record["calls"] for record in lab.records("probes").values()] == [[], []]
    lab.ok("report")
    assert {row["failure"] for row in lab.report["outcomes"]} == {"rate-limited"}


def after_the_first_record(lab: Laboratory, change, *arguments: str, **extra: str) -> str:
    """Run the evaluator, change something as soon as one outcome is recorded, and return the line it stops with."""
    process = subprocess.Popen(
        [sys.executable, "-m", "doit", *arguments],
        cwd=lab.root,
        env=lab._environment(extra),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    with process:
        deadline = time.monotonic() + 120
        while not lab.records("arm-runs"):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        change()
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert said.count("stopped: ") == 1, said
    assert "Traceback" not in said
    return said.split("stopped: ", 1)[1].strip()


@pytest.mark.parametrize("what", ["source", "install"])
def test_a_drift_in_the_middle_of_a_run_stops_it_before_the_next_call_and_is_no_outcome(laboratory, what):
    lab = stopping(laboratory)
    lab.ok("register")
    lab.ok("prepare")
    if what == "source":
        path, code = lab.root / "corpus" / "cases" / NONE / "grader.cjs", "source-drift"
    else:
        # Every call of the first trial is over by then, and the next one may be of either install.
        installs = [folder for folder in (lab.work / "installs").iterdir() if (folder / "config.toml").is_file()]
        path, code = [folder / "config.toml" for folder in installs], "environment-drift"
    files = path if isinstance(path, list) else [path]
    before = {file: file.read_bytes() for file in files}

    def change() -> None:
        for file in files:
            file.write_bytes(before[file] + b"\n# drift\n")

    said = after_the_first_record(lab, change, "run_eval")
    assert said.startswith(f"{code}: ")
    assert "\n" not in said
    paid, recorded = counted(lab)
    assert paid == recorded < 4
    assert {run["failure"] for run in lab.records("arm-runs").values()} == {None}
    for file in files:
        file.write_bytes(before[file])
    if what == "source":
        lab.ok("run_eval")
        assert counted(lab) == (3, 4)
        assert {outcome[0] for outcome in outcomes(lab).values()} == {None}
    else:
        assert f"{4 - recorded} outcomes recorded as {code}" in lab.ok("run_eval", "--settle")
        assert counted(lab) == (paid, 4)


def mounted(lab: Laboratory, size: str, script: str, folder: str = "experiments") -> subprocess.CompletedProcess[str]:
    """Run a shell script in the laboratory with a small file system in memory over one of its folders.

    The folder's contents are in it at the start, and are copied back at the end.
    """
    place = shlex.quote(str(lab.root / folder if folder == "experiments" else folder))
    doit = f"{shlex.quote(sys.executable)} -m doit"
    whole = f"""set -e
        cp -a {place} {shlex.quote(str(lab.root))}/kept
        mount -t tmpfs -o size={size},mode=0711 none {place}
        cp -a {shlex.quote(str(lab.root))}/kept/. {place}/
        set +e
        doit() {{ {doit} "$@"; }}
        place={place}
        {script}
        rm -f {place}/filler
        cp -a {place}/. {shlex.quote(str(lab.root))}/kept/
    """
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", whole],
        cwd=lab.root,
        env=lab._environment({}),
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    shutil.rmtree(lab.root / folder)
    shutil.copytree(lab.root / "kept", lab.root / folder, symlinks=True)
    return ran


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="a small disk can be mounted by root only")

FILLS_UP = """
    doit run_eval > out1 2> err1 & evaluator=$!
    while [ ! -s paid.jsonl ]; do sleep 0.02; done
    head -c 1G /dev/zero > $place/filler 2> /dev/null
    wait $evaluator; echo $? > status1
    doit run_eval > out2 2> err2; echo $? > status2
    rm $place/filler
    doit run_eval > out3 2> err3; echo $? > status3
"""


@ROOT
def test_a_disk_that_becomes_full_stops_the_run_and_costs_the_one_outcome_at_work(laboratory):
    # The first call is still at work when the disk is full, however busy this machine is.
    script = {"default": "oracle", "trials": {NONE: {"full": "attack:waits"}}, "attacks": {"waits": ["sleep 5"]}}
    lab = stopping(laboratory, rehearsal=script)
    lab.ok("register")
    lab.ok("prepare")
    mounted(lab, "260m", FILLS_UP)
    said = {name: (lab.root / name).read_text("utf-8") for name in ("err1", "err2", "out2", "out3")}
    for name in ("err1", "err2"):
        # After our line doit may add that it can't write its own database.
        first = said[name].splitlines()[0]
        assert first.startswith("stopped: ")
        assert "make room" in first
        assert said[name].count("stopped: ") == 1
    assert [(lab.root / f"status{number}").read_text("ascii") == "0\n" for number in (1, 2, 3)] == [False, False, True]
    codes = sorted(str(run["failure"]) for run in lab.records("arm-runs").values())
    assert codes == ["None", "None", "interrupted"]
    assert f"{NONE}.full.r1: interrupted" in said["out2"] + said["out3"]
    assert counted(lab) == (3, 4)


NEARLY_FULL = """
    head -c 200M /dev/zero > $place/filler
    doit run_eval > out1 2> err1; echo $? > status1
    rm $place/filler
    doit run_eval > out2 2> err2; echo $? > status2
"""


@ROOT
def test_a_nearly_full_disk_stops_the_run_before_a_claim_and_costs_nothing(laboratory):
    lab = stopping(laboratory)
    lab.ok("register")
    lab.ok("prepare")
    mounted(lab, "260m", NEARLY_FULL)
    said = (lab.root / "err1").read_text("utf-8")
    assert "MiB are free where experiments/ lies: make room for 128 MiB" in said
    assert [(lab.root / f"status{number}").read_text("ascii") for number in (1, 2)] == ["1\n", "0\n"]
    assert [run["failure"] for run in lab.records("arm-runs").values()] == [None] * 3
    assert counted(lab) == (3, 4)


@pytest.mark.parametrize("mode", ["api-key", "login-home"])
def test_a_missing_credential_stops_the_run_before_a_claim(laboratory, tmp_path, mode):
    lab = staffed(laboratory, tmp_path, [NONE], [places.silent_probe()], {})
    lab.settings(library=places.give_small_library(lab.root))
    plain = "start; end"
    agents.package(tmp_path / "plain", {}, {}, default=plain)
    executable = str(tmp_path / "plain" / "bin" / "codex")
    home = tmp_path / "login"
    home.mkdir(mode=0o700)
    (home / "auth.json").write_text('{"OPENAI_API_KEY": "sk-canary"}', "utf-8")
    (home / "auth.json").chmod(0o600)
    options = ["--auth-home", str(home)] if mode == "login-home" else []
    lab.ok("register", "--backend", "codex", "--executable", executable, *options)
    (home / "auth.json").unlink()
    said = lab.stopped("run_eval", "--allow-real-provider")
    assert ("CODEX_API_KEY is not set" if mode == "api-key" else "the login home has no auth.json") in said
    assert lab.records("arm-runs") == {}
    assert f"{4} outcomes recorded as authentication" in lab.ok("run_eval", "--settle", "--allow-real-provider")
    assert [run["calls"] for run in lab.records("arm-runs").values()] == [[], [], []]


def test_the_page_of_failure_codes_ends_with_this_table():
    assert PAGE.read_text("utf-8").endswith(faults.page())


def test_every_code_has_a_fault_that_leads_to_it():
    assert [str(code) for code, whats in faults.codes().items() if not whats] == []


def skill(name: str, text: str = "text", **rules) -> Skill:
    return Skill(name, name, "Described.", text, text, {"SKILL.md": name}, **rules)


SKILLS = Library(
    Path("skills"),
    {
        item.id: item
        for item in (
            skill("plain"),
            skill("large", "x" * 32_000),
            skill("by-hand", manual_only=True),
            skill("granted", native_authority=("tools",)),
        )
    },
)


@pytest.mark.parametrize(("what", "code", "question"), faults.SELECTIONS, ids=lambda value: str(value)[:30])
def test_a_question_that_cannot_be_answered_is_blocked_under_its_code(what, code, question):
    task = Task("t", "Do it.", tuple(question["asked"]), question.get("no_workflow", False))
    blocked = resolver.resolve(task, question.get("exclude", ()), SKILLS)
    assert isinstance(blocked, Blocked)
    assert blocked.code is code
