"""Kills the process that imports it at a named or numbered point; loaded by PYTHONPATH in a test's child only.

`CONTEXT_EVAL_KILL` is `<module>:<function>:before|after:<nth>:<signal>:<argument>`, where a call counts only if one of
its arguments contains the argument; with signal 0 an exception with the text `CONTEXT_EVAL_RAISE` comes up instead. Or
it is `events:<nth>:<signal>`, which counts calls of the functions that matter; `events:0:0` kills nothing and writes
their number to the file `CONTEXT_EVAL_KILL_COUNT`.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
from importlib.machinery import PathFinder

COUNTED = (
    *("/stages/session.py", "/stages/calls.py", "/stages/run_arm.py", "/stages/run_probe.py", "/stages/grade.py"),
    *("/stages/recover.py", "/stages/prepare.py", "/stages/purge.py", "/stages/settle.py", "/installs/build.py"),
    *("/eval_tasks/journal.py", "/eval_tasks/files.py", "/eval_tasks/records.py", "/eval_tasks/processes.py"),
    *("/trials/lease.py", "/grading/grader.py", "/grading/session.py", "/rehearsal/model.py"),
)


class _Killer:
    def __init__(self, nth: int, number: int) -> None:
        self.left, self.number = nth, number
        self.lock = threading.Lock()

    def due(self) -> None:
        with self.lock:
            self.left -= 1
            if self.left != 0:
                return
        if self.number == 0:
            raise RuntimeError(os.environ.get("CONTEXT_EVAL_RAISE", ""))
        os.kill(os.getpid(), self.number)


def _wrapped(function, when, killer, argument):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        wanted = not argument or any(argument in str(value) for value in (*arguments, *options.values()))
        if wanted and when == "before":
            killer.due()
        result = function(*arguments, **options)
        if wanted and when == "after":
            killer.due()
        return result

    return wrapper


class _Finder:
    """Finds one module as usual, and wraps one of its functions once it is loaded."""

    def __init__(self, module, name, when, killer, argument):
        self.module, self.name, self.when, self.killer, self.argument = module, name, when, killer, argument

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            holder = module
            *parents, last = self.name.split(".")
            for parent in parents:
                holder = getattr(holder, parent)
            setattr(holder, last, _wrapped(getattr(holder, last), self.when, self.killer, self.argument))

        spec.loader.exec_module = exec_module
        return spec


def _count_events(killer):
    known = {}
    seen = [0]

    def profile(frame, event, _argument):
        if event != "call":
            return
        code = frame.f_code
        if code not in known:
            known[code] = code.co_filename.endswith(COUNTED)
        if known[code]:
            seen[0] += 1
            killer.due()

    sys.setprofile(profile)
    note = os.environ.get("CONTEXT_EVAL_KILL_COUNT")
    if note:

        def write():
            with open(note, "w", encoding="ascii") as stream:
                stream.write(str(seen[0]))

        atexit.register(write)


def _install() -> None:
    plan = os.environ.get("CONTEXT_EVAL_KILL", "")
    if plan.startswith("events:"):
        _, nth, number = plan.split(":")
        _count_events(_Killer(int(nth), int(number)))
    elif plan:
        module, name, when, nth, number, argument = plan.split(":", 5)
        killer = _Killer(int(nth), int(number))
        if module == "os":
            setattr(os, name, _wrapped(getattr(os, name), when, killer, argument))
        else:
            sys.meta_path.insert(0, _Finder(module, name, when, killer, argument))


_install()
