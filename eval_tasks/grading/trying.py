"""What is tried on one case's grader, and what is to be said about the case once all grades are in.

Must never call a case proven while one grade of it is missing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from eval_tasks import digests, documents
from eval_tasks.corpus import Case
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.grading import lints, messages, opponents
from eval_tasks.grading.grader import DEFAULT_LIMITS, Limits, Runtime, Surroundings, Verdict, grade
from eval_tasks.grading.machine import FOLDER
from eval_tasks.grading.opponents import ESCAPED, Opponent
from eval_tasks.grading.syntax import Parser

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
"""The surroundings in which a reference must pass: far east, half hours with summer time, a dotless i."""

_SURVEYED = "surveyed"


# A case and its opponents


@dataclass(frozen=True)
class Plan:
    """A case and everything that is tried on its grader.

    Parameters
    ----------
    excused
        Why a surviving mutant changes nothing, by the mutant's name.
    """

    case: Case
    opponents: tuple[Opponent, ...] = field(repr=False)
    excused: Mapping[str, str] = field(repr=False)

    @property
    def reference(self) -> Opponent:
        return self.of("reference")[0]

    @property
    def digest(self) -> str:
        """Return the digest of all opponents and excuses."""
        return digests.of_value([[opponent.digest for opponent in self.opponents], dict(self.excused)])

    def of(self, kind: str) -> list[Opponent]:
        """Return the opponents of one kind."""
        return [opponent for opponent in self.opponents if opponent.kind == kind]

    def counts(self) -> dict[str, int]:
        """Return how many opponents of each kind there are."""
        kinds = {"references": "reference", "alternatives": "alternative", "wrong": "wrong", "generic": "generic"}
        return {name: len(self.of(kind)) for name, kind in {**kinds, "attacks": "attack"}.items()}


def plan_of(case: Case, folder: Path) -> Plan:
    """Return the plan of a case from the opponents' folder.

    Raises
    ------
    ExperimentStopped
        If an opponent is missing or malformed.
    """
    stated = opponents.stated(case.id, case.workspace, folder)
    reference = stated[1].files
    generic = opponents.generic(case.workspace, reference, folder / "attacks")
    attacks = opponents.attacks(case.workspace, reference, folder / "attacks")
    return Plan(case, (*stated, *generic, *attacks), _excused(folder / "mutants" / f"{case.id}.yaml"))


def _excused(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    value = documents.read(path, f"mutants/{path.name}").value
    if not isinstance(value, dict) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise ExperimentStopped(f"mutants/{path.name}: must give a reason by each mutant's name")
    return value


# The grades


class Purpose(StrEnum):
    """What a grade is made for."""

    VERDICT = "verdict"
    FLAKE = "flake"
    SURVEY = "survey"
    MUTANT = "mutant"


@dataclass(frozen=True)
class Grade:
    """One grade to make."""

    plan: Plan
    opponent: Opponent
    purpose: Purpose
    limits: Limits = DEFAULT_LIMITS
    surroundings: Surroundings = PLACES[0]

    def make(self, runtime: Runtime) -> Verdict:
        """Lay the opponent out and grade it."""
        with tempfile.TemporaryDirectory(prefix="p") as name:
            folder = Path(name)
            opponents.lay(self.opponent, folder / "s", folder / "o")
            grader = self._grader(folder)
            verdict = grade(folder / "s", grader, runtime, limits=self.limits, surroundings=self.surroundings)
            if verdict.failure is FailureCode.GRADING_FAILED and self.limits is not DEFAULT_LIMITS:
                # A short limit on a busy machine; the verdict must stand with the usual one.
                return grade(folder / "s", grader, runtime, surroundings=self.surroundings)
            return verdict

    def _grader(self, folder: Path) -> Path:
        if self.purpose is not Purpose.SURVEY:
            return self.plan.case.grader
        surveying = folder / "grader.cjs"
        surveying.write_bytes(self.plan.case.grader.read_bytes() + (FOLDER / "survey.cjs").read_bytes())
        return surveying


Outcome = tuple[Grade, Verdict]


def grades_of(plan: Plan, parser: Parser | None, *, thorough: bool) -> Iterator[Grade]:
    """Yield all grades of a case; mutants need a parser."""
    for opponent in plan.opponents:
        yield Grade(plan, opponent, Purpose.VERDICT, ATTACK_LIMITS if opponent.waits else DEFAULT_LIMITS)
    runs = THOROUGH_RUNS_EACH * len(PLACES) if thorough else FLAKE_RUNS
    for run in range(runs):
        yield Grade(plan, plan.reference, Purpose.FLAKE, surroundings=PLACES[run % len(PLACES)])
    if thorough:
        yield from (Grade(plan, opponent, Purpose.SURVEY) for opponent in plan.of("wrong"))
        yield from (Grade(plan, mutant, Purpose.MUTANT, MUTANT_LIMITS) for mutant in _mutants(plan, parser))


def _mutants(plan: Plan, parser: Parser | None) -> list[Opponent]:
    """Return mutants of what the reference changed, as submissions."""
    if parser is None:
        return []
    made = []
    for path, content in plan.reference.files.items():
        if path.endswith(opponents.CODE) and content != plan.case.workspace.get(path):
            text = content.decode("utf-8")
            for mutant in parser.mutants(text):
                files = {**plan.reference.files, path: mutant.applied(text).encode("utf-8")}
                made.append(Opponent("mutant", mutant.named(path, text), files))
    step = max(1.0, len(made) / MUTANTS)
    return [made[int(index * step)] for index in range(min(MUTANTS, len(made)))]


# What the grades say


@dataclass(frozen=True)
class Mutants:
    """What became of a reference's mutants; an excused one survives because it changes nothing."""

    total: int
    killed: int
    excused: int


