"""The options of the commands, and the one line that an option gets which a command does not have.

Must never accept an option by its first letters: consent to paid calls has to be spelled out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

Option = dict[str, Any]

_EMPTY: Mapping[type, object] = {str: "", int: 0, bool: False}
_OTHER_COMMANDS_OF_DOIT = ("list", "info", "help", "clean", "forget", "ignore", "dumpdb", "strace", "reset-dep")
"""They run no task, and give some letters another meaning."""

_DOIT = ("doit", "doit.exe", "__main__.py")


def _option(long: str, kind: type, help_text: str) -> Option:
    return {
        "name": long.replace("-", "_"),
        "long": long,
        "type": kind,
        "default": _EMPTY[kind],
        "help": help_text,
    }


REGISTER = [
    _option("backend", str, "rehearsal, or the agent's kind for its real provider"),
    _option("executable", str, "an agent CLI outside toolchain/"),
    _option("agent-version", str, "a supported version of the agent CLI"),
    _option("model", str, "the pinned model"),
    _option("effort", str, "the model's reasoning effort"),
    _option("isolation", str, "sealed or agent-sandbox"),
    _option("auth-home", str, "the dedicated login home; without it a real provider needs an API key"),
    _option("repeats", int, "how often each case runs in each arm"),
    _option("max-calls", int, "the budget in calls"),
    _option("deadline", int, "the overall deadline in seconds"),
    _option("call-timeout", int, "the limit of a task call in seconds"),
    _option("new", bool, "register a new experiment beside the present one"),
    _option("reason", str, "why there is a new experiment"),
    _option("dry-run", bool, "print the registration and write nothing"),
    _option("accept-shortfall", bool, "register limits that the schedule may not fit"),
]

RUN = [
    _option("allow-real-provider", bool, "allow calls that are paid for"),
    _option("settle", bool, "record what will not run any more, without a call"),
    _option("repeats", int, "only compared with the registration"),
    _option("model", str, "only compared with the registration"),
    _option("executable", str, "only compared with the registration"),
]

PLAN = [_option("pilot", str, "the id of a finished experiment whose spread sizes the next corpus")]

STATUS = [_option("json", bool, "print JSON")]

CHECK_CORPUS = [
    _option("thorough", bool, "also try mutants, remove each check in turn and screen longer for flakes"),
    _option("anew", bool, "prove on this machine whatever was proven before"),
]

COMPARE = [_option("with", str, "the id of the other experiment")]

COMMANDS: Mapping[str, list[Option]] = {
    "check_corpus": CHECK_CORPUS,
    "compare": COMPARE,
    "plan": PLAN,
    "register": REGISTER,
    "run_eval": RUN,
    "status": STATUS,
}


_READING = frozenset({"analyze", "compare", "manifest", "plan", "report", "status", "verify"})
"""Commands that only read records, whatever else they are given."""


def only_reads(arguments: Sequence[str]) -> bool:
    """Return whether a command line of doit asks for nothing but these commands, so that no outcome need be a task.

    >>> only_reads(["doit"]), only_reads(["doit", "report"]), only_reads(["doit", "report", "run_eval"])
    (True, True, False)
    >>> only_reads(["doit", "run", "report"]), only_reads(["-c"])
    (False, False)
    """
    is_doit = bool(arguments) and PurePath(arguments[0]).name in _DOIT
    return is_doit and all(name in _READING for name in arguments[1:] if name != "--json")


def check(arguments: Sequence[str]) -> None:
    """End the process with one line and exit status 1 if a command got an option that it does not have.

    doit itself would answer with its own objects and status 3, or take an abbreviation.

    Parameters
    ----------
    arguments
        The whole command line; one of another program is left alone.
    """
    if not arguments or PurePath(arguments[0]).name not in _DOIT:
        return
    _refuse_parallel(arguments[1:])
    command: str | None = None
    wanted: Option | None = None
    for argument in arguments[1:]:
        if wanted is not None:
            _check_value(command, wanted, argument)
            wanted = None
        elif argument in COMMANDS:
            command = argument
        elif command is not None and argument.startswith("-"):
            wanted = _check_option(command, argument)


def _refuse_parallel(arguments: Sequence[str]) -> None:
    """Refuse doit's own options for running tasks side by side: how many calls run at once is registered."""
    if arguments and arguments[0] in _OTHER_COMMANDS_OF_DOIT:
        return
    for argument in arguments:
        short = argument[:2] in ("-n", "-P") and not argument.startswith("--")
        if short or argument.partition("=")[0] in ("--process", "--parallel-type"):
            raise SystemExit(
                f"stopped: {argument.partition('=')[0]}: how many calls run at once is registered;"
                " set `jobs` in eval.yaml and run `doit register --new`"
            )


def _check_option(command: str, argument: str) -> Option | None:
    """Return the option if its value comes as the next argument."""
    name, given, value = argument.partition("=")
    known = {f"--{option['long']}": option for option in COMMANDS[command]}
    option = known.get(name)
    if option is None:
        raise SystemExit(f"stopped: {command} has no option {name}; it has {', '.join(known)}")
    if option["type"] is bool:
        if given:
            raise SystemExit(f"stopped: {command} {name} takes no value")
        return None
    if given:
        _check_value(command, option, value)
        return None
    return option


def _check_value(command: str | None, option: Option, value: str) -> None:
    if option["type"] is int and not (value.isascii() and value.isdigit() and int(value) > 0):
        raise SystemExit(f"stopped: {command} --{option['long']} {value}: must be a whole number above zero")
