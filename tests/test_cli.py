"""What the command line says to a user's mistakes: one line, exit status 1, and nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from eval_tasks import options
from tests.chaos import places
from tests.laboratory import CASES, PROBES, REPOSITORY, Laboratory


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """One laboratory for all mistakes, since none of them may leave anything behind."""
    made = Laboratory(tmp_path_factory.mktemp("cli") / "p", cases=CASES[1:], probes=PROBES[:1])
    yield made
    made.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["register", "--bogus"], "register has no option --bogus; it has --backend"),
        (["register", "--repeat", "2"], "register has no option --repeat"),
        (["register", "--repeats", "two"], "register --repeats two: must be a whole number above zero"),
        (["register", "--repeats=0"], "register --repeats 0: must be a whole number above zero"),
        (["register", "--new=1"], "register --new takes no value"),
        (["run_eval", "--allow-real"], "run_eval has no option --allow-real"),
        (["status", "--yaml"], "status has no option --yaml"),
    ],
)
def test_an_option_that_a_command_does_not_have_gets_one_line(arguments, said, capsys):
    with pytest.raises(SystemExit) as caught:
        options.check(["/somewhere/doit", *arguments])
    assert str(caught.value).startswith(f"stopped: {said}")
    assert "\n" not in str(caught.value)


def test_good_options_and_other_programs_are_left_alone():
    options.check(["doit", "register", "--repeats", "2", "--reason", "--odd", "--new", "run_eval"])
    options.check(["pytest", "register", "--bogus"])
    options.check([])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent-version", "0.153.0"], "0.154.0"),
        (["--executable", "/nowhere/codex"], "--executable"),
        (["--executable", "/usr/bin/true"], "--executable"),
        (["--backend", "openai"], "--backend openai: must be one of rehearsal, codex"),
        (["--max-calls", "2001"], "--max-calls 2001: breaks maximum 2000"),
        (["--deadline", "14401"], "--deadline 14401: breaks maximum 14400"),
        (["--call-timeout", "601"], "--call-timeout 601: breaks maximum 600"),
        (["--backend", "codex", "--max-calls", "3"], "--max-calls"),
        (["--backend", "codex", "--auth-home", "/nowhere"], "login home"),
        (["--effort", "enormous"], "--effort enormous: must be one of"),
    ],
)
def test_a_registration_that_can_not_be_is_refused_in_one_line(lab, arguments, said):
    message = lab.stopped("register", *arguments)
    assert said in message
    assert "\n" not in message
    assert not (lab.root / "experiments" / "current").exists()


def test_a_missing_node_gets_one_line(lab, tmp_path):
    for name in ("git", "setpriv", "prlimit"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    assert lab.stopped("register", PATH=str(tmp_path)).startswith("there is no Node.js on this PATH; install")


@pytest.mark.parametrize(
    ("place", "content", "said"),
    [
        ("eval.yaml", "schemaVersion: [", "eval.yaml:"),
        ("corpus/corpus.yaml", "id: mine@1\n", "corpus/corpus.yaml:1: missing key"),
        (f"corpus/cases/{CASES[1]}/case.yaml", "id: other\n", f"corpus/cases/{CASES[1]}/case.yaml:1: missing key"),
        ("corpus/profiles/lean.yaml", "id: lean@1\nskills: [no-such-skill]\n", "corpus/profiles/lean.yaml:2"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(lab, place, content, said):
    path = lab.root / place
    before = path.read_text("utf-8")
    path.write_text(content, "utf-8")
    try:
        assert lab.stopped("register").startswith(said)
    finally:
        path.write_text(before, "utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arms": ["full", "pinned"]}, "eval.yaml: arms: `pinned` needs a library and a profile of its own"),
        ({"pinned": {"library": {"folder": "x"}, "profile": "y"}}, "eval.yaml: pinned: no arm uses it"),
        ({"arms": ["manual-lean", "auto-lean"]}, "eval.yaml:"),
        ({"arms": ["full", "turbo"]}, "eval.yaml:"),
        ({"library": {"git": ".", "commit": "HEAD", "skills": "skills"}}, "eval.yaml:"),
        (
            {"library": {"git": ".", "commit": "0" * 40, "skills": "skills"}},
            "library: p is no git checkout with a folder",
        ),
    ],
)
def test_arms_and_libraries_that_can_not_be_are_refused_in_one_line(lab, changes, said):
    before = (lab.root / "eval.yaml").read_text("utf-8")
    lab.settings(**changes)
    try:
        message = lab.stopped("register")
    finally:
        (lab.root / "eval.yaml").write_text(before, "utf-8")
    assert message.startswith(said)
    assert "\n" not in message


def test_a_dry_run_prints_the_registration_and_writes_nothing(lab):
    said = lab.ok("register", "--dry-run")
    value = json.loads(said)
    assert value["schemaVersion"] == "context-eval.registration.v1"
    assert [trial["arm"] for trial in value["design"]["schedule"]["trials"]] == ["full", "manual-lean", "auto-lean"]
    assert sorted(path.name for path in (lab.root / "experiments").iterdir()) == [".doit.db"]


@pytest.mark.parametrize("command", ["run_eval", "report", "status", "plan", "verify", "compare", "purge"])
def test_a_command_that_needs_a_registration_says_so(lab, command):
    assert lab.stopped(command) == "no experiment is registered here; run `doit register` first"


def test_a_library_is_listed_with_what_can_not_be_delivered_and_what_the_agent_would_cut(lab):
    needed = places.probes()[PROBES[0]]["expect"]["selected"]
    setting = places.give_small_library(lab.root, *needed)
    before = (lab.root / "eval.yaml").read_text("utf-8")
    for name, matter in (("by-hand", "disable-model-invocation: true"), ("wordy", f"x: {'y' * 40_000}")):
        (lab.root / "library" / name).mkdir()
        text = f"---\nname: {name}\ndescription: {name} words.\n{matter}\n---\n\nSecret body.\n"
        (lab.root / "library" / name / "SKILL.md").write_text(text, "utf-8")
    lab.settings(library=setting)
    try:
        said = lab.ok("library")
    finally:
        (lab.root / "eval.yaml").write_text(before, "utf-8")
    rows = {line.split()[0]: line.split()[3:] for line in said.splitlines()[1:7]}
    plain = {name: [] for name in (*places.SMALL, *needed)}
    assert rows == {**plain, "by-hand": ["manual-only"], "wordy": ["context-budget"]}
    assert "6 skills, 1 of which can't be delivered" in said
    assert "listed, 0 of them shortened, 0 not listed" in said
    assert "Secret" not in said


def test_a_registration_of_another_version_is_refused_with_the_way_on_and_a_new_one_stands_beside_it(tmp_path):
    lab = Laboratory(tmp_path / "p", cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    path = lab.experiment / "registration.json"
    value = json.loads(path.read_bytes())
    del value["design"]["pinned"]
    path.write_text(json.dumps(value), "utf-8")
    said = lab.stopped("register")
    assert "missing key 'pinned'" in said
    assert said.endswith('doit register --new --reason "..."')
    old = lab.experiment
    lab.ok("register", "--new", "--reason", "upgraded")
    assert lab.experiment != old
    assert path.is_file()
    lab.close()


def test_the_list_of_commands_reads_as_a_story():
    ran = subprocess.run(
        [sys.executable, "-m", "doit", "list"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    names = [line.split()[0] for line in ran.stdout.splitlines()]
    flow = ["toolchain", "check_corpus", "doctor", "register", "plan", "digest", "gate", "recover", "prepare"]
    flow += ["canary", "arm_run", "grade", "probe", "run_eval", "manifest", "analyze", "report"]
    assert names[: len(flow)] == flow
    assert all(len(line.split()) > 3 for line in ran.stdout.splitlines())


def test_the_table_stays_a_table():
    text = (REPOSITORY / "eval_tasks" / "tasks.py").read_text("utf-8")
    assert len(text.splitlines()) <= 200
    assert "\n    if " not in text.replace("\n    if settle:", "", 1)
