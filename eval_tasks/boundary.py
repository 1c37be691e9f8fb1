"""The one boundary between stages and doit: an expected failure becomes one line and exit status 1.

Must never let the message or a value of an unexpected exception reach the terminal, since either may be private, nor a
control sequence, wherever it comes from.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from doit.exceptions import TaskError, TaskFailed
from doit.reporter import ConsoleReporter

from eval_tasks.errors import ExperimentStopped, Halted

DEBUG = "CONTEXT_EVAL_DEBUG"
"""Set in the environment, it shows an unexpected exception whole, on the terminal only."""

Lines = list[str] | None
_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")


def action(work: Callable[_Parameters, Lines]) -> Callable[_Parameters, object]:
    """Make a doit action of a function that returns the lines to print; doit passes options by parameter names."""

    @functools.wraps(work)
    def run(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> object:
        try:
            for line in work(*arguments, **options) or ():
                print(printable(line))
        except Halted:
            return TaskFailed("stopped", report=False)
        except ExperimentStopped as stopped:
            _print_stop(stopped)
            return TaskFailed("stopped", report=False)
        except Exception as error:
            _print_bug(error)
            return TaskError(type(error).__name__, report=False)
        return None

    return run


def outside(work: Callable[_Parameters, _Returned]) -> Callable[_Parameters, _Returned]:
    """Guard a function that doit calls outside an action, where it would print an exception with its message."""

    @functools.wraps(work)
    def run(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Returned:
        try:
            return work(*arguments, **options)
        except ExperimentStopped as stopped:
            _print_stop(stopped)
            raise SystemExit(1) from None
        except Exception as error:
            _print_bug(error)
            raise SystemExit(2) from None

    return run


def printable(text: str) -> str:
    r"""Return a text in which every character that a terminal could obey, or not show, is written as its escape.

    >>> print(printable("clear \x1b[2J, back \r"))
    clear \x1b[2J, back \r
    """
    return "".join(
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1] for character in text
    )


def _print_stop(stopped: ExperimentStopped) -> None:
    sys.stdout.flush()
    print(f"stopped: {printable(str(stopped))}", file=sys.stderr)


def _print_bug(error: BaseException) -> None:
    sys.stdout.flush()
    if os.environ.get(DEBUG):
        print(printable("".join(traceback.format_exception(error))), file=sys.stderr, end="")
        return
    print(f"a fault of the evaluator: {type(error).__name__} (set {DEBUG}=1 to see all of it)", file=sys.stderr)
    for frame in traceback.extract_tb(error.__traceback__):
        print(printable(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}"), file=sys.stderr)


def keep_private() -> None:
    """Show what nobody catches as a fault in an action is shown, in whatever thread, callback or hook it is raised."""

    def show(error: BaseException | None) -> None:
        if isinstance(error, ExperimentStopped):
            _print_stop(error)
        elif error is not None and not isinstance(error, SystemExit):
            _print_bug(error)

    sys.excepthook = lambda _kind, error, _trace: show(error)
    threading.excepthook = lambda raised: show(raised.exc_value)
    sys.unraisablehook = lambda raised: show(raised.exc_value)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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
