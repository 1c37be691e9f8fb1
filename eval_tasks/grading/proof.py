"""The proof of a corpus: every grader against right, wrong, generic and hostile submissions.

Must never let a fault pass for want of time, nor write into the record anything but what follows from the contents.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from eval_tasks import corpus, digests, records
from eval_tasks.errors import ExperimentStopped
from eval_tasks.grading import trying
from eval_tasks.grading.grader import Runtime, Verdict, sources_digest
from eval_tasks.grading.machine import FOLDER
from eval_tasks.grading.syntax import Parser
from eval_tasks.grading.trying import Grade, Mutants, Outcome, Plan

SCHEMA_VERSION = "context-eval.proof.v1"
COUNTS = ("references", "alternatives", "wrong", "generic", "attacks", "checks")

_WAITING = 8
"""How many attacks that only wait run side by side."""
_OWN_SOURCES = ("lints.py", "opponents.py", "proof.py", "survey.cjs", "syntax.cjs", "syntax.py", "trying.py")

Progress = Callable[[int, int, str], None]
"""Told after each grade: how many are done, how many there are, and the id of the case."""


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
        None if they were not tried.
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
        mutants = None if self.mutants is None else asdict(self.mutants)
        return {"id": self.id, "case": self.case, "opponents": self.opponents, **self.counts, "mutants": mutants}

    @classmethod
    def of_value(cls, value: Mapping[str, Any]) -> CaseProof:
        """Return what a record has of a case."""
        mutants = None if value["mutants"] is None else Mutants(**value["mutants"])
        return cls(value["id"], value["case"], value["opponents"], {name: value[name] for name in COUNTS}, mutants)


@dataclass(frozen=True)
class Proof:
    """The proof of a whole corpus.

    Parameters
    ----------
    corpus, sources
        Digests of the corpus, and of all sources that can decide a verdict or a fault.
    """

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
        """Return the record: content only, no times, the same on every machine."""
        cases = [case.value for case in self.cases]
        return {"schemaVersion": SCHEMA_VERSION, "corpus": self.corpus, "sources": self.sources, "cases": cases}

    @property
    def digest(self) -> str:
        return digests.of_value(self.value)

    @property
    def summary(self) -> str:
        """Return one line for people."""
        totals = {name: sum(case.counts[name] for case in self.cases) for name in COUNTS}
        tried = [case.mutants for case in self.cases if case.mutants is not None]
        killed, total = sum(one.killed + one.excused for one in tried), sum(one.total for one in tried)
        attacks = totals.pop("attacks")
        parts = [f"{count} {name}" for name, count in totals.items()]
        parts.append(f"mutants {killed}/{total} killed or excused" if tried else "mutants not tried")
        parts += [f"attacks {attacks} tried", f"{len(self.faults)} faults"]
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
    if runtime.machine.bubblewrap is None:
        # One of the attacks kills whatever it can name.
        raise ExperimentStopped(
            "the corpus can't be proven without bubblewrap, or its attacks would reach this machine"
        )
    loaded = corpus.load(corpus_folder)
    plans = [trying.plan_of(case, opponents_folder) for case in loaded.cases]
    bench = _Bench(runtime, jobs, thorough, parser, descriptions or {}, progress, _Store(cache, runtime, thorough))
    proven = bench.prove(plans)
    before = {value["id"]: CaseProof.of_value(value) for value in (previous or {}).get("cases", [])}
    cases = tuple(_with_mutants_of(proven[plan.case.id], before.get(plan.case.id)) for plan in plans)
    return Proof(loaded.digest, _sources(), cases)


def is_current(value: Mapping[str, Any], corpus_folder: Path, opponents_folder: Path) -> bool:
    """Return whether a record proves exactly these contents, without grading anything."""
    loaded = corpus.load(corpus_folder)
    proven = {case["id"]: (case["case"], case["opponents"]) for case in value["cases"]}
    present = {case.id: (case.digest, trying.plan_of(case, opponents_folder).digest) for case in loaded.cases}
    return bool(value["corpus"] == loaded.digest and value["sources"] == _sources() and proven == present)


def default_jobs() -> int:
    """Return how many grades keep this machine's processors busy: each has two processes that take turns."""
    return len(os.sched_getaffinity(0)) + 1


