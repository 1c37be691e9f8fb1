"""The machine that grades: its Node, its box, and the commands of the two kinds of processes.

Must never let the grader's process see the submission, nor a subject's process see the grader.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval_tasks import processes, sandbox

FOLDER = Path(__file__).resolve().parent
GRADER_FILES = ("runtime.cjs", "values.cjs", "lines.cjs")
SUBJECT_FILES = ("subject.cjs", "values.cjs", "lines.cjs")

_GRADER, _SUBJECT, _SUBMISSION = "grader", "subject", "submission"
_SEEN_CODE, _SEEN_SUBMISSION = "/r", "/s"
_HEAP_MEGABYTES = 128
_BENCH = re.compile(r"g(?P<pid>\d+)-(?P<started>\d+)-\w+")
"""A bench's name tells whose it is, so that those of killed evaluators can be told from those in use."""


@dataclass(frozen=True)
class Surroundings:
    """Time zone and locale of the processes; a grade always uses the default, flake screening varies it."""

    time_zone: str = "UTC"
    locale: str = "C.UTF-8"

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the whole environment of a grader or subject process."""
        return {"PATH": sandbox.SYSTEM_PATH, "LANG": self.locale, "LC_ALL": self.locale, "TZ": self.time_zone}


@dataclass(frozen=True)
class Machine:
    """Where grading processes run.

    Parameters
    ----------
    node
        The executable.
    flags
        Node's flags that switch its permission model on and ways around it off, without the paths.
    bubblewrap
        The outer sandbox; None where there is none, so that only Node's own limits hold.
    drop
        Whether processes give up root.
    scratch
        Folder below which a grade makes and removes its own.
    """

    node: Path
    flags: tuple[str, ...]
    bubblewrap: sandbox.Bubblewrap | None
    drop: bool
    scratch: Path

    def command(self, arguments: list[str], binds: Mapping[str, Path]) -> processes.Command:
        """Return the command that runs Node in a box that sees what is bound, or bare where there is none."""
        if self.bubblewrap is None:
            # The kernel would count all processes of the user, not only these.
            caps = replace(sandbox.GRADING_CAPS, processes=None)
            return [*sandbox.unprivileged(self.drop), *caps.prefix(), os.fspath(self.node), *arguments]
        seen = tuple(sandbox.Bind(source, target) for target, source in binds.items())
        return sandbox.GradingBox(self.bubblewrap, self.node, seen).command([sandbox.NODE, *arguments])


@dataclass(frozen=True)
class Bench:
    """One grade's folders and the commands of its processes."""

    machine: Machine
    root: Path
    environment: Mapping[str, str] = field(repr=False)

    @property
    def submission(self) -> Path:
        """Return where the copy of the submission goes; the folder does not exist yet."""
        return self.root / _SUBMISSION

    def grader(self, requests: int, answers: int) -> processes.Command:
        """Return the command of the grader's process.

        Parameters
        ----------
        requests, answers
            Descriptors that the process inherits: the pipe it reads from, and the one it writes to.
        """
        code = self._seen(_SEEN_CODE, _GRADER)
        arguments = [f"--allow-fs-read={code}/", "--disable-proto=delete", f"{code}/runtime.cjs"]
        return self._command([*arguments, str(requests), str(answers)], {_SEEN_CODE: _GRADER})

    def subject(self, requests: int, answers: int) -> processes.Command:
        """Return the command of a subject's process; see `grader` for the parameters."""
        # Without --disable-proto: a submission that pollutes prototypes has to show it.
        code, submission = self._seen(_SEEN_CODE, _SUBJECT), self._seen(_SEEN_SUBMISSION, _SUBMISSION)
        arguments = [f"--allow-fs-read={submission}/", f"--allow-fs-read={code}/", f"{code}/subject.cjs", submission]
        binds = {_SEEN_CODE: _SUBJECT, _SEEN_SUBMISSION: _SUBMISSION}
        return self._command([*arguments, str(requests), str(answers)], binds)

    def _seen(self, target: str, folder: str) -> str:
        return target if self.machine.bubblewrap is not None else os.fspath(self.root / folder)

    def _command(self, arguments: list[str], binds: Mapping[str, str]) -> processes.Command:
        flags = [*self.machine.flags, f"--max-old-space-size={_HEAP_MEGABYTES}", "--no-warnings"]
        sources = {target: self.root / folder for target, folder in binds.items()}
        return self.machine.command([*flags, *arguments], sources)


@contextmanager
def bench(machine: Machine, grader_file: Path, surroundings: Surroundings) -> Iterator[Bench]:
    """Lay out a fresh folder that only the processes' user can enter, and remove it whatever happens.

    Raises
    ------
    OSError
        If it can't be made or the grader can't be read.
    """
    started = processes.start_time(os.getpid())
    # The permission model compares real paths.
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix=f"g{os.getpid()}-{started}-", dir=machine.scratch)))
    try:
        for folder, names in ((_GRADER, GRADER_FILES), (_SUBJECT, SUBJECT_FILES)):
            (root / folder).mkdir()
            (root / folder).chmod(0o755)
            for name in names:
                _place(FOLDER / name, root / folder / name)
        _place(grader_file, root / _GRADER / "grader.cjs")
        if machine.drop:
            os.chown(root, sandbox.UNPRIVILEGED_ID, sandbox.UNPRIVILEGED_ID)
        yield Bench(machine, root, surroundings.environment)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def sweep(scratch: Path) -> None:
    """Remove the folders of evaluators that were killed while they graded, graders and submissions with them."""
    for path in scratch.glob("g*-*-*"):
        named = _BENCH.fullmatch(path.name)
        if named and path.is_dir() and not processes.alive(int(named["pid"]), int(named["started"])):
            shutil.rmtree(path, ignore_errors=True)


def _place(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o644)
