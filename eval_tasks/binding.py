"""Everything that a registration binds, by value or by digest: the design of an experiment.

Must never bind a path of a machine or a credential, nor write anything.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import arms, digests, origin, schedule, sources
from eval_tasks.corpus import Case, Corpus, Probe
from eval_tasks.experiment import Settings
from eval_tasks.installs.profiles import Profile
from eval_tasks.library import Library
from eval_tasks.paths import Project
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
        "jobs": settings["jobs"],
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
