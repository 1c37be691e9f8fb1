"""The proof of a corpus: every grader against right, wrong, generic and hostile submissions.

Must never let a fault pass for want of time, nor write into the record anything but what follows from the contents.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from eval_tasks import corpus, digests, documents, records
from eval_tasks.corpus import Case
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.grading import lints, messages, opponents
from eval_tasks.grading.grader import DEFAULT_LIMITS, Limits, Runtime, Surroundings, Verdict, grade, sources_digest
from eval_tasks.grading.machine import FOLDER
from eval_tasks.grading.opponents import ESCAPED, Opponent
from eval_tasks.grading.syntax import Parser

SCHEMA = "context-eval.proof.v1"
ATTACK_LIMITS = Limits(wall_seconds=2)
MUTANT_LIMITS = Limits(wall_seconds=4)
FLAKE_RUNS = 20
THOROUGH_RUNS_EACH = 50
MUTANTS = 60
"""How many mutants of a case are tried at most, spread evenly over its text."""
PLACES = tuple(
    Surroundings(zone, locale)
    for zone in ("UTC", "Pacific/Kiritimati", "America/St_Johns")
    for locale in ("C.UTF-8", "tr_TR.UTF-8")
)
"""The surroundings in which a reference must pass: far east, a zone with half hours and summer time, dotless i."""

_WAITING = 8
"""How many attacks that only wait run side by side."""
_OWN_SOURCES = ("lints.py", "opponents.py", "proof.py", "survey.cjs", "syntax.cjs", "syntax.py")
_SURVEYED = "surveyed"

Progress = Callable[[int, int, str], None]
"""Told after each grade: how many are done, how many there are, and the id of the case."""


@dataclass(frozen=True)
class Mutants:
    """What became of a reference's mutants."""

    total: int
    killed: int
    excused: int

    @property
    def value(self) -> dict[str, int]:
        """Return it as the record has it."""
        return {"total": self.total, "killed": self.killed, "excused": self.excused}


@dataclass(frozen=True)
class CaseProof:
    """What was proven of one case; nothing in it depends on when or where.

    Parameters
    ----------
    case, opponents
        Digests of the case's files and of all its opponents.
    counts
        How many opponents of each kind there are, and how many checks the reference meets.
    mutants
        None if they were not tried, or there is no parser.
    faults
        What is wrong, one line each; empty if the case is proven.
    """

    id: str
    case: str
    opponents: str
    counts: Mapping[str, int]
    mutants: Mutants | None = None
    faults: tuple[str, ...] = ()

    @property
    def value(self) -> dict[str, Any]:
        """Return it as the record has it."""
        mutants = None if self.mutants is None else self.mutants.value
        return {"id": self.id, "case": self.case, "opponents": self.opponents, **self.counts, "mutants": mutants}


