"""One evaluator at work on one experiment: the journal, the lock, the agent and the places that its paid stages share.

Must never make a call of a real provider without the consent of this command line, nor outside a claim.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import RLock

from eval_tasks import attempts, digests, files, journal, records, registration, sandbox
from eval_tasks.agents import AGENTS
from eval_tasks.agents.contract import Agent, Authentication, Backend, Executable, Reading
from eval_tasks.errors import ExperimentStopped, FailureCode, Halted
from eval_tasks.grading.grader import Runtime
from eval_tasks.installs import inventory
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project, WorkArea
from eval_tasks.processes import Level
from eval_tasks.registration import Registration
from eval_tasks.rehearsal import script
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.sandbox import AgentPlace
from eval_tasks.stages import gate
from eval_tasks.stages.assemble import Assembly, Local
from eval_tasks.trials import lease
from eval_tasks.trials.lanes import Lanes

CONSENT = "--allow-real-provider"
CANARY = "canary"
"""The kind of claim, and the phase of call, that a trial on a real provider has to wait for."""

ROOM_BYTES = 2 * files.SEALED_BYTES
"""What must be free for a claim: as much as a submission may hold, and once more for its copy under the grader."""

LEDGER = "CONTEXT_EVAL_REHEARSAL_LEDGER"
"""Names a file that gets a line for each call the loopback model is asked for; tests count paid calls by it."""

_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class Session:
    """The shared state of the stages that spend, grade or build; one a process.

    Attributes
    ----------
    consent
        Whether this command line holds `--allow-real-provider` itself.
    lanes
        What the threads that run trials side by side agree on.
    alone
        Held by the one of them that derives or checks what all share.
    """

    project: Project
    experiment: Experiment
    registration: Registration
    local: Local
    work: WorkArea
    journal: Journal
    consent: bool
    _exit: ExitStack
    _seen: Mapping[str, digests.Identity] = field(default_factory=dict)
    lanes: Lanes = field(default_factory=Lanes)
    alone: RLock = field(default_factory=RLock)

    @classmethod
    def open(cls, project: Project, *, consent: bool) -> Session:
        """Lock the current experiment for this process and open its journal.

        Raises
        ------
        ExperimentStopped
            If another evaluator works on it.
        """
        experiment = registration.require_current(project)
        found = registration.read(experiment)
        with ExitStack() as stack:
            stack.enter_context(journal.evaluator_lock(experiment.lock, f"experiment {experiment.id}"))
            local, place = gate.read_local(experiment)
            opened = stack.enter_context(Journal(experiment.journal, found.digest))
            opened.begin_session()
            return cls(project, experiment, found, local, WorkArea(place), opened, consent, stack.pop_all())

    def close(self) -> None:
        """Note what was spent, and give everything back."""
        with self._exit:
            if not self.registration.rehearsing:
                attempts.note_calls(self.project, self.registration, self.journal.totals().calls)

    @cached_property
    def assembly(self) -> Assembly:
        """Return the bound parts, derived once and seen to be what was registered.

        Raises
        ------
        ExperimentStopped
            `source-drift`, naming what has changed.
        """
        return self._derive()

    def _derive(self) -> Assembly:
        assembly, derived = gate.derive(self.project, self.experiment)
        seen = digests.identities(assembly.watched)
        with self.noting_a_stop():
            registration.refuse_drift(self.registration.design, derived)
        self._seen = seen
        return assembly

    def require(self) -> None:
        """Check again that what is bound is what was registered; cheap while no file has changed.

        Raises
        ------
        ExperimentStopped
            `source-drift`, naming what has changed.
        """
        if digests.identities(self.assembly.watched) != self._seen:
            self._derive()

    @contextmanager
    def noting_a_stop(self) -> Iterator[None]:
        """Enter the code of a stop into the journal on its way to the user."""
        try:
            yield
        except ExperimentStopped as stopped:
            self.journal.stop(stopped.code)
            raise

    def require_same(self, *, repeats: int | None, model: str | None, executable: Path | None) -> None:
        """Refuse options of `run_eval` that are not what was registered; None was not given.

        Raises
        ------
        ExperimentStopped
            Naming the option.
        """
        design = self.registration.design
        for flag, given, registered in (
            ("--repeats", repeats, design["repeats"]),
            ("--model", model, design["agent"]["model"]),
        ):
            if given is not None and given != registered:
                raise ExperimentStopped(f"{flag} {given}: {registered} is registered; `doit register --new` changes it")
        if executable is None:
            return
        registered_place = self.local.executable or self.assembly.executable.native
        if executable.resolve() != registered_place.resolve():
            raise ExperimentStopped("--executable: another one is registered; `doit register --new` changes it")

    def require_consent(self) -> None:
        """Refuse to spend unless this is a rehearsal or the command line itself allows it.

        Raises
        ------
        ExperimentStopped
            If consent is missing.
        """
        if not self.registration.rehearsing and not self.consent:
            raise ExperimentStopped(
                f"this experiment calls a real provider: say {CONSENT} on the command line of `doit run_eval` itself;"
                " no setting can stand for it"
            )

    # Places and parts

    @property
    def drop(self) -> bool:
        """Return whether children give up root."""
        return os.geteuid() == 0

    @cached_property
    def agent(self) -> Agent:
        return AGENTS[self.registration.design["agent"]["kind"]]

    @property
    def packages(self) -> Path:
        """Return where the copies lie that the unprivileged user can reach, shared by all experiments."""
        return self.work.root.parent / "packages"

    @cached_property
    def executable(self) -> Executable:
        """Return the agent where the user that its calls run as can reach it."""
        self.make_work_area()
        executable = self.assembly.executable
        return self.agent.adopted(executable, self.packages)

    @cached_property
    def node(self) -> Path:
        """Return the registered Node where the user that calls run as can reach it."""
        node = self.assembly.node
        return sandbox.adopt(node.path, self.packages, node.fingerprint) if self.drop else node.path

    @cached_property
    def backend(self) -> Backend:
        agent = self.registration.design["agent"]
        return Backend(
            rehearsal=self.registration.rehearsing,
            model=agent["model"],
            effort=agent["effort"],
            authentication=self.registration.design["authentication"],
            denied=self._denied(),
        )

    def _denied(self) -> tuple[str, ...]:
        """Return what the agent's own sandbox must not read where there is no outer box."""
        if self.level is Level.SEALED:
            return ()
        places = [self.project.root, self.work.installs, self.work.submissions, self.local.login_home]
        return tuple(str(place) for place in places if place is not None)

    @cached_property
    def runtime(self) -> Runtime:
        """Return the graders' Node with flags that canaries have tried here."""
        self.make_work_area()
        return Runtime.find(self.node, self.executable.bubblewrap, self.work.root)

    @cached_property
    def model(self) -> LoopbackModel:
        """Return the loopback model, which runs from the first call to the end of the session."""
        ledger = os.environ.get(LEDGER)
        return self._exit.enter_context(LoopbackModel(Path(ledger) if ledger else None))

    @cached_property
    def script(self) -> script.Script:
        """Return the registered rehearsal script with the opponents that it may play."""
        return read_script(self.assembly)

    @cached_property
    def login_home(self) -> Path:
        """Return the login home, locked for this evaluator."""
        if self.local.login_home is None:
            raise ExperimentStopped("no login home was registered; register again with --auth-home")
        home = lease.check_login_home(self.local.login_home, os.environ)
        self._exit.callback(lease.lock(home))
        return home

    @property
    def api_key(self) -> str | None:
        """Return the key or token for a call's environment; None where none or a login is registered.

        Raises
        ------
        ExperimentStopped
            If it is registered and not set.
        """
        return secret(self.agent, self.backend.authentication)

    def require_credential(self) -> None:
        """Check that the registered credential is there, before a claim rather than within one.

        Raises
        ------
        ExperimentStopped
            `authentication`, saying what is missing.
        """
        _ = self.api_key
        if self.backend.authentication == "login-home":
            lease.check_login_home(self.login_home, os.environ)

    def require_room(self) -> None:
        """Check that records and a workspace can still be written, so that no trial fails for a full disk.

        Raises
        ------
        ExperimentStopped
            Naming the place that is nearly full.
        """
        self.make_work_area()
        for place, what in ((self.experiment.root, "experiments/ lies"), (self.work.root, "trials run")):
            free = shutil.disk_usage(place).free
            if free < ROOM_BYTES:
                raise ExperimentStopped(
                    f"{free >> 20} MiB are free where {what}: make room for {ROOM_BYTES >> 20} MiB,"
                    " then run `doit run_eval` again"
                )

    def require_graders(self) -> None:
        """Check that submissions can be graded here, so that no call is paid for that nothing can judge.

        Raises
        ------
        ExperimentStopped
            If graders can't be shut in: they run in bubblewrap at every isolation level, and never without.
        """
        if self.runtime.fault is not None:
            raise ExperimentStopped(
                f"graders can't be shut in on this machine ({self.runtime.fault}), and are never run in the open:"
                " see `doit doctor`, mend it, then run `doit run_eval` again"
            )

    def make_work_area(self) -> None:
        """Make the folders outside the project, each passable and no more where children run as another user."""
        work = self.work
        for folder in (work.root.parent, work.root, work.installs, work.calls, work.submissions):
            sandbox.make_work_folder(folder, drop=self.drop)

    def verify_install(self, name: str) -> None:
        """Check that an install is as its inventory says.

        Raises
        ------
        ExperimentStopped
            `environment-drift`, naming what has changed.
        """
        with self.noting_a_stop():
            inventory.verify(self.work.install(name), records.read(self.experiment.inventory(name), "inventory"))

    # Claims and calls

    @property
    def level(self) -> Level:
        """Return the registered isolation level."""
        return Level(self.registration.design["isolation"])

    def place(self, install: str, folder: Path, workspace: Path | None, auth: Path | None) -> AgentPlace:
        """Return where one call runs on an install, at the registered isolation level.

        Parameters
        ----------
        folder
            The call's own folder, in which a call without an outer box finds its copy of the install.
        """
        golden = self.work.install(install)
        if self.level is Level.SEALED or workspace is None:
            return self.agent.sealed(self.executable, golden, workspace=workspace, node=self.node, auth=auth)
        return self.agent.unsealed(
            self.executable, golden, self.backend, call=folder, workspace=workspace, node=self.node
        )

    def can_seal(self, install: str, folder: Path) -> bool:
        """Return whether the agent's own sandbox can start in a box like a trial's, tried just now."""
        box = self.agent.sealed(self.executable, self.work.install(install), workspace=folder, node=self.node)
        return sandbox.preflight(box)

    def installed(self, install: str) -> tuple[str, ...]:
        """Return the ids of the skills of an install."""
        return tuple(self.assembly.profiles[install].skills)

    @contextmanager
    def claim(self, key: str, kind: str, *, installs: Collection[str]) -> Iterator[None]:
        """Claim a scheduled outcome after the last checks; inside, the caller writes its record.

        Raises
        ------
        ExperimentStopped
            If consent, the credential or room is missing, a bound source or an install has drifted, or the claim was
            made before.
        """
        self.lanes.wait_for_turn()
        with self.alone:
            self.lanes.wait_for_turn()
            self.require_consent()
            self.require()
            with self.noting_a_stop():
                self.require_credential()
                self.require_room()
                self.require_graders()
            if kind != CANARY:
                self._require_canaries(installs)
            for install in sorted(installs):
                self.verify_install(install)
            self._derive_shared_parts()
            self.journal.claim(key, kind)
        try:
            yield
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise ExperimentStopped(f"the disk became full during {key}: make room, then run again") from error

    def canaries_passed(self) -> set[str]:
        """Return the installs on which a canary call has passed, in whatever session."""
        claims = self.journal.claims().values()
        return {
            claim.key.split(":")[1] for claim in claims if claim.kind == CANARY and claim.settled and claim.code is None
        }

    def _require_canaries(self, installs: Collection[str]) -> None:
        missing = set() if self.registration.rehearsing else set(installs) - self.canaries_passed()
        if missing:
            raise ExperimentStopped(
                f"no canary call has passed on install {min(missing)}: run `doit run_eval {CONSENT}`, which makes it"
            )

    def _derive_shared_parts(self) -> None:
        """Derive what every call uses before another lane can: a second model would be a second server."""
        _ = self.executable, self.node, self.backend
        if self.registration.rehearsing:
            _ = self.model, self.script

    def settle(self, key: str, code: FailureCode | None, reading: Reading | None) -> None:
        """Settle a claim whose record is written, then stop the run if the code or the row of codes asks for it.

        Raises
        ------
        ExperimentStopped
            After a credential, quota or usage-limit failure, or too many infrastructure codes in a row.
        """
        with self.alone:
            self.journal.settle(key, code)
            self._stop_or_pause(code, reading)

    def _stop_or_pause(self, code: FailureCode | None, reading: Reading | None) -> None:
        if code is FailureCode.AUTHENTICATION:
            self._stop(code, "the provider refused the credential: renew the login or the key")
        if code is FailureCode.ENVIRONMENT_DRIFT:
            self._stop(code, "environment-drift: a call changed its own copy of the install: see docs/isolation.md")
        if reading is not None and reading.stops_run:
            self._stop(code, f"the provider's quota or usage limit is reached: come back {_when(reading)}")
        if reading is not None and reading.retry_after_seconds:
            left = self.journal.seconds_left(self.registration.limits["deadlineSeconds"])
            self.lanes.pause(min(reading.retry_after_seconds, max(0.0, left)))
        allowed = self.registration.limits["stopAfterInfrastructure"]
        if code is not None and self.journal.infrastructure_in_a_row() >= allowed:
            self._stop(
                code, f"{allowed} calls in a row ended in infrastructure codes, the last in {code}: mend the cause"
            )

    def _stop(self, code: FailureCode | None, why: str) -> None:
        if not self.lanes.halt():
            raise Halted
        self.journal.stop(code)
        raise ExperimentStopped(
            f"{why}, then run `doit run_eval` again; nothing is recorded for what has not run"
            " (`doit run_eval --settle` records it)",
            code,
        )