@dataclass(frozen=True)
class Findings:
    """What was found of one case: how many checks the reference meets, the mutants if tried, and all faults."""

    checks: int
    mutants: Mutants | None
    faults: tuple[str, ...]


def conclude(
    plan: Plan, outcomes: list[Outcome], parser: Parser | None, description: str | None, *, thorough: bool
) -> Findings:
    """Return the findings of a case from all its grades.

    Parameters
    ----------
    description
        What the case's skill says of itself, for the lint of the prompt.
    """
    reference = next(
        verdict for one, verdict in outcomes if one.purpose is Purpose.VERDICT and one.opponent is plan.reference
    )
    mutants, survivors = _mutants_found(plan, _of(outcomes, Purpose.MUTANT))
    faults = [
        *_lints(plan, reference, parser, description),
        *_faults(_of(outcomes, Purpose.VERDICT)),
        *_flakes(_of(outcomes, Purpose.FLAKE)),
        *(_idle_checks(reference, _of(outcomes, Purpose.SURVEY)) if thorough else []),
        *survivors,
    ]
    tried = thorough and parser is not None
    return Findings(reference.checks, mutants if tried else None, tuple(sorted(faults)))


def _of(outcomes: list[Outcome], purpose: Purpose) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome[0].purpose is purpose]


def _lints(plan: Plan, reference: Verdict, parser: Parser | None, description: str | None) -> list[str]:
    stated = {opponent.name: messages.plain(opponent.label or "") for opponent in plan.of("wrong")}
    comparing = [] if parser is None else parser.comparing(sorted(reference.drivers))
    return [
        *lints.of_prompt(plan.case.prompt, plan.case.skill, description),
        *lints.of_labels(reference.labels, stated),
        *lints.of_drivers(reference.drivers, comparing),
        *lints.of_numbers(len(plan.of("alternative")), len(plan.of("wrong"))),
    ]


def _faults(outcomes: list[Outcome]) -> list[str]:
    judged = [(one.opponent, fault_of(one.opponent, verdict)) for one, verdict in outcomes]
    return [f"{opponent.kind}/{opponent.name} {fault}" for opponent, fault in judged if fault is not None]


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


def _idle_checks(reference: Verdict, surveys: list[Outcome]) -> list[str]:
    """Return the checks without which no wrong solution would pass, so that nothing shows what they are for."""
    alone = set()
    for _, verdict in surveys:
        failed = set(verdict.labels) - {_SURVEYED}
        if verdict.passed and len(failed) == 1:
            alone |= failed
    labels = dict.fromkeys(reference.labels)
    return [f"no wrong solution needs the check {label!r}" for label in labels if label not in alone]


def _mutants_found(plan: Plan, outcomes: list[Outcome]) -> tuple[Mutants, list[str]]:
    survived = [one.opponent.name for one, verdict in outcomes if verdict.passed]
    excused = sum(name in plan.excused for name in survived)
    mutants = Mutants(len(outcomes), len(outcomes) - len(survived), excused)
    return mutants, [f"the mutant {name} passes" for name in survived if name not in plan.excused]
