from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from doit.cmd_base import ModuleTaskLoader
from doit.doit_cmd import DoitMain
from doit.exceptions import TaskError, TaskFailed

from eval_tasks import boundary
from eval_tasks.boundary import Lines
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed

PROJECT = Path(__file__).resolve().parents[1]
SECRET = "sk-canary-4711"


class OddError(Exception):
    """An error that nobody expects."""


@boundary.action
def works(name: str = "it") -> Lines:
    return [f"{name}: one", "two"]


@boundary.action
def silent() -> Lines:
    return None


@boundary.action
def stops() -> Lines:
    raise ExperimentStopped("source-drift: put it back", FailureCode.SOURCE_DRIFT)


def deeper(value: str) -> None:
    raise OddError(f"holds {value} in its message")


@boundary.action
def breaks() -> Lines:
    try:
        deeper(SECRET)
    except OddError as error:
        raise ValueError(SECRET, error) from error
    return None


@boundary.action
def leaks_a_trial() -> Lines:
    raise TrialFailed(FailureCode.AGENT_FAILED)


@boundary.action
def is_interrupted() -> Lines:
    raise KeyboardInterrupt


def test_an_action_prints_its_lines_and_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert works("that") is None
    assert silent() is None
    assert capsys.readouterr() == ("that: one\ntwo\n", "")


def test_a_stop_is_one_line_and_a_failed_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(stops(), TaskFailed)
    assert capsys.readouterr() == ("", "stopped: source-drift: put it back\n")