def _sources() -> str:
    return digests.of_value([sources_digest(), digests.of_files(FOLDER, _OWN_SOURCES)])


def _with_mutants_of(proven: CaseProof, before: CaseProof | None) -> CaseProof:
    if proven.mutants is not None or before is None or before.mutants is None:
        return proven
    unchanged = (before.case, before.opponents) == (proven.case, proven.opponents)
    return replace(proven, mutants=before.mutants) if unchanged else proven


class _Store:
    """Proven cases on disk, by a digest of everything that could change how they fare."""

    def __init__(self, folder: Path | None, runtime: Runtime, thorough: bool) -> None:
        self._folder = folder
        self._machine = [runtime.digest, _sources()]
        self._thorough = thorough

    def get(self, plan: Plan) -> CaseProof | None:
        if self._folder is None:
            return None
        # What was proven thoroughly is proven.
        paths = [self._path(self._folder, plan, thorough) for thorough in {True, self._thorough}]
        found = next((path for path in paths if path.is_file()), None)
        return None if found is None else CaseProof.of_value(records.parse(found.read_bytes(), found.name))

    def put(self, plan: Plan, proven: CaseProof) -> None:
        if self._folder is not None and not proven.faults:
            records.write_bytes(self._path(self._folder, plan, self._thorough), records.canonical(proven.value))

    def _path(self, folder: Path, plan: Plan, thorough: bool) -> Path:
        key = digests.of_value([plan.case.digest, plan.digest, self._machine, thorough])
        return folder / f"{plan.case.id}.{digests.short(key)}.json"


@dataclass(frozen=True)
class _Bench:
    """What stays the same while cases are proven."""

    runtime: Runtime
    jobs: int
    thorough: bool
    parser: Parser | None
    descriptions: Mapping[str, str]
    progress: Progress | None
    store: _Store

    def prove(self, plans: Sequence[Plan]) -> dict[str, CaseProof]:
        """Return every case's proof; each new one is kept as soon as its last grade is in."""
        proven = {plan.case.id: kept for plan in plans if (kept := self.store.get(plan)) is not None}
        work = {
            plan.case.id: list(trying.grades_of(plan, self.parser, thorough=self.thorough))
            for plan in plans
            if plan.case.id not in proven
        }
        outcomes: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in self._outcomes([one for grades in work.values() for one in grades]):
            plan = outcome[0].plan
            outcomes[plan.case.id].append(outcome)
            if len(outcomes[plan.case.id]) == len(work[plan.case.id]):
                proven[plan.case.id] = self._conclude(plan, outcomes.pop(plan.case.id))
                self.store.put(plan, proven[plan.case.id])
        return proven

    def _outcomes(self, grades: Sequence[Grade]) -> Iterator[Outcome]:
        with _pools(self.jobs) as submit:
            waiting = {submit(one, self.runtime): one for one in grades}
            for done, future in enumerate(as_completed(waiting), 1):
                one = waiting.pop(future)
                if self.progress is not None:
                    self.progress(done, len(grades), one.plan.case.id)
                yield one, future.result()

    def _conclude(self, plan: Plan, outcomes: list[Outcome]) -> CaseProof:
        skill = plan.case.skill
        description = None if skill is None else self.descriptions.get(skill)
        found = trying.conclude(plan, outcomes, self.parser, description, thorough=self.thorough)
        counts = {**plan.counts(), "checks": found.checks}
        return CaseProof(plan.case.id, plan.case.digest, plan.digest, counts, found.mutants, found.faults)


@contextmanager
def _pools(jobs: int) -> Iterator[Callable[[Grade, Runtime], Future[Verdict]]]:
    """Give two pools of threads: one that keeps the processors busy, one for what only waits."""
    busy, waiting = ThreadPoolExecutor(max(1, jobs)), ThreadPoolExecutor(_WAITING)
    try:
        yield lambda one, runtime: (waiting if one.opponent.waits else busy).submit(one.make, runtime)
    finally:
        for pool in (busy, waiting):
            pool.shutdown(wait=True, cancel_futures=True)
