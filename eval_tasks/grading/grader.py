"""Grades: a submission and a case's grader in, a verdict out, with nothing left behind.

Must never grade on a machine whose permission model was not seen to work, by a canary that passes and one that fails.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from eval_tasks import digests, processes, sandbox
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.grading import verdicts
from eval_tasks.grading.machine import FOLDER, GRADER_FILES, SUBJECT_FILES, Machine, Surroundings, sweep
from eval_tasks.grading.session import Limits
from eval_tasks.grading.verdicts import Verdict

__all__ = ["Limits", "Runtime", "Surroundings", "Verdict", "grade"]

DEFAULT_LIMITS = Limits()
OLDEST_NODE = 20

_DECIDING = ("grader.py", "intake.py", "machine.py", "messages.py", "peers.py", "session.py", "verdicts.py")
_CANARY = FOLDER / "canary.cjs"
_SINGS = "the canary sings"
_UTC = Surroundings()
_PROBE_SECONDS = 10.0
_PROBE_BYTES = 64 * 1024
_DESCRIBE = "JSON.stringify([process.versions.node,[...process.allowedNodeEnvironmentFlags]])"


@dataclass(frozen=True)
class Runtime:
    """A machine whose permission model was tried, or why nothing can be graded here.

    Parameters
    ----------
    machine
        Where grading processes run.
    version
        Node's version without the `v`, or empty if it could not be run.
    fault
        Why nothing can be graded here, in one line; None if everything behaves.
    """

    machine: Machine
    version: str
    fault: str | None = None

    @classmethod
    def find(cls, node: Path | None = None, bubblewrap: Path | None = None, scratch: Path | None = None) -> Runtime:
        """Find the working flags, once, by canaries; never raises for what this machine lacks.

        Parameters
        ----------
        node
            The registered Node; by default the first on PATH.
        bubblewrap
            The bubblewrap to use; None grades without one.
        scratch
            A folder that the unprivileged user can pass through; by default the system's temporary folder.
        """
        drop = os.geteuid() == 0
        place = Path(os.path.realpath(scratch or tempfile.gettempdir()))
        executable = node or _on_path("node")
        sweep(place)
        bare = Machine(executable or Path("node"), (), None, drop, place)
        if executable is None or not os.access(executable, os.X_OK):
            return cls(bare, "", "there is no Node; install Node 20 or later")
        try:
            found = _reachable(Path(os.path.realpath(executable)), scratch, drop)
            box = None if bubblewrap is None else sandbox.Bubblewrap(_reachable(bubblewrap, scratch, drop), drop)
        except (OSError, ExperimentStopped) as error:
            return cls(bare, "", f"Node or bubblewrap can't be brought where it is needed: {error}")
        return _tried(replace(bare, node=found, bubblewrap=box))

    @property
    def digest(self) -> str:
        """Return the digest of everything here that can decide a verdict, this machine's Node included."""
        boxed = self.machine.bubblewrap is not None
        return digests.of_value([self.version, list(self.machine.flags), boxed, sources_digest()])


def sources_digest() -> str:
    """Return the digest of the sources that can decide a verdict, the same on every machine."""
    return digests.of_entries(digests.of_files(FOLDER, [*GRADER_FILES, *SUBJECT_FILES, *_DECIDING]))


def grade(
    submission: Path,
    grader_file: Path,
    runtime: Runtime,
    *,
    limits: Limits = DEFAULT_LIMITS,
    surroundings: Surroundings = _UTC,
) -> Verdict:
    """Grade a sealed submission.

    Parameters
    ----------
    submission
        The folder as the agent left it; it is only read.
    grader_file
        The case's `grader.cjs`.
    runtime
        From `Runtime.find`.
    limits
        Bounds of this grade.
    surroundings
        Time zone and locale; UTC and C.UTF-8 by default, whatever the evaluator's own.

    Returns
    -------
    Verdict
        `hidden-check` for whatever the submission's answers or faults led to, `grader-planted`, or `grading-failed` if
        the grader or this machine is at fault.
    """
    started = time.monotonic()
    if runtime.fault is not None:
        return verdicts.failed(FailureCode.GRADING_FAILED, runtime.fault)
    verdict = verdicts.reach(submission, grader_file, runtime.machine, limits, surroundings)
    return replace(verdict, elapsed_ms=round((time.monotonic() - started) * 1000))


