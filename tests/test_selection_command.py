"""Somebody's own selector: real commands, what they are told, and what their answers may be."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from eval_tasks import library, records
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.library import Library
from eval_tasks.selection import command, conformance, resolver
from eval_tasks.selection.command import Command
from eval_tasks.selection.resolver import Blocked, Reason, Selected, Shortlist, Task

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLE = REPOSITORY / "examples" / "selector.py"
TASK = Task("t", "bake bread in the oven", ("baking",))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Library:
    root = tmp_path_factory.mktemp("shelf")
    for name, matter in (
        ("baking", "description: Baking bread, rolls and cakes in domestic ovens."),
        ("brewing", "description: Brewing beer, coffee and tea at home with patience."),
        ("by-hand", "description: Only a person may start it.\ndisable-model-invocation: true"),
    ):
        (root / name).mkdir()
        (root / name / "SKILL.md").write_text(f"---\nname: {name}\n{matter}\n---\n\nText.\n", "utf-8")
    return library.load(root)


def written(root: Path, code: str, *, files: tuple[str, ...] = ()) -> Command:
    (root / "router.py").write_text(code, "utf-8")
    return Command.of({"command": [sys.executable, "router.py"], "files": list(files)}, root)


def answering(root: Path, answer: object) -> Command:
    return written(root, f"print({json.dumps(json.dumps(answer))})")


def test_a_selector_is_told_the_task_and_nothing_else_of_the_evaluator(
    tmp_path: Path, shelf: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_API_KEY", "secret")
    code = (
        "import json, os, sys\n"
        "open('told', 'w').write(sys.stdin.read())\n"
        "open('environment', 'w').write(json.dumps(dict(os.environ)))\n"
        'print(\'{"selectedIds": [], "reason": "none"}\')\n'
    )
    task = Task("t", "größer \U0001f680", ("baking",), no_workflow=True)
    assert written(tmp_path, code).resolve(task, {"b", "a"}, shelf) == Selected((), Reason.NO_MATCH)
    told = json.loads((tmp_path / "told").read_text("utf-8"))
    assert told == {
        "schemaVersion": "context-eval.selector.v1",
        "task": {"id": "t", "prompt": "größer \U0001f680", "explicitIds": ["baking"], "noWorkflow": True},
        "exclude": ["a", "b"],
        "library": str(shelf.root),
    }
    jsonschema.validate(told, records.schema("selector-task"))
    environment = json.loads((tmp_path / "environment").read_text("utf-8"))
    assert environment["PATH"] == os.environ["PATH"]
    assert "secret" not in environment.values()


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ({"selectedIds": ["baking"], "reason": "ranked"}, Selected(("baking",), Reason.RANKED)),
        (
            {"selectedIds": ["brewing", "baking"], "reason": "explicit"},
            Selected(("brewing", "baking"), Reason.EXPLICIT),
        ),
        ({"selectedIds": [], "reason": "nothing fits"}, Selected((), Reason.NO_MATCH)),
        ({"selectedIds": ["gone"], "reason": "x"}, Blocked(FailureCode.UNKNOWN_ID, "gone")),
        ({"selectedIds": ["by-hand"], "reason": "x"}, Blocked(FailureCode.MANUAL_ONLY, "by-hand")),
        ({"selectedIds": ["brewing"], "reason": "x"}, Blocked(FailureCode.EXCLUDED, "brewing")),
        ({"blocked": "opt-out-conflict", "id": "baking"}, Blocked(FailureCode.OPT_OUT_CONFLICT, "baking")),
        ({"shortlist": []}, Selected((), Reason.NO_MATCH)),
        ({"shortlist": [{"id": "by-hand", "description": "x"}]}, Selected((), Reason.NO_MATCH)),
        ({"shortlist": [{"id": "gone", "description": "x"}]}, Blocked(FailureCode.UNKNOWN_ID, "gone")),
        ({"shortlist": [{"id": "brewing", "description": "x"}]}, Blocked(FailureCode.EXCLUDED, "brewing")),
    ],
)
def test_an_answer_comes_to_what_the_contract_says(
    shelf: Library, answer: dict[str, object], wanted: resolver.Resolution
) -> None:
    exclude = {"brewing"} if isinstance(wanted, Blocked) and wanted.code is FailureCode.EXCLUDED else set()
    assert command.parse(json.dumps(answer).encode(), exclude, shelf) == wanted


def test_a_shortlist_keeps_its_order_and_its_own_descriptions(shelf: Library) -> None:
    answer = {
        "shortlist": [{"id": name, "description": f"own words on {name}"} for name in ("brewing", "by-hand", "baking")]
    }
    found = command.parse(json.dumps(answer).encode(), (), shelf)
    assert isinstance(found, Shortlist)
    assert [(one.id, one.description) for one in found.candidates] == [
        ("brewing", "own words on brewing"),
        ("baking", "own words on baking"),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "baking",
        "[]",
        "{}",
        '{"selectedIds": ["baking"]}',
        '{"selectedIds": "baking", "reason": "x"}',
        '{"selectedIds": ["../baking"], "reason": "x"}',
        '{"selectedIds": ["baking", "baking"], "reason": "x"}',
        '{"selectedIds": [], "selectedIds": ["baking"], "reason": "x"}',
        '{"selectedIds": [], "reason": "x", "shortlist": []}',
        '{"blocked": "hidden-check", "id": "x"}',
        '{"shortlist": [{"id": "baking"}]}',
        json.dumps({"shortlist": [{"id": f"s{number}", "description": "x"} for number in range(6)]}),
        '{"selectedIds": [], "reason": "x"} and a word more',
        "\\ud800",
    ],
)
def test_any_other_answer_is_selector_failed(shelf: Library, answer: str) -> None:
    with pytest.raises(TrialFailed) as failed:
        command.parse(answer.encode(), (), shelf)
    assert failed.value.code is FailureCode.SELECTOR_FAILED


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)",
        "import os; os.kill(os.getpid(), 9)",
        "print('x' * 70_000)",
        "import sys; sys.stdout.buffer.write(b'\\xff')",
    ],
)
def test_a_command_that_breaks_off_or_says_too_much_is_selector_failed(
    tmp_path: Path, shelf: Library, code: str
) -> None:
    with pytest.raises(TrialFailed) as failed:
        written(tmp_path, code).resolve(TASK, (), shelf)
    assert failed.value.code is FailureCode.SELECTOR_FAILED


def test_a_command_that_hangs_is_ended_with_its_children(
    tmp_path: Path, shelf: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SECONDS", 0.5)
    code = (
        "import subprocess, time\nopen('child', 'w').write(str(subprocess.Popen(['sleep', '60']).pid))\ntime.sleep(60)"
    )
    began = time.monotonic()
    with pytest.raises(TrialFailed):
        written(tmp_path, code).resolve(TASK, (), shelf)
    assert time.monotonic() - began < 10
    assert not Path(f"/proc/{(tmp_path / 'child').read_text()}").exists()


def test_a_program_that_is_gone_since_the_registration_is_selector_failed(tmp_path: Path, shelf: Library) -> None:
    router = tmp_path / "router"
    router.write_text("#!/bin/sh\n")
    router.chmod(0o755)
    found = Command.of({"command": ["./router"]}, tmp_path)
    router.unlink()
    with pytest.raises(TrialFailed) as failed:
        found.resolve(TASK, (), shelf)
    assert failed.value.code is FailureCode.SELECTOR_FAILED


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"command": ["./gone"]}, "selector.command: there is no program ./gone"),
        ({"command": ["no-such-program-anywhere"]}, "there is no program no-such-program-anywhere"),
        ({"command": ["python3"], "files": ["gone/"]}, "selector.files: there is no gone/"),
    ],
)
def test_a_command_that_can_not_run_is_refused_in_one_line(
    tmp_path: Path, setting: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(ExperimentStopped, match=said):
        Command.of(setting, tmp_path)


def test_the_digest_follows_the_arguments_the_named_files_and_the_bound_ones(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "part.py").write_text("one", "utf-8")
    first = written(tmp_path, "pass", files=("lib",))
    seen = {first.digest, written(tmp_path, "pass").digest, written(tmp_path, "pass # more", files=("lib",)).digest}
    (tmp_path / "lib" / "part.py").write_text("two", "utf-8")
    seen.add(written(tmp_path, "pass", files=("lib",)).digest)
    assert len(seen) == 4
    assert str(tmp_path / "router.py") in map(str, first.files)


@pytest.mark.parametrize(
    "resolve", [resolver.resolve, Command.of({"command": [sys.executable, str(EXAMPLE)]}, REPOSITORY).resolve]
)
def test_the_built_in_selector_and_the_example_keep_to_the_contract(shelf: Library, resolve: resolver.Resolve) -> None:
    found = conformance.findings(resolve, shelf)
    assert [str(finding) for finding in found if finding.instead is not None] == []
    assert len(found) == 8


def test_the_example_is_short_and_proposes_what_shares_words(shelf: Library) -> None:
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 30
    example = Command.of({"command": [sys.executable, str(EXAMPLE)]}, REPOSITORY)
    found = example.resolve(Task("t", "Our domestic ovens burn the cakes."), (), shelf)
    assert isinstance(found, Shortlist)
    assert [candidate.id for candidate in found.candidates] == ["baking"]


def test_a_selector_that_breaks_the_contract_is_found_out_by_each_question(tmp_path: Path, shelf: Library) -> None:
    stubborn = answering(tmp_path, {"selectedIds": ["baking"], "reason": "always"})
    found = {finding.requirement: finding.instead for finding in conformance.findings(stubborn.resolve, shelf)}
    wrong = [requirement for requirement, instead in found.items() if instead is not None]
    assert len(wrong) == 4
    assert found["a task without workflows gets none"] == "selected baking"
    fickle = written(tmp_path, 'import time\nprint(\'{"blocked": "unknown-id", "id": "%s"}\' % time.time_ns())')
    last = {finding.requirement: finding.instead for finding in conformance.findings(fickle.resolve, shelf)}
    assert last["equal questions get equal answers"] is not None
    broken = written(tmp_path, "raise SystemExit(1)")
    assert all("it failed" in str(finding.instead) for finding in conformance.findings(broken.resolve, shelf))
