"""`doit recover`: settle what a killed session left open, and remove what its calls left behind.

Must never touch a name that is not in this experiment's own journal, nor repeat or forget a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval_tasks import files, processes, records
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.journal import CallRow, Claim
from eval_tasks.schedule import trial_of_name
from eval_tasks.stages.session import CANARY, Session
from eval_tasks.trials import lease

PROBE_PREFIX = "probe:"


def recover(session: Session) -> list[str]:
    """End what still runs, heal lent logins, and give every open claim its record.

    Returns
    -------
    list of str
        One line for each claim that was settled.
    """
    for call in session.journal.open_calls():
        _end(session, call)
    said = []
    claims = session.journal.claims()
    _refuse_unclaimed(session, claims)
    for key, claim in claims.items():
        if claim.kind == CANARY:
            # It leaves no record: one that was interrupted is made again, by another claim.
            said += [] if claim.settled else [_interrupt(session, key)]
        elif not claim.settled:
            said.append(_settle(session, claim))
        elif not _has_record(session, key):
            raise ExperimentStopped(
                f"{key} was settled but its record is gone; restore it from a copy, since its calls can't be repeated"
            )
    _sweep(session)
    return said


def _refuse_unclaimed(session: Session, claims: Mapping[str, Claim]) -> None:
    """Refuse a record that no claim stands for: the journal has lost what was spent on it."""
    scheduled = [trial.name for trial in session.registration.trials]
    scheduled += [f"{PROBE_PREFIX}{name}" for name in session.registration.probes]
    for key in scheduled:
        if key not in claims and _has_record(session, key):
            raise ExperimentStopped(
                f"{key} has a record but the journal does not know of it: restore journal.db with its -wal file"
            )


def _end(session: Session, call: CallRow) -> None:
    """Kill a call that outlived its evaluator, give its login back and remove its folder."""
    if call.pid is not None and call.pid_started is not None:
        processes.kill_survivor(call.pid, call.pid_started)
    folder = session.work.calls / call.call_id
    if call.lease is not None and (folder / lease.AUTH).exists():
        lease.give_back(session.login_home, folder / lease.AUTH, call.lease)
    files.remove_tree(folder)
    session.journal.ended(call.call_id)


def _sweep(session: Session) -> None:
    """Remove what a kill kept a finished call from removing: its folder, and a submission that nobody will grade."""
    of_call = {call.call_id: call.claim for call in session.journal.calls()}
    for name in _names_in(session.work.calls) & of_call.keys():
        files.remove_tree(session.work.calls / name)
    for name in _names_in(session.work.submissions) & of_call.keys():
        target = session.experiment.arm_run(of_call[name])
        if target.is_file() and records.read(target, "arm-run")["failure"] is not None:
            files.remove_tree(session.work.submissions / name)


def _names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def _has_record(session: Session, key: str) -> bool:
    experiment = session.experiment
    if key.startswith(PROBE_PREFIX):
        return experiment.probe(key.removeprefix(PROBE_PREFIX)).is_file()
    return experiment.arm_run(key).is_file()


def _interrupt(session: Session, key: str) -> str:
    session.journal.settle(key, FailureCode.INTERRUPTED)
    return f"{key}: {FailureCode.INTERRUPTED}"


def _settle(session: Session, claim: Claim) -> str:
    """Settle an open claim from its record, or as interrupted if it has none."""
    if claim.kind == "probe":
        target, schema = session.experiment.probe(claim.key.removeprefix(PROBE_PREFIX)), "probe"
    else:
        target, schema = session.experiment.arm_run(claim.key), "arm-run"
    if not target.is_file():
        records.write(target, schema, interrupted(session, claim))
    code = records.read(target, schema)["failure"]
    session.journal.settle(claim.key, None if code is None else FailureCode(code))
    return f"{claim.key}: {'recorded before the interruption' if code != FailureCode.INTERRUPTED else code}"


def interrupted(session: Session, claim: Claim) -> dict[str, Any]:
    """Return the record of a claim whose session died: its calls count, their usage is unknown."""
    calls = [_call(session, row) for row in session.journal.calls_of(claim.key)]
    return unrun(session, claim.key, FailureCode.INTERRUPTED, None, calls)


def unrun(
    session: Session, key: str, code: FailureCode, limit: str | None, calls: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the record of a scheduled outcome that never came to its end."""
    common = {
        "registration": session.registration.digest,
        "failure": str(code),
        "limit": limit,
        "selectedIds": [],
        "selection": "none",
        "calls": calls,
    }
    if key.startswith(PROBE_PREFIX):
        probe = {"id": key.removeprefix(PROBE_PREFIX), "passed": False, "shortlist": []}
        return {"schemaVersion": "context-eval.probe.v1", **common, **probe}
    trial = {**trial_of_name(key).value, "submissionDigest": None, "contextBytes": 0}
    return {"schemaVersion": "context-eval.arm-run.v1", **common, **trial}


def _call(session: Session, row: CallRow) -> dict[str, Any]:
    """Return a call of which only the journal knows; that its tree is gone was observed just now."""
    alive = row.pid is not None and row.pid_started is not None and processes.alive(row.pid, row.pid_started)
    return {
        "callId": row.call_id,
        "phase": row.phase,
        "elapsedMs": row.elapsed_ms,
        "usage": None,
        "transientErrors": 0,
        "commands": 0,
        "failedCommands": 0,
        "openedSkills": [],
        "unknownOpens": 0,
        "contained": {
            "quiescent": not alive,
            "wallHonoured": not alive,
            "level": session.registration.design["isolation"],
        },
    }
