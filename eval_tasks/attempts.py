"""The list of attempts: one line for each registration, appended and never rewritten.

Must never drop or change a line; what a live attempt has spent by now is a further line of the same id.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project
from eval_tasks.registration import Registration


def _file(project: Project, evidence: str) -> Path:
    """Return where attempts are listed: live ones beside the project's sources, rehearsals with the experiments."""
    return project.attempts if evidence == "live" else project.experiments / "rehearsals.jsonl"


def read(project: Project, evidence: str) -> list[dict[str, Any]]:
    """Return the attempts in the order of their registration, each with the last count of calls that was noted.

    Parameters
    ----------
    evidence
        `live` or `rehearsal`; the two are counted apart.
    """
    path = _file(project, evidence)
    found: dict[str, dict[str, Any]] = {}
    if not path.is_file():
        return []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        value = records.parse(line, f"{path.name}:{number}")
        records.check("attempt", value, f"{path.name}:{number}", "restore the file from git")
        found[value["id"]] = value
    return list(found.values())


def add(project: Project, registration: Registration) -> None:
    """Append the attempt of a new registration."""
    _append(project, registration, None)


def note_calls(project: Project, registration: Registration, calls: int) -> None:
    """Append how many calls an attempt has made by now, unless that is what its last line says."""
    known = {value["id"]: value for value in read(project, registration.design["evidence"])}
    if known.get(registration.id, {}).get("calls") != calls:
        _append(project, registration, calls)


def _append(project: Project, registration: Registration, calls: int | None) -> None:
    attempt, evidence = registration.value["attempt"], registration.design["evidence"]
    value = {
        "id": registration.id,
        "date": attempt["date"],
        "reason": attempt["reason"],
        "calls": calls,
        "evidence": evidence,
    }
    records.check("attempt", value, "attempt")
    path = _file(project, evidence)
    line = records.canonical(value) + b"\n"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                raise ExperimentStopped(f"{path.name}: the last line has lost its end; restore it from a copy")
            if os.write(descriptor, line) != len(line):
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ExperimentStopped(f"{path.name} can't be written ({error.strerror}); mend it and run again") from error
