"""The one boundary between stages and doit: an expected failure becomes one line and exit status 1.

Must never let the message or a value of an unexpected exception reach the terminal, since either may be private.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec

from doit.exceptions import TaskError, TaskFailed
from doit.reporter import ConsoleReporter

from eval_tasks.errors import ExperimentStopped, Halted

DEBUG = "CONTEXT_EVAL_DEBUG"
"""Set in the environment, it shows an unexpected exception whole, on the terminal only."""

Lines = list[str] | None
_Parameters = ParamSpec("_Parameters")


def action(work: Callable[_Parameters, Lines]) -> Callable[_Parameters, object]:
    """Make a doit action of a function that returns the lines to print; doit passes options by parameter names."""

    @functools.wraps(work)
    def run(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> object:
        try:
            for line in work(*arguments, **options) or ():
                print(line)
        except Halted:
            return TaskFailed("stopped", report=False)
        except ExperimentStopped as stopped:
            sys.stdout.flush()
            print(f"stopped: {stopped}", file=sys.stderr)
            return TaskFailed("stopped", report=False)
        except Exception as error:
            _print_bug(error)
            return TaskError(type(error).__name__, report=False)
        return None

    return run


def _print_bug(error: Exception) -> None:
    sys.stdout.flush()
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        return
    print(f"a fault of the evaluator: {type(error).__name__} (set {DEBUG}=1 to see all of it)", file=sys.stderr)
    for frame in traceback.extract_tb(error.__traceback__):
        print(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}", file=sys.stderr)


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """Shows what the stages print and nothing else: no line for a task that had nothing to do."""

    desc = "what the stages say"

    def execute_task(self, task: Any) -> None:
        """Say nothing; the stage itself does."""

    def skip_uptodate(self, task: Any) -> None:
        """Say nothing."""


def end_in_good_order_on_signals() -> None:
    """Let SIGTERM and SIGINT unwind the stack without a traceback, so that children are reaped."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)


def drop_a_broken_database(path: Path) -> None:
    """Remove doit's database if it can't be read: it is a cache, and the records say what is done."""
    if not path.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            sound = database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    except sqlite3.OperationalError:
        # Another doit may hold it just now.
        return
    except sqlite3.DatabaseError:
        sound = False
    if not sound:
        path.unlink(missing_ok=True)
