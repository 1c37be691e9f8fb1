"""`probe:<id>`: one selection-only question, by the same selection as a trial of Auto Lean.

Must never ask a probe twice, nor let the expected answer reach the selection.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from eval_tasks import records
from eval_tasks.arms import LEAN
from eval_tasks.corpus import Probe
from eval_tasks.rehearsal.model import Behaviour
from eval_tasks.selection.resolver import Task
from eval_tasks.stages.select import Selection, select
from eval_tasks.stages.session import Session
from eval_tasks.trials.choice import Choice


def run_probe(session: Session, probe_id: str) -> None:
    """Ask one probe unless its record exists.

    Raises
    ------
    ExperimentStopped
        As `run_arm` does.
    """
    target = session.experiment.probe(probe_id)
    if target.is_file():
        return
    probe = session.assembly.corpus.probe(probe_id)
    key = f"probe:{probe_id}"
    with session.claim(key, "probe", installs={LEAN}):
        selection = _ask(session, key, probe)
        records.write(target, "probe", _record(session, probe, selection))
    session.settle(key, selection.choice.failure, selection.reading)


def _ask(session: Session, key: str, probe: Probe) -> Selection:
    expected = probe.expected_ids[0] if probe.expected_ids else None

    def play(shortlist: Collection[str]) -> Behaviour:
        return session.script.probe_proposal(probe.id, expected=expected, shortlist=shortlist)

    task = Task(id=probe.id, prompt=probe.prompt, explicit_ids=probe.explicit, no_workflow=probe.no_workflow)
    return select(session, key, task, probe.exclude, play)


def _record(session: Session, probe: Probe, selection: Selection) -> dict[str, Any]:
    choice = selection.choice
    return {
        "schemaVersion": "context-eval.probe.v1",
        "registration": session.registration.digest,
        "id": probe.id,
        "passed": passes(probe, choice),
        "selectedIds": list(choice.ids),
        "shortlist": list(choice.shortlist),
        "selection": choice.way,
        "failure": None if choice.failure is None else str(choice.failure),
        "limit": choice.limit,
        "calls": [called.record for called in selection.calls],
    }


def passes(probe: Probe, choice: Choice) -> bool:
    """Return whether a choice is the probe's expected answer: exactly these ids, or exactly this code."""
    if probe.expected_code is not None:
        return choice.failure is not None and str(choice.failure) == probe.expected_code
    return choice.failure is None and set(choice.ids) == set(probe.expected_ids or ())
