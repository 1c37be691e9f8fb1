"""One call of the agent: reserved, prepared, run within its limits, proven over, read, and cleaned up after.

Must never return before the call's whole process tree is gone, nor leave its folder or a lent login behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_tasks import files, processes, records, sandbox
from eval_tasks.agents.contract import Call, Reading
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.installs import inventory
from eval_tasks.processes import Finished, Level
from eval_tasks.rehearsal.model import Behaviour
from eval_tasks.sandbox import AgentBox, AgentPlace
from eval_tasks.stages.session import Session
from eval_tasks.trials import lease, limits


@dataclass(frozen=True)
class Order:
    """What one call is to do.

    Parameters
    ----------
    key
        The claim.
    phase
        `task`, `proposal` or `canary`.
    install
        The install that it runs on.
    prompt
        What the agent is told, whole.
    contents
        The workspace it begins with; None for an empty one in memory.
    behaviour
        Makes what the loopback model does, in rehearsal.
    """

    key: str
    phase: str
    install: str
    prompt: str = field(repr=False)
    contents: Mapping[str, bytes] | None = field(repr=False)
    behaviour: Callable[[], Behaviour] = field(repr=False)


@dataclass(frozen=True)
class Called:
    """A call that is over; its workspace exists as long as the context of `make`."""

    call_id: str
    phase: str
    finished: Finished = field(repr=False)
    reading: Reading = field(repr=False)
    workspace: Path | None = field(repr=False)
    failed: TrialFailed | None

    @property
    def record(self) -> dict[str, Any]:
        """Return the call as records hold it."""
        reading, contained = self.reading, self.finished.contained
        return {
            "callId": self.call_id,
            "phase": self.phase,
            "elapsedMs": self.finished.elapsed_ms,
            "usage": _usage(reading),
            "transientErrors": reading.transient_errors,
            "commands": reading.commands,
            "failedCommands": reading.failed_commands,
            "openedSkills": list(reading.opened_skills),
            "unknownOpens": reading.unknown_opens,
            "contained": {
                "quiescent": contained.quiescent,
                "wallHonoured": contained.wall_honoured,
                "level": str(contained.level),
            },
        }


def _usage(reading: Reading) -> dict[str, int] | None:
    usage = reading.usage
    if usage is None:
        return None
    return {
        "inputTokens": usage.input_tokens,
        "cachedInputTokens": usage.cached_input_tokens,
        "outputTokens": usage.output_tokens,
    }


@contextmanager
def make(session: Session, order: Order) -> Iterator[Called]:
    """Make one call from its reservation to the proof that it is over.

    Raises
    ------
    TrialFailed
        `call-budget` or `deadline`, before anything is spent.
    ExperimentStopped
        If the registered credential is missing, before anything is spent.
    """
    bounds = session.registration.limits
    key = session.api_key
    session.lanes.wait_out_a_pause()
    call_id = session.journal.reserve(
        order.key, order.phase, calls=bounds["calls"], deadline_seconds=bounds["deadlineSeconds"]
    )
    wall = limits.wall(bounds, order.phase, session.journal.seconds_left(bounds["deadlineSeconds"]))
    folder = session.work.calls / call_id
    sandbox.make_work_folder(folder, drop=session.drop)
    try:
        workspace = _workspace(session, folder, order)
        with _base_url(session, order) as base_url, _login(session, folder, call_id) as auth:
            place = session.place(order.install, folder, workspace, auth)
            settings = _own_settings(session, place)
            call = _command(session, order, place, base_url, key)
            finished = _run(session, call, call_id, wall, workspace)
        reading = session.agent.read(finished, session.installed(order.install), place)
        failed = _drifted(session, order, place, settings) or _failure(finished, reading, wall)
        yield Called(call_id, order.phase, finished, reading, workspace, failed)
    finally:
        files.remove_tree(folder)


def _run(session: Session, call: Call, call_id: str, wall: limits.Wall, workspace: Path | None) -> Finished:
    """Run the process of a call, known to the journal and to the end of the session."""
    with session.lanes.calling(call_id) as note:

        def started(pid: int, pid_started: int) -> None:
            note(pid, pid_started)
            session.journal.started(call_id, pid, pid_started)

        finished = processes.run(
            call.command,
            environment=call.environment,
            stdin=call.stdin,
            wall_seconds=wall.seconds,
            stdout_bytes=call.stdout_bytes,
            tick=lambda: _tick(session, call_id, workspace),
            on_start=started,
        )
        session.journal.ended(call_id)
    return finished


def _tick(session: Session, call_id: str, workspace: Path | None) -> bool:
    """Note that the call still runs; return whether its workspace has outgrown what a submission may hold."""
    session.journal.heartbeat(call_id)
    return workspace is not None and sandbox.overfull(
        workspace, most_bytes=files.SEALED_BYTES, most_entries=files.SEALED_FILES
    )


def _own_settings(session: Session, place: AgentPlace) -> dict[str, bytes]:
    """Return the settings that were written for this call alone; a sealed call has none."""
    if isinstance(place, AgentBox):
        return {}
    return {path.name: path.read_bytes() for path in session.agent.install_copy(place).iterdir() if path.is_file()}


def _drifted(session: Session, order: Order, place: AgentPlace, settings: Mapping[str, bytes]) -> TrialFailed | None:
    """Return whether a call changed its own copy of the install; what a sealed call sees can't be changed."""
    if isinstance(place, AgentBox):
        return None
    record = records.read(session.experiment.inventory(order.install), "inventory")
    try:
        inventory.verify_copy(session.agent.install_copy(place), record, settings, session.agent.UNWANTED)
    except ExperimentStopped:
        return TrialFailed(FailureCode.ENVIRONMENT_DRIFT)
    return None


def _command(session: Session, order: Order, place: AgentPlace, base_url: str | None, key: str | None) -> Call:
    agent, prompt = session.agent, order.prompt.encode("utf-8")
    if order.phase == "proposal":
        return agent.proposal_call(place, session.backend, prompt, base_url=base_url, api_key=key)
    return agent.task_call(place, session.backend, prompt, base_url=base_url, api_key=key)


def _workspace(session: Session, folder: Path, order: Order) -> Path | None:
    if order.contents is None and session.level is Level.SEALED:
        return None
    workspace = folder / "w"
    files.write_tree(workspace, order.contents or {})
    sandbox.own(workspace, drop=session.drop)
    return workspace


@contextmanager
def _base_url(session: Session, order: Order) -> Iterator[str | None]:
    """Give the address of the loopback model for this call, or None for the real provider."""
    if not session.registration.rehearsing:
        yield None
        return
    with session.model.play(order.behaviour(), order.key) as endpoint:
        yield endpoint.base_url


@contextmanager
def _login(session: Session, folder: Path, call_id: str) -> Iterator[Path | None]:
    """Lend the login to this call, where one is registered."""
    if session.backend.authentication != "login-home":
        yield None
        return
    with lease.lease(
        session.login_home,
        folder / lease.AUTH,
        note=lambda source: session.journal.leased(call_id, source),
        give=lambda copy: sandbox.own(copy, drop=session.drop),
    ) as copy:
        yield copy


def _failure(finished: Finished, reading: Reading, wall: limits.Wall) -> TrialFailed | None:
    """Return why a call is no completed turn: a limit that fired goes before what the stream says."""
    if finished.stopped_by == "wall":
        return wall.expired()
    if finished.stopped_by == "output":
        return TrialFailed(FailureCode.OUTPUT_LIMIT, "output")
    return None if reading.failure is None else TrialFailed(reading.failure)
