"""The command `context-eval`: `init` makes an experiment, everything else is handed over to doit in its folder.

Must never run a stage itself: consent to paid calls is read from doit's own command line, word for word.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from eval_tasks import __version__
from eval_tasks.errors import ExperimentStopped
from eval_tasks.starter import project

_PROGRAM = "context-eval"


class _Parser(argparse.ArgumentParser):
    """Reports a wrong command line as every other mistake is: one line, exit status 1."""

    def error(self, message: str) -> NoReturn:
        raise ExperimentStopped(f"{message}; see `{self.prog} --help`")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given and given[0] not in ("init", "-h", "--help", "--version"):
            _hand_over(given)
        return _init(_parser().parse_args(given))
    except ExperimentStopped as stopped:
        print(f"stopped: {stopped}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=_PROGRAM,
        description="Does a lean install of agent skills complete real coding cases as well as the full one?",
        epilog=f"In an experiment's folder, `{_PROGRAM} <command>` is `doit <command>`: try `{_PROGRAM} list`.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="init", required=True)
    init = commands.add_parser("init", help="make an experiment for a folder of skills", allow_abbrev=False)
    init.add_argument("directory", type=Path, metavar="DIR", help="the experiment's folder, new or empty")
    init.add_argument(
        "--library", type=Path, metavar="FOLDER", help="one <id>/SKILL.md for each skill; without it, two examples"
    )
    init.add_argument("--agent", default="codex", metavar="KIND", help="the agent to rehearse (default: codex)")
    init.add_argument("--model", metavar="NAME", help="the model to rehearse with")
    return parser


def _init(options: argparse.Namespace) -> int:
    project.start(options.directory, options.library, options.agent, options.model)
    command = doit_command()
    print(f"An experiment stands in {options.directory}; its README.md says what to replace. Go on with:\n")
    print(f"  cd {options.directory}")
    for step in ("register", "run_eval", "report"):
        print(f"  {command} {step}")
    return 0


def doit_command() -> str:
    """Return how doit is called so that it finds this package: by name if the name leads to this environment."""
    beside = Path(sys.executable).parent
    for name in ("doit", _PROGRAM):
        found = shutil.which(name)
        # pipx puts a link on the path, which leads into this environment.
        if found is not None and Path(found).resolve().parent == beside.resolve():
            return name
    return str(beside / "doit") if (beside / "doit").exists() else f"{sys.executable} -m doit"


def _hand_over(arguments: Sequence[str]) -> NoReturn:
    """Become doit, in this environment."""
    if not Path("dodo.py").is_file():
        raise ExperimentStopped(f"there is no dodo.py in this folder; `{_PROGRAM} init DIR` makes an experiment")
    os.execv(sys.executable, [sys.executable, "-m", "doit", *arguments])


if __name__ == "__main__":
    sys.exit(main())
