"""Every fault of `tests/chaos/faults.py`, played to the real doit: what is recorded, what is spent, what stops."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.chaos import agents, faults, places
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
    paid = lab.paid()
    refused = sum("refused" in fault.name for fault in (*chosen, *asked))
    assert lab.report["calls"]["total"] == len(paid) + refused
    assert len(paid) == len(set(paid)) + sum(record["selection"] == "proposal" for record in lab.records("arm-runs").values())


PLAYS = {
    "noise": """start; echo 'WARN tracing noise'; echo; echo '[]'
        echo '{"type":"item.dreamt","item":{"id":7}}'; echo '{"type":"cosmic.ray"}'
        echo '{"type":"turn.completed","extra":1,"usage":{"input_tokens":9,"cached_input_tokens":0,"output_tokens":1,"sighs":2}}'""",
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
    "torn-event": "start; printf '{\"type\":\"turn.compl'",
    "endless-output": "start; exec yes '{\"type\":\"item.started\",\"item\":{\"type\":\"reasoning\"}}'",
    "large-workspace": "start; cd /w; for i in 1 2 3 4; do head -c 50000000 /dev/zero > big$i; done; end",
    "many-files": "start; cd /w; seq 3000 | xargs touch; end",
    "dead-sandbox": """start; for i in 1 2; do
        item "{\\"id\\":\\"c$i\\",\\"type\\":\\"command_execution\\",\\"command\\":\\"ls\\",\\"status\\":\\"failed\\",\\"exit_code\\":1,\
\\"aggregated_output\\":\\"bwrap: No permissions to create new namespace\\"}"; done; end""",
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
    text = lab.executable.read_text("utf-8").replace("*.proposal)", f'{probes[0]}.proposal)\nreal "$@"\n;;\n*.proposal)')
    lab.executable.write_text(text, "utf-8")
    lab.limits(callSeconds=4, proposalSeconds=3, stopAfterInfrastructure=1000)
    lab.ok("register", "--executable", str(lab.executable))
    lab.ok("run_eval")
    assert lab.survivors() == []
    assert differences(lab, table, graded="hidden-check") == []
    probe = lab.records("probes")[probes[0]]
    assert expect(endless, probe["failure"], probe["limit"], probe["calls"][0], None) == []
    for _, run in outcomes(lab).values():
        assert run["call"]["elapsedMs"] < 5_000 + 500


# What stops a run


def stopping(laboratory, **options) -> Laboratory:
    lab = laboratory(cases=[NONE], probes=[places.silent_probe()], **options)
    lab.settings(library=places.give_small_library(lab.root))
    return lab


def counted(lab: Laboratory) -> tuple[int, int]:
    """Return how many trials were paid for, and how many outcomes are recorded."""
    trials = {name for name in lab.paid() if not name.startswith("probe:")}
    return len(trials), len(lab.records("arm-runs")) + len(lab.records("probes"))


@pytest.mark.parametrize("fault", faults.STOPPING, ids=lambda fault: fault.name)
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