@dataclass(frozen=True)
class Proof:
    """The proof of a whole corpus."""

    corpus: str
    sources: str
    cases: tuple[CaseProof, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Return all faults, each with its case."""
        return tuple(f"{case.id}: {fault}" for case in self.cases for fault in case.faults)

    @property
    def passed(self) -> bool:
        return not self.faults

    @property
    def value(self) -> dict[str, Any]:
        """Return the record: content only, no times."""
        return {
            "schemaVersion": SCHEMA,
            "corpus": self.corpus,
            "sources": self.sources,
            "cases": [case.value for case in self.cases],
        }

    @property
    def digest(self) -> str:
        return digests.of_value(self.value)

    @property
    def summary(self) -> str:
        """Return one line for people."""

        def total(name: str) -> int:
            return sum(case.counts[name] for case in self.cases)

        tried = [case.mutants for case in self.cases if case.mutants is not None]
        killed, mutants = sum(one.killed + one.excused for one in tried), sum(one.total for one in tried)
        parts = [
            *(f"{total(name)} {name}" for name in ("references", "alternatives", "wrong", "generic", "checks")),
            f"mutants {killed}/{mutants}" if tried else "mutants not tried",
            f"attacks {total('attacks')}/0 passed",
            f"{len(self.faults)} faults",
        ]
        return f"{len(self.cases)} cases: {', '.join(parts)}"


def prove(
    corpus_folder: Path,
    opponents_folder: Path,
    runtime: Runtime,
    *,
    jobs: int,
    progress: Progress | None = None,
    thorough: bool = False,
    cache: Path | None = None,
    descriptions: Mapping[str, str] | None = None,
    parser: Parser | None = None,
    previous: Mapping[str, Any] | None = None,
) -> Proof:
    """Prove every case of a corpus that was not proven before with the same contents.

    Parameters
    ----------
    opponents_folder
        Holds `references/`, `alternatives/`, `wrong/`, `attacks/` and, for mutants that change nothing, `mutants/`.
    jobs
        How many grades run at once; attacks that only wait run beside them.
    progress
        Called in this thread.
    thorough
        Besides, try mutants, ask of each check whether a wrong solution needs it, and screen longer for flakes.
    cache
        Folder with what was proven before; only cases without a fault are kept there.
    descriptions
        Each skill's description by its id, for the lint of prompts.
    parser
        Needed for mutants and for the lint of drivers that compare.
    previous
        The last record, from which the mutants of unchanged cases are taken over where none are tried.

    Raises
    ------
    ExperimentStopped
        If the corpus or the opponents are malformed, or nothing can be graded on this machine.
    """
    if runtime.fault is not None:
        raise ExperimentStopped(f"the corpus can't be proven here: {runtime.fault}")
    loaded = corpus.load(corpus_folder)
    plans = [_plan(case, opponents_folder) for case in loaded.cases]
    store = _Store(cache, runtime, thorough)
    known = {plan.case.id: store.get(plan) for plan in plans}
    trial = _Trial(runtime, jobs, thorough, parser, dict(descriptions or {}), progress)
    fresh = trial.prove([plan for plan in plans if known[plan.case.id] is None], store)
    before = {value["id"]: value for value in (previous or {}).get("cases", [])}
    cases = [_with_mutants_of(known[plan.case.id] or fresh[plan.case.id], before) for plan in plans]
    return Proof(loaded.digest, _sources(), tuple(cases))


def is_current(value: Mapping[str, Any], corpus_folder: Path, opponents_folder: Path) -> bool:
    """Return whether a record proves exactly these contents, without grading anything."""
    loaded = corpus.load(corpus_folder)
    proven = {case["id"]: (case["case"], case["opponents"]) for case in value["cases"]}
    present = {case.id: (case.digest, _plan(case, opponents_folder).digest) for case in loaded.cases}
    return bool(value["corpus"] == loaded.digest and value["sources"] == _sources() and proven == present)


def _sources() -> str:
    return digests.of_value([sources_digest(), digests.of_files(FOLDER, _OWN_SOURCES)])


def _with_mutants_of(proven: CaseProof, before: Mapping[str, Mapping[str, Any]]) -> CaseProof:
    old = before.get(proven.id)
    unchanged = old is not None and (old["case"], old["opponents"]) == (proven.case, proven.opponents)
    if proven.mutants is not None or old is None or not unchanged or old["mutants"] is None:
        return proven
    return CaseProof(proven.id, proven.case, proven.opponents, proven.counts, Mutants(**old["mutants"]), proven.faults)


# One case's opponents


@dataclass(frozen=True)
class _Plan:
    """A case and everything that is tried on its grader."""

    case: Case
    opponents: tuple[Opponent, ...]
    excused: Mapping[str, str] = field(repr=False)
    """Why a surviving mutant changes nothing, by its name."""

    @property
    def reference(self) -> Opponent:
        return next(opponent for opponent in self.opponents if opponent.kind == "reference")

    @property
    def digest(self) -> str:
        return digests.of_value([[opponent.digest for opponent in self.opponents], dict(self.excused)])

    def of(self, kind: str) -> list[Opponent]:
        return [opponent for opponent in self.opponents if opponent.kind == kind]

    def counts(self, checks: int) -> dict[str, int]:
        kinds = {"references": "reference", "alternatives": "alternative", "wrong": "wrong", "generic": "generic"}
        counted = {name: len(self.of(kind)) for name, kind in {**kinds, "attacks": "attack"}.items()}
        return {**counted, "checks": checks}


def _plan(case: Case, folder: Path) -> _Plan:
    stated = opponents.stated(case.id, case.workspace, folder)
    reference = stated[1].files
    generic = opponents.generic(case.workspace, reference, folder / "attacks")
    attacks = opponents.attacks(case.workspace, reference, folder / "attacks")
    return _Plan(case, (*stated, *generic, *attacks), _excused(folder / "mutants" / f"{case.id}.yaml", case.id))


def _excused(path: Path, case_id: str) -> dict[str, str]:
    if not path.exists():
        return {}
    value = documents.read(path, f"mutants/{case_id}.yaml").value
    if not isinstance(value, dict) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise ExperimentStopped(f"mutants/{case_id}.yaml: must give a reason by each mutant's name")
    return value


# What is kept between runs


class _Store:
    """Proven cases on disk, by a digest of everything that could change how they fare."""

    def __init__(self, folder: Path | None, runtime: Runtime, thorough: bool) -> None:
        self._folder = folder
        self._runtime = runtime.digest
        self._thorough = thorough

    def get(self, plan: _Plan) -> CaseProof | None:
        if self._folder is None:
            return None
        for thorough in {True, self._thorough}:
            path = self._path(plan, thorough)
            if path.is_file():
                value = records.parse(path.read_bytes(), path.name)
                mutants = None if value["mutants"] is None else Mutants(**value["mutants"])
                return CaseProof(value["id"], value["case"], value["opponents"], value["counts"], mutants)
        return None

    def put(self, plan: _Plan, proven: CaseProof) -> None:
        if self._folder is not None and not proven.faults:
            value = {**proven.value, "counts": dict(proven.counts)}
            records.write_bytes(self._path(plan, self._thorough), records.canonical(value))

    def _path(self, plan: _Plan, thorough: bool) -> Path:
        key = digests.of_value([plan.case.digest, plan.digest, self._runtime, _sources(), thorough])
        if self._folder is None:
            raise ValueError("there is no cache")
        return self._folder / f"{plan.case.id}.{digests.short(key)}.json"


# The grades


class _Purpose(StrEnum):
    VERDICT = "verdict"
    FLAKE = "flake"
    SURVEY = "survey"
    MUTANT = "mutant"


@dataclass(frozen=True)
class _Grade:
    """One grade to make."""

    plan: _Plan
    opponent: Opponent
    purpose: _Purpose
    limits: Limits = DEFAULT_LIMITS
    surroundings: Surroundings = PLACES[0]

    def make(self, runtime: Runtime) -> Verdict:
        with tempfile.TemporaryDirectory(prefix="p") as folder:
            opponents.lay(self.opponent, Path(folder, "s"), Path(folder, "o"))
            grader = self._grader(Path(folder))
            submission = Path(folder, "s")
            verdict = grade(submission, grader, runtime, limits=self.limits, surroundings=self.surroundings)
            if verdict.failure is FailureCode.GRADING_FAILED and self.limits is not DEFAULT_LIMITS:
                # A short limit on a busy machine; the verdict must stand with the usual one.
                return grade(submission, grader, runtime, surroundings=self.surroundings)
            return verdict

    def _grader(self, folder: Path) -> Path:
        if self.purpose is not _Purpose.SURVEY:
            return self.plan.case.grader
        surveying = folder / "grader.cjs"
        surveying.write_bytes(self.plan.case.grader.read_bytes() + (FOLDER / "survey.cjs").read_bytes())
        return surveying


Outcome = tuple[_Grade, Verdict]


@dataclass
class _Trial:
    """Everything that stays the same while cases are proven."""

    runtime: Runtime
    jobs: int
    thorough: bool
    parser: Parser | None
    descriptions: Mapping[str, str]
    progress: Progress | None

    def prove(self, plans: Sequence[_Plan], store: _Store) -> dict[str, CaseProof]:
        """Make all grades, and prove each case as soon as its last grade is in."""
        work = {plan.case.id: list(self._grades(plan)) for plan in plans}
        total = sum(map(len, work.values()))
        outcomes: dict[str, list[Outcome]] = defaultdict(list)
        proven: dict[str, CaseProof] = {}
        with _pools(self.jobs) as submit:
            waiting = {submit(one, self.runtime): one for grades in work.values() for one in grades}
            for done, future in enumerate(as_completed(waiting), 1):
                one = waiting[future]
                case_id = one.plan.case.id
                outcomes[case_id].append((one, future.result()))
                if len(outcomes[case_id]) == len(work[case_id]):
                    proven[case_id] = self._conclude(one.plan, outcomes.pop(case_id))
                    store.put(one.plan, proven[case_id])
                if self.progress is not None:
                    self.progress(done, total, case_id)
        return proven

    def _grades(self, plan: _Plan) -> Iterator[_Grade]:
        for opponent in plan.opponents:
            yield _Grade(plan, opponent, _Purpose.VERDICT, ATTACK_LIMITS if opponent.waits else DEFAULT_LIMITS)
        runs = THOROUGH_RUNS_EACH * len(PLACES) if self.thorough else FLAKE_RUNS
        for run in range(runs):
            yield _Grade(plan, plan.reference, _Purpose.FLAKE, surroundings=PLACES[run % len(PLACES)])
        if self.thorough:
            yield from (_Grade(plan, opponent, _Purpose.SURVEY) for opponent in plan.of("wrong"))
            yield from (_Grade(plan, mutant, _Purpose.MUTANT, MUTANT_LIMITS) for mutant in self._mutants(plan))

    def _mutants(self, plan: _Plan) -> list[Opponent]:
        if self.parser is None:
            return []
        made = []
        for path, content in plan.reference.files.items():
            if path.endswith(opponents.CODE) and content != plan.case.workspace.get(path):
                text = content.decode("utf-8")
                for mutant in self.parser.mutants(text):
                    files = {**plan.reference.files, path: mutant.applied(text).encode("utf-8")}
                    made.append(Opponent("mutant", mutant.named(path, text), files))
        step = max(1.0, len(made) / MUTANTS)
        return [made[int(index * step)] for index in range(min(MUTANTS, len(made)))]

    def _conclude(self, plan: _Plan, outcomes: list[Outcome]) -> CaseProof:
        reference = next(verdict for one, verdict in outcomes if one.opponent is plan.reference)
        faults = [
            *self._lints(plan, reference),
            *_faults(outcomes),
            *_flakes(_of(outcomes, _Purpose.FLAKE)),
            *(_idle_checks(reference, outcomes) if self.thorough else []),
        ]
        tried = _of(outcomes, _Purpose.MUTANT)
        survived = [one.opponent.name for one, verdict in tried if verdict.passed]
        faults += [f"the mutant {name} passes" for name in survived if name not in plan.excused]
        excused = sum(name in plan.excused for name in survived)
        mutants = Mutants(len(tried), len(tried) - len(survived), excused) if self.thorough and self.parser else None
        counts = plan.counts(reference.checks)
        return CaseProof(plan.case.id, plan.case.digest, plan.digest, counts, mutants, tuple(sorted(faults)))

    def _lints(self, plan: _Plan, reference: Verdict) -> list[str]:
        case = plan.case
        description = self.descriptions.get(case.skill) if case.skill is not None else None
        stated = {opponent.name: messages.plain(opponent.label or "") for opponent in plan.of("wrong")}
        comparing = [] if self.parser is None else self.parser.comparing(sorted(reference.drivers))
        return [
            *lints.of_prompt(case.prompt, case.skill, description),
            *lints.of_labels(reference.labels, stated),
            *lints.of_drivers(reference.drivers, comparing),
            *lints.of_numbers(len(plan.of("alternative")), len(plan.of("wrong"))),
        ]


class _pools:  # noqa: N801 - used as a function
    """Two pools of threads: one that keeps the processors busy, one for what only waits."""

    def __init__(self, jobs: int) -> None:
        self._busy = ThreadPoolExecutor(max(1, jobs))
        self._waiting = ThreadPoolExecutor(_WAITING)

    def __enter__(self) -> Callable[[_Grade, Runtime], Future[Verdict]]:
        return self._submit

    def _submit(self, one: _Grade, runtime: Runtime) -> Future[Verdict]:
        pool = self._waiting if one.opponent.waits else self._busy
        return pool.submit(one.make, runtime)

    def __exit__(self, *_: object) -> None:
        for pool in (self._busy, self._waiting):
            pool.shutdown(wait=True, cancel_futures=True)


# What the grades say


def _of(outcomes: list[Outcome], purpose: _Purpose) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome[0].purpose is purpose]


def _faults(outcomes: list[Outcome]) -> list[str]:
    found = []
    for one, verdict in _of(outcomes, _Purpose.VERDICT):
        fault = fault_of(one.opponent, verdict)
        if fault is not None:
            found.append(f"{one.opponent.kind}/{one.opponent.name} {fault}")
    return found


def fault_of(opponent: Opponent, verdict: Verdict) -> str | None:
    """Return what is wrong with a verdict on an opponent, or None."""
    if opponent.must_pass:
        return None if verdict.passed else f"must pass and fails: {verdict.reason}"
    if verdict.passed:
        return "passes"
    if ESCAPED in verdict.detail:
        return "could do what it must not"
    if verdict.failure is not opponent.code:
        return f"must get {opponent.code} and gets {verdict.failure}: {verdict.reason}"
    if opponent.label is not None and verdict.reason != messages.plain(opponent.label):
        return f"must fail at {opponent.label!r} and fails at {verdict.reason!r}"
    return None


def _flakes(outcomes: list[Outcome]) -> list[str]:
    failed = {
        f"the reference fails in {one.surroundings.time_zone}, {one.surroundings.locale}: {verdict.reason}"
        for one, verdict in outcomes
        if not verdict.passed
    }
    return sorted(failed)


def _idle_checks(reference: Verdict, outcomes: list[Outcome]) -> list[str]:
    """Return the checks without which no wrong solution would pass, so that nothing shows what they are for."""
    alone = set()
    for _, verdict in _of(outcomes, _Purpose.SURVEY):
        failed = set(verdict.labels) - {_SURVEYED}
        if verdict.passed and len(failed) == 1:
            alone |= failed
    return [
        f"no wrong solution needs the check {label!r}"
        for label in dict.fromkeys(reference.labels)
        if label not in alone
    ]


def default_jobs() -> int:
    """Return how many grades keep this machine's processors busy: one has two processes that take turns."""
    return len(os.sched_getaffinity(0)) + 1