def secret(agent: Agent, authentication: Authentication) -> str | None:
    """Return the key or token that an authentication takes from this process's environment, if it takes one.

    Raises
    ------
    ExperimentStopped
        `authentication`, if it is not set; nothing stands in for it.
    """
    variable = agent.CREDENTIALS.get(authentication)
    if variable is None:
        return None
    found = os.environ.get(variable)
    if not found:
        other = "register with --auth-home" if "login-home" in agent.CREDENTIALS else "register another authentication"
        raise ExperimentStopped(f"{variable} is not set; set it, or {other}", FailureCode.AUTHENTICATION)
    return found


def _when(reading: Reading) -> str:
    if reading.retry_at is not None:
        return f"at {reading.retry_at}"
    return f"in {reading.retry_after_seconds:.0f} s" if reading.retry_after_seconds else "later"


def read_script(assembly: Assembly) -> script.Script:
    """Check the rehearsal script of the settings and read the opponents that it may play."""
    opponents = {case.id: script.opponents_from(assembly.project.opponents, case.id) for case in assembly.corpus.cases}
    return script.parse(
        assembly.settings.value["rehearsal"],
        opponents=opponents,
        probes=[probe.id for probe in assembly.corpus.probes],
        arms=assembly.settings.value["arms"],
    )
