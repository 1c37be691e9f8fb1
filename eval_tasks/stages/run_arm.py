"""`arm_run:<trial>`: one scheduled trial, from its claim to its record.

Must never run a trial twice, look into a grader, or record anything but what the schema allows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from eval_tasks import files, records
from eval_tasks.agents.contract import Reading
from eval_tasks.arms import ARMS, Selecting
from eval_tasks.corpus import Case
from eval_tasks.errors import FailureCode, TrialFailed
from eval_tasks.processes import Level
from eval_tasks.rehearsal.model import Behaviour
from eval_tasks.schedule import Trial, trial_of_name
from eval_tasks.selection import context
from eval_tasks.selection.resolver import Task
from eval_tasks.stages import calls
from eval_tasks.stages.calls import Called, Order
from eval_tasks.stages.select import Selection, select
from eval_tasks.stages.session import Session
from eval_tasks.trials import choice
from eval_tasks.trials.choice import NOTHING, Choice


@dataclass
class ArmRun:
    """What running a trial has left so far."""

    trial: Trial
    choice: Choice = NOTHING
    calls: list[Called] = field(default_factory=list)
    context_bytes: int = 0
    submission: str | None = None
    failure: FailureCode | None = None
    limit: str | None = None

    def record(self, registration: str) -> dict[str, Any]:
        """Return the arm-run as its record holds it."""
        return {
            "schemaVersion": "context-eval.arm-run.v1",
            "registration": registration,
            **self.trial.value,
            "failure": None if self.failure is None else str(self.failure),
            "limit": self.limit,
            "selectedIds": list(self.choice.ids),
            "selection": self.choice.way,
            "calls": [called.record for called in self.calls],
            "submissionDigest": self.submission,
            "contextBytes": self.context_bytes,
        }

    @property
    def reading(self) -> Reading | None:
        """Return what the last call said, if there was one."""
        return self.calls[-1].reading if self.calls else None


def run_arm(session: Session, name: str) -> None:
    """Run one trial unless its record exists.

    Raises
    ------
    ExperimentStopped
        Before the claim if something has drifted or consent is missing; after the record if its code stops the run.
    """
    target = session.experiment.arm_run(name)
    if target.is_file():
        return
    trial = trial_of_name(name)
    with session.claim(name, "trial", installs=_installs(trial)):
        run = ArmRun(trial)
        try:
            _run(session, session.assembly.corpus.case(trial.case_id), run)
        except TrialFailed as failed:
            run.failure, run.limit = failed.code, failed.limit
        records.write(target, "arm-run", run.record(session.registration.digest))
    session.settle(name, run.failure, run.reading)


def _installs(trial: Trial) -> Collection[str]:
    return {ARMS[trial.arm].install}


def _run(session: Session, case: Case, run: ArmRun) -> None:
    """Give the arm its context, make the task call and seal what it leaves."""
    _choose(session, case, run)
    prompt = context.with_context(case.prompt, session.assembly.library, run.choice.ids)
    run.context_bytes = len(prompt.encode("utf-8")) - len(case.prompt.encode("utf-8"))
    order = Order(
        key=run.trial.name,
        phase="task",
        install=ARMS[run.trial.arm].install,
        prompt=prompt,
        contents=case.workspace,
        behaviour=lambda: _play(session, case, run.trial),
    )
    with calls.make(session, order) as called:
        run.calls.append(called)
        if called.failed is not None:
            raise called.failed
        if called.workspace is not None:
            run.submission = files.seal(called.workspace, session.work.submissions / called.call_id)
        if called.reading.sandbox_dead and run.submission == files.digest_of_contents(case.workspace):
            # What the events say an agent could fake, so that the sandbox itself is asked as well.
            _refuse_dead_sandbox(session, order)


def _refuse_dead_sandbox(session: Session, order: Order) -> None:
    if session.level is not Level.SEALED or not session.can_seal(order.install, session.work.submissions):
        raise TrialFailed(FailureCode.SANDBOX_UNAVAILABLE)


def _choose(session: Session, case: Case, run: ArmRun) -> None:
    trial, library = run.trial, session.assembly.library
    selecting = ARMS[trial.arm].selecting
    if selecting is Selecting.NOTHING:
        return
    if selecting is Selecting.PREREGISTERED:
        run.choice = choice.preregistered(case.skill, library)
    else:
        selection = _automatic(session, case, trial)
        run.choice = selection.choice
        run.calls += selection.calls
    if run.choice.failure is not None:
        raise TrialFailed(run.choice.failure, run.choice.limit)


def _automatic(session: Session, case: Case, trial: Trial) -> Selection:
    def play(shortlist: Collection[str]) -> Behaviour:
        return session.script.trial_proposal(
            trial.case_id, trial.arm, trial.repeat, expected=case.skill, shortlist=shortlist
        )

    return select(session, trial.name, Task(id=trial.name, prompt=case.prompt), (), play)


def _play(session: Session, case: Case, trial: Trial) -> Behaviour:
    return session.script.task(trial.case_id, trial.arm, trial.repeat, case.workspace)
