"""The registration: one retained plan that binds by digest everything an experiment's outcomes can depend on.

Must never hold a path of a machine or a credential, and never be changed once it is written.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import arms, digests, origin, records, schedule, sources
from eval_tasks.corpus import Case, Corpus, Probe
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.experiment import REHEARSAL, Settings
from eval_tasks.installs.profiles import Profile
from eval_tasks.library import Library
from eval_tasks.paths import Experiment, Project
from eval_tasks.schedule import Trial
from eval_tasks.selection.command import Command

ESTIMAND = (
    "Mean over the registered cases of the difference in expected pass probability, an arm minus Full, under the"
    " registered agent, model, library, evaluator and period; the cases are fixed and nothing is claimed beyond them."
)
RESUME_POLICY = (
    "A completed outcome is kept and never repeated; a trial whose call was interrupted is recorded as interrupted,"
    " counts, and is not repeated; a stop records nothing for trials that have not run."
)
DEPENDENCIES = ("bm25s", "doit", "jsonschema", "numpy", "pystemmer", "pyyaml", "scipy")


@dataclass(frozen=True)
class Node:
    """The Node.js that graders run on."""

    path: Path
    version: str

    @property
    def fingerprint(self) -> str:
        return digests.of_file(self.path)


@dataclass(frozen=True)
class AgentIdentity:
    """What of the agent is bound: its kind, version and the fingerprint of its native binary."""

    kind: str
    version: str
    fingerprint: str


@dataclass(frozen=True)
class Parts:
    """What a design is made from."""

    settings: Settings
    corpus: Corpus
    proof: str | None
    library: Library
    profiles: Mapping[str, Profile]
    agent: AgentIdentity
    node: Node
    pinned: Library | None = None
    selector: Command | None = None
    accepted_shortfall: bool = False


def design(project: Project, parts: Parts) -> dict[str, Any]:
    """Return the design: every bound thing by value or by digest, as the `registration` schema has it."""
    settings = parts.settings.value
    case_ids = [case.id for case in parts.corpus.cases]
    trials = schedule.trials(case_ids, settings["arms"], settings["repeats"])
    return {
        "name": settings["name"],
        "evidence": "rehearsal" if parts.settings.rehearsing else "live",
        "corpus": _corpus(parts.corpus, parts.proof),
        "library": _library(settings["library"], parts.library),
        "pinned": None if parts.pinned is None else _library(settings["pinned"]["library"], parts.pinned),
        "profiles": {name: _profile(profile) for name, profile in sorted(parts.profiles.items())},
        "arms": settings["arms"],
        "repeats": settings["repeats"],
        "agent": {
            "kind": parts.agent.kind,
            "version": parts.agent.version,
            "fingerprint": parts.agent.fingerprint,
            "backend": settings["agent"]["backend"],
            "model": settings["agent"]["model"],
            "effort": settings["agent"]["effort"],
        },
        "authentication": settings["authentication"],
        "isolation": settings["isolation"],
        "selector": _selector(parts.selector),
        "rehearsal": settings["rehearsal"],
        "limits": settings["limits"],
        "analysis": _analysis(settings, parts.corpus),
        "schedule": {
            "trials": [trial.value for trial in trials],
            "probes": [probe.id for probe in parts.corpus.probes],
        },
        "sources": {"execution": sources.execution(project.root / "dodo.py"), "analysis": sources.analysis()},
        "runtime": {
            "python": platform.python_version(),
            "node": parts.node.version,
            "nodeFingerprint": parts.node.fingerprint,
            "dependencies": {name: importlib.metadata.version(name) for name in DEPENDENCIES},
        },
        "overrides": dict(parts.settings.overrides),
        "acceptedShortfall": parts.accepted_shortfall,
        "resumePolicy": RESUME_POLICY,
    }


def _corpus(corpus: Corpus, proof: str | None) -> dict[str, Any]:
    return {
        "id": corpus.id,
        "sampling": corpus.sampling,
        "digest": corpus.digest,
        "files": dict(corpus.files),
        "proof": proof,
        "cases": [_case(case) for case in corpus.cases],
        "probes": [_probe(probe) for probe in corpus.probes],
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "category": case.category,
        "skill": case.skill,
        "vocabulary": case.vocabulary,
        "hastyFails": case.hasty_fails,
        "digest": case.digest,
        "graderDigest": case.grader_digest,
    }


def _probe(probe: Probe) -> dict[str, Any]:
    return {
        "id": probe.id,
        "category": probe.category,
        "half": probe.half,
        "expect": probe.expect,
        "digest": probe.digest,
    }


def _library(source: Mapping[str, Any], library: Library) -> dict[str, Any]:
    """Bind a library; its place on this machine is no part of what is bound."""
    return {
        "source": origin.public(source),
        "digest": library.digest,
        "skills": {name: skill.digest for name, skill in sorted(library.skills.items())},
    }


def _selector(command: Command | None) -> str:
    if command is None:
        return f"reference-bm25@{digests.short(sources.selector())}"
    return f"command@{digests.short(command.digest)}"


def _profile(profile: Profile) -> dict[str, Any]:
    return {"id": profile.id, "skills": list(profile.skills), "digest": profile.digest}


def _analysis(settings: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    return {
        **settings["analysis"],
        "marginPoints": corpus.margin_points,
        "minimumCases": corpus.minimum_cases,
        "minimumProbes": corpus.minimum_probes,
        "estimand": ESTIMAND,
        "comparisons": arms.comparisons(settings["arms"]),
    }


@dataclass(frozen=True)
class Registration:
    """A written registration."""

    value: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return digests.of_value(dict(self.value))

    @property
    def id(self) -> str:
        return digests.short(self.digest)

    @property
    def design(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.value["design"]
        return found

    @property
    def rehearsing(self) -> bool:
        return bool(self.design["agent"]["backend"] == REHEARSAL)

    @property
    def limits(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.design["limits"]
        return found

    @property
    def trials(self) -> list[Trial]:
        return [schedule.trial(value) for value in self.design["schedule"]["trials"]]

    @property
    def probes(self) -> list[str]:
        return list(self.design["schedule"]["probes"])


def current(project: Project) -> Experiment | None:
    """Return the folder of the experiment that commands act on, or None if nothing is registered."""
    try:
        name = project.current.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    experiment = project.experiment(name)
    return experiment if experiment.registration.is_file() else None


def require_current(project: Project) -> Experiment:
    """Return the experiment that commands act on.

    Raises
    ------
    ExperimentStopped
        If nothing is registered.
    """
    found = current(project)
    if found is None:
        raise ExperimentStopped("no experiment is registered here; run `doit register` first")
    return found


def read(experiment: Experiment) -> Registration:
    """Read a registration and check that its folder's name is its digest's."""
    found = Registration(records.read(experiment.registration, "registration"))
    if found.id != experiment.id:
        raise ExperimentStopped(
            f"registration.json of {experiment.id} was changed after it was written; restore it, or register anew"
        )
    return found


Leaves = Mapping[tuple[str, ...], Any]


def _leaves(value: Any, place: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the leaves of nested objects; a list of objects with ids counts as an object by id."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and "id" in item for item in value):
        value = {item["id"]: item for item in value}
    if not isinstance(value, Mapping):
        return {place: value}
    found: dict[tuple[str, ...], Any] = {}
    for key, inner in value.items():
        found |= _leaves(inner, (*place, str(key)))
    return found


_FOLLOWS: Sequence[tuple[str, ...]] = (
    ("corpus", "digest"),
    ("corpus", "cases"),
    ("corpus", "probes"),
    ("library", "digest"),
    ("schedule",),
    ("overrides",),
)
"""Parts that only follow from others, left out of a list of changes when something else has changed."""


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what differs between two designs, one line each: `what: old -> new`, digests by their first digits."""
    before, after = _leaves(old), _leaves(new)
    places = sorted(place for place in {*before, *after} if _differ(before, after, place))
    causes = [place for place in places if not any(place[: len(part)] == part for part in _FOLLOWS)]
    found = [f"{_label(place)}: {_shown(before, place)} -> {_shown(after, place)}" for place in causes or places]
    digest, present = digests.of_value(dict(old)), digests.of_value(dict(new))
    if not found and digest != present:
        # An order, or an object that is empty and so has no leaf: what changes the digest must never pass unsaid.
        return [f"design: {digests.short(digest)} -> {digests.short(present)}"]
    return found