# Finding the runtime


def _on_path(name: str) -> Path | None:
    found = shutil.which(name)
    return None if found is None else Path(found)


def _reachable(executable: Path, scratch: Path | None, drop: bool) -> Path:
    """Return the executable, or a copy of it where the unprivileged user could not pass to it."""
    if not drop or all(folder.stat().st_mode & stat.S_IXOTH for folder in executable.parents):
        return executable
    # Never the shared temporary folder, where others could lay a copy of their own.
    place = scratch or sandbox.work_root()
    return sandbox.adopt(executable, place / "tools", sandbox.fingerprint_of(executable))


def _tried(machine: Machine) -> Runtime:
    described = _describe(machine)
    if described is None:
        return Runtime(machine, "", "Node can't be run where it is graded")
    version, known = described
    if int(version.split(".")[0]) < OLDEST_NODE:
        return Runtime(machine, version, f"Node {version} is too old; install Node 20 or later")
    chosen = replace(machine, flags=_flags(known, boxed=machine.bubblewrap is not None))
    if not chosen.flags:
        return Runtime(machine, version, f"Node {version} has no permission model")
    return Runtime(chosen, version, _canaries(chosen))


def _describe(machine: Machine) -> tuple[str, frozenset[str]] | None:
    """Return Node's version and the flags that it knows."""
    try:
        finished = processes.run(
            machine.command(["-p", _DESCRIBE], {}),
            environment=_UTC.environment,
            wall_seconds=_PROBE_SECONDS,
            stdout_bytes=_PROBE_BYTES,
            cwd="/",
        )
        version, flags = json.loads(finished.stdout)
    except (OSError, ValueError):
        return None
    return str(version), frozenset(str(flag) for flag in flags)


def _flags(known: frozenset[str], *, boxed: bool) -> tuple[str, ...]:
    """Return the flags for the permission model and against the ways around it, as far as this Node knows them."""
    model = next((flag for flag in ("--permission", "--experimental-permission") if flag in known), None)
    if model is None:
        return ()
    chosen: list[str] = [model]
    # SQLite ignores the permission model (facts/sealing.md B1).
    if {"--experimental-sqlite", "--no-experimental-sqlite"} & known:
        chosen.append("--no-experimental-sqlite")
    if "--disable-sigusr1" in known:
        chosen.append("--disable-sigusr1")
    # Node 26 counts our own pipes as network; the box has none anyway.
    if "--allow-net" in known and boxed:
        chosen.append("--allow-net")
    return tuple(chosen)


def _canaries(machine: Machine) -> str | None:
    """Return why grades can't be trusted here, or None: the honest canary must pass, the wrong one fail its check."""
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryDirectory(prefix="c") as folder:
        # Without a box the network is open, and the level that the report states says so.
        port = listener.getsockname()[1] if machine.bubblewrap is not None else None
        grader = Path(folder, "grader.cjs")
        grader.write_text(f"globalThis.port = {json.dumps(port)};\n{_CANARY.read_text('utf-8')}", "utf-8")
        honest = _canary(machine, grader, Path(folder, "honest"), "sings")
        wrong = _canary(machine, grader, Path(folder, "wrong"), "is silent")
    if not honest.passed:
        return f"the permission model does not hold here ({honest.reason}); try a later Node 20, 22 or 24"
    if wrong.failure is not FailureCode.HIDDEN_CHECK or wrong.reason != _SINGS:
        return f"a wrong answer was not found out here: {wrong.reason}"
    return None


def _canary(machine: Machine, grader: Path, folder: Path, answer: str) -> Verdict:
    folder.mkdir()
    (folder / "canary.js").write_text(f"module.exports = () => {json.dumps(answer)};\n", "utf-8")
    return verdicts.reach(folder, grader, machine, DEFAULT_LIMITS, _UTC)
