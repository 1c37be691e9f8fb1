"""`doit verify`: derive again, offline, every digest, record, count and number of a finished experiment.

Must never repair anything. It finds accidents, not an owner who rewrites everything alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from eval_tasks import digests, records, registration
from eval_tasks.arms import PINNED
from eval_tasks.errors import ExperimentStopped
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.registration import Registration
from eval_tasks.stages import completion, gate, publish
from eval_tasks.stages import report as stage_report
from eval_tasks.stages.session import CANARY


class Verdict(StrEnum):
    """What became of one check."""

    MATCHES = "matches"
    DIFFERS = "differs"
    UNKNOWN = "cannot be checked"


@dataclass(frozen=True)
class Line:
    """One check, its verdict, and why if it does not match."""

    what: str
    verdict: Verdict
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verdict:<17} {self.what}{': ' + self.why if self.why else ''}"


def verify(project: Project) -> list[Line]:
    """Return one line a check of the current experiment.

    Raises
    ------
    ExperimentStopped
        If nothing is registered, or the registration itself is damaged.
    """
    experiment = registration.require_current(project)
    found = registration.read(experiment)
    return [
        Line("registration.json is what the experiment's id says", Verdict.MATCHES),
        *_bound(project, experiment, found),
        *_records(experiment, found),
        *_journal(experiment, found),
        *_inventories(experiment, found),
        *_numbers(project, experiment, found),
        Line(
            "submissions", Verdict.UNKNOWN, "each is removed once its grade is final; its digest stays in two records"
        ),
    ]


def _compare(what: str, wanted: object, got: object, why: str = "") -> Line:
    return Line(what, Verdict.MATCHES) if wanted == got else Line(what, Verdict.DIFFERS, why)


def _bound(project: Project, experiment: Experiment, found: Registration) -> Iterator[Line]:
    """Compare what is bound with what is here now; it may have moved on for good reasons."""
    try:
        _, design = gate.derive(project, experiment)
    except ExperimentStopped as stopped:
        yield Line("what the registration binds", Verdict.UNKNOWN, str(stopped))
        return
    changed = registration.changes(found.design, design)
    yield _compare("what the registration binds", [], changed, "; ".join(changed[:3]))


def _records(experiment: Experiment, found: Registration) -> Iterator[Line]:
    scheduled = completion.scheduled_records(experiment, found)
    missing = [path for path in scheduled if not path.is_file()]
    yield _compare("every scheduled outcome has its record", [], missing, f"{len(missing)} are missing")
    present = [path for path in scheduled if path.is_file()]
    broken = [f"{path.parent.name}/{path.name}" for path in present if not _is_ours(path, found)]
    yield _compare("records fit their schemas and this registration", [], broken, ", ".join(broken[:3]))
    strange = sorted(set(_record_files(experiment)) - set(present))
    yield _compare(
        "there is no record that was not scheduled", [], strange, ", ".join(path.name for path in strange[:3])
    )
    if not experiment.manifest.is_file():
        yield Line("records are as the manifest says", Verdict.UNKNOWN, "there is none yet; run `doit report`")
        return
    listed = records.read(experiment.manifest, "manifest")["records"]
    now = {f"{path.parent.name}/{path.name}": digests.of_file(path) for path in present}
    changed = sorted(name for name in {*listed, *now} if listed.get(name) != now.get(name))
    yield _compare("records are as the manifest says", [], changed, ", ".join(changed[:3]))
    yield from _grades(experiment, found)


def _record_files(experiment: Experiment) -> list[Path]:
    return [path for folder in ("arm-runs", "grades", "probes") for path in (experiment.root / folder).glob("*.json")]


_SCHEMAS = {"arm-runs": "arm-run", "grades": "grade", "probes": "probe"}


def _is_ours(path: Path, found: Registration) -> bool:
    try:
        return bool(records.read(path, _SCHEMAS[path.parent.name])["registration"] == found.digest)
    except ExperimentStopped:
        return False


def _grades(experiment: Experiment, found: Registration) -> Iterator[Line]:
    graders = {case["id"]: case["graderDigest"] for case in found.design["corpus"]["cases"]}
    wrong = []
    for trial in found.trials:
        if not experiment.grade(trial.name).is_file():
            continue
        grade = records.read(experiment.grade(trial.name), "grade")
        arm_run = records.read(experiment.arm_run(trial.name), "arm-run")
        if grade["graderDigest"] != graders[trial.case_id] or grade["submissionDigest"] != arm_run["submissionDigest"]:
            wrong.append(trial.name)
    yield _compare("each grade is of its submission by the registered grader", [], wrong, ", ".join(wrong[:3]))


def _journal(experiment: Experiment, found: Registration) -> Iterator[Line]:
    with Journal(experiment.journal, found.digest) as journal:
        claims, totals = journal.claims(), journal.totals()
        outcomes = [key for key, claim in claims.items() if claim.kind != CANARY]
        called = {call.call_id for key in outcomes for call in journal.calls_of(key)}
    values = {path: records.read(path, _SCHEMAS[path.parent.name]) for path in _record_files(experiment)}
    runs = {_key(path): value for path, value in values.items() if path.parent.name != "grades"}
    unsettled = sorted(key for key, claim in claims.items() if not claim.settled)
    yield _compare("every claim is settled", [], unsettled, ", ".join(unsettled[:3]))
    unequal = sorted(key for key, claim in claims.items() if key in runs and claim.code != runs[key]["failure"])
    yield _compare("claims and records give the same codes", [], unequal, ", ".join(unequal[:3]))
    recorded = {call["callId"] for value in runs.values() for call in value["calls"]}
    apart = len(called ^ recorded)
    yield _compare("every call of an outcome is in a record", 0, apart, f"{apart} calls are only in one of the two")
    within = totals.calls <= found.limits["calls"]
    yield _compare("the budget of calls was kept", True, within, f"{totals.calls} of {found.limits['calls']}")


def _key(path: Path) -> str:
    return f"probe:{path.stem}" if path.parent.name == "probes" else path.stem


def _inventories(experiment: Experiment, found: Registration) -> Iterator[Line]:
    for name, profile in sorted(found.design["profiles"].items()):
        path = experiment.inventory(name)
        if not path.is_file():
            yield Line(f"inventory of {name}", Verdict.UNKNOWN, "no trial has needed this install")
            continue
        value = records.read(path, "inventory")
        sound = value["digest"] == digests.of_entries(value["files"]) and value["registration"] == found.digest
        yield _compare(f"inventory of {name} is whole", True, sound, "its digest is not that of its files")
        wrong = _other_skills(value, profile["skills"], _bound_skills(found, name))
        yield _compare(f"inventory of {name} holds the bound skills", [], wrong, ", ".join(wrong[:3]))


def _bound_skills(found: Registration, install: str) -> Mapping[str, str]:
    """Return the digests of the skills of the library that an install was built from."""
    source = found.design["pinned"] if install == PINNED else found.design["library"]
    skills: Mapping[str, str] = source["skills"]
    return skills


def _other_skills(inventory: Mapping[str, Any], planned: list[str], bound: Mapping[str, str]) -> list[str]:
    files: dict[str, dict[str, str]] = {}
    for path, digest in inventory["files"].items():
        parts = path.split("/", 2)
        if len(parts) == 3 and parts[0] == "skills" and not parts[1].startswith("."):
            files.setdefault(parts[1], {})[parts[2]] = digest
    built = {name: digests.of_entries(entries) for name, entries in files.items()}
    wanted = {name: bound[name] for name in planned}
    return sorted(name for name in {*built, *wanted} if built.get(name) != wanted.get(name))


def _numbers(project: Project, experiment: Experiment, found: Registration) -> Iterator[Line]:
    if not experiment.metrics.is_file():
        yield Line("metrics.json follows from the records", Verdict.UNKNOWN, "there is none yet; run `doit report`")
        return
    kept = records.read(experiment.metrics, "metrics")
    try:
        metrics = publish.compute(project, experiment, found)
    except ExperimentStopped as stopped:
        yield Line("metrics.json follows from the records", Verdict.DIFFERS, str(stopped))
    else:
        changed = sorted(key for key in {*kept, *metrics} if kept.get(key) != metrics.get(key))
        yield _compare("metrics.json follows from the records", [], changed, ", ".join(changed))
    for name, content in stage_report.report(kept).items():
        path = experiment.report / name
        same = path.is_file() and path.read_bytes() == content
        yield _compare(f"report/{name} follows from the metrics", True, same, "run `doit report` to write it anew")


def lines(found: list[Line]) -> list[str]:
    """Return the checks as lines, and the honest limit of what they show.

    Raises
    ------
    ExperimentStopped
        If anything differs; all lines are in its message.
    """
    count = sum(line.verdict is Verdict.DIFFERS for line in found)
    said = [str(line) for line in found]
    if count:
        raise ExperimentStopped("\n".join([f"{count} of {len(found)} checks differ", *said]))
    return [*said, "this finds accidents, not an owner who rewrites registration, journal and records alike"]