def _differ(before: Leaves, after: Leaves, place: tuple[str, ...]) -> bool:
    """Return whether a leaf differs as the digest sees it, which tells 5 from 5.0 and 1 from true."""
    if place not in before or place not in after:
        return True
    return records.canonical(before[place]) != records.canonical(after[place])


def _label(place: tuple[str, ...]) -> str:
    if place[:2] == ("corpus", "files"):
        return f"corpus/{place[2]}"
    if place[:1] == ("sources",):
        return place[2]
    if place[:2] == ("library", "skills"):
        return f"skill {place[2]}"
    return ".".join(place)


def _shown(leaves: Leaves, place: tuple[str, ...]) -> str:
    if place not in leaves:
        return "nothing"
    value = leaves[place]
    if isinstance(value, str) and len(value) == 64:
        return digests.short(value)
    text = records.canonical(value).decode("utf-8") if not isinstance(value, str) else value
    return text if len(text) <= 60 and text.isprintable() else digests.short(digests.of_value(value))


def execution_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what differs of the things that stop an execution: all but the sources of the analysis."""
    return changes(_without_analysis(old), _without_analysis(new))


def _without_analysis(value: Mapping[str, Any]) -> dict[str, Any]:
    return {**value, "sources": {"execution": value["sources"]["execution"]}}


def execution_digest(value: Mapping[str, Any]) -> str:
    """Return the digest of the part of a design that stops an execution when it changes."""
    return digests.of_value(_without_analysis(value))


def refuse_drift(registered: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    """Raise `ExperimentStopped` with what has changed since the registration, if anything has."""
    found = execution_changes(registered, derived)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ExperimentStopped(
            f"source-drift: {found[0]}{more}; restore it, or register what is here now with `doit register --new`",
            FailureCode.SOURCE_DRIFT,
        )