def test_an_unexpected_error_shows_its_type_and_frames_but_no_message_and_no_value(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(boundary.DEBUG, raising=False)
    ended = breaks()
    assert isinstance(ended, TaskError)
    said = capsys.readouterr()
    assert said.out == ""
    first, *frames = said.err.splitlines()
    assert first == "a fault of the evaluator: ValueError (set CONTEXT_EVAL_DEBUG=1 to see all of it)"
    assert any(line.startswith("  test_boundary.py:") and line.endswith(" in breaks") for line in frames)
    for private in (SECRET, "holds", str(PROJECT)):
        assert private not in said.err + str(ended) + repr(vars(ended))


def test_the_debug_variable_shows_all_of_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(boundary.DEBUG, "1")
    ended = breaks()
    said = capsys.readouterr().err
    assert isinstance(ended, TaskError)
    assert "Traceback (most recent call last)" in said
    assert f"OddError: holds {SECRET} in its message" in said
    assert "in deeper" in said
    assert SECRET not in repr(vars(ended))


def test_a_failed_trial_that_no_stage_recorded_is_a_fault_of_the_evaluator(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(leaks_a_trial(), TaskError)
    assert capsys.readouterr().err.startswith("a fault of the evaluator: TrialFailed ")


@boundary.outside
def asks(what: str) -> str:
    if what == "stop":
        raise ExperimentStopped("no\x1b[2J registration")
    if what == "bug":
        deeper(SECRET)
    return what


@pytest.mark.parametrize(
    ("what", "status", "line"),
    [("stop", 1, r"stopped: no\x1b[2J registration"), ("bug", 2, "a fault of the evaluator: OddError (set ")],
)
def test_what_doit_asks_outside_an_action_ends_the_process_as_an_action_would(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, what: str, status: int, line: str
) -> None:
    monkeypatch.delenv(boundary.DEBUG, raising=False)
    assert asks("this") == "this"
    with pytest.raises(SystemExit) as left:
        asks(what)
    assert left.value.code == status
    said = capsys.readouterr().err
    assert said.startswith(line)
    assert SECRET not in said


@pytest.mark.parametrize("character", ["\x1b", "\r", "\t", "\x07", "\x9b", "\u202e", "\u2028", "\ud835", "\0", "\x7f"])
def test_no_character_that_a_terminal_obeys_is_printed(character: str) -> None:
    shown = boundary.printable(f"ä{character}b\nc")
    assert shown == f"ä{ascii(character)[1:-1]}b\nc"
    assert shown.replace("\n", "").isprintable()


UNCAUGHT = {
    "a thread": "thread = threading.Thread(target=deeper); thread.start(); thread.join()",
    "a callback at the end": "atexit.register(deeper)",
    "the program": "deeper()",
}


@pytest.mark.parametrize("where", UNCAUGHT)
def test_what_nobody_catches_shows_no_message_either(where: str) -> None:
    program = f"""if True:
        import atexit, threading
        from eval_tasks import boundary
        boundary.keep_private()
        def deeper():
            raise ValueError({SECRET!r})
        {UNCAUGHT[where]}
    """
    ran = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ran.stderr.startswith("a fault of the evaluator: ValueError (set CONTEXT_EVAL_DEBUG=1 ")
    assert "in deeper" in ran.stderr
    assert SECRET not in ran.stderr + ran.stdout


def test_an_interruption_goes_through(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        is_interrupted()
    assert capsys.readouterr() == ("", "")


# Under the real doit


def doit(folder: Path, *actions: object, **options: Any) -> int:
    """Run actions as tasks in a row, as `dodo.py` would, and return the exit status."""
    tasks = {
        f"task_{number}": (lambda action=action: {"actions": [action], "uptodate": [False], **options})
        for number, action in enumerate(actions)
    }
    config = {"dep_file": str(folder / "doit.db"), "verbosity": 2, "reporter": boundary.Reporter, "backend": "sqlite3"}
    status: int = DoitMain(ModuleTaskLoader({**tasks, "DOIT_CONFIG": config}), config_filenames=()).run([])
    return status


def test_doit_prints_what_the_stages_say_and_nothing_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doit(tmp_path, works, silent) == 0
    assert capsys.readouterr() == ("it: one\ntwo\n", "")


def test_doit_passes_options_through_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    option = {"name": "name", "long": "name", "default": "an option"}
    assert doit(tmp_path, works, params=[option]) == 0
    assert capsys.readouterr().out == "an option: one\ntwo\n"


def test_a_stop_ends_the_run_with_status_1_and_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doit(tmp_path, stops, works) == 1
    assert capsys.readouterr() == ("", "stopped: source-drift: put it back\n")


def test_a_fault_ends_the_run_with_status_2_and_nothing_private_reaches_terminal_or_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(boundary.DEBUG, raising=False)
    assert doit(tmp_path, works, breaks, works) == 2
    said = capsys.readouterr()
    assert said.out == "it: one\ntwo\n"
    assert said.err.startswith("a fault of the evaluator: ValueError ")
    assert SECRET not in said.err
    assert "Traceback" not in said.err
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_unwinds_the_stack_and_ends_with_its_own_status_and_no_traceback(number: signal.Signals) -> None:
    program = """if True:
        import sys, time
        from eval_tasks import boundary
        boundary.end_in_good_order_on_signals()
        try:
            print("ready", flush=True)
            time.sleep(60)
        finally:
            print("unwound", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == "ready\n"
        began = time.monotonic()
        process.send_signal(number)
        assert process.stdout.read() == "unwound\n"
        assert process.stderr.read() == ""
    assert process.wait(30) == 128 + number
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("content", [b"no database" * 100, b"", None])
def test_a_database_that_cannot_be_read_is_dropped_and_a_sound_one_stays(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "doit.db"
    if content is None:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE doit (task_id text)")
        database.close()
    else:
        path.write_bytes(content)
    boundary.drop_a_broken_database(path)
    boundary.drop_a_broken_database(tmp_path / "missing.db")
    assert path.exists() is (content is None or content == b"")


def test_a_database_with_a_damaged_page_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "doit.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE doit (task_id text)")
        database.executemany("INSERT INTO doit VALUES (?)", [("x" * 1000,)] * 50)
    database.close()
    with open(path, "r+b") as stream:
        stream.seek(8192)
        stream.write(b"\xff" * 4096)
    boundary.drop_a_broken_database(path)
    assert not path.exists()
