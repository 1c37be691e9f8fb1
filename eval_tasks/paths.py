"""Every file name and folder of the project and of an experiment, each in one place.

Owns names only and must never read, write or create anything.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
SCHEMAS = PACKAGE / "schemas"
RESERVED_GRADER = "__grader__.cjs"
"""A name that no submission may hold at its root, in any letter case."""

SKILL_FILE = "SKILL.md"


@dataclass(frozen=True)
class Project:
    """The folder that holds `dodo.py` and `eval.yaml`."""

    root: Path

    @property
    def settings(self) -> Path:
        return self.root / "eval.yaml"

    @property
    def toolchain(self) -> Path:
        return self.root / "toolchain"

    @property
    def modules(self) -> Path:
        return self.toolchain / "node_modules"

    @property
    def toolchain_lock(self) -> Path:
        return self.toolchain / "package-lock.json"

    @property
    def experiments(self) -> Path:
        return self.root / "experiments"

    @property
    def doit_database(self) -> Path:
        return self.experiments / ".doit.db"

    @property
    def current(self) -> Path:
        return self.experiments / "current"

    @property
    def attempts(self) -> Path:
        return self.root / "registrations.jsonl"

    @property
    def cache(self) -> Path:
        return self.root / ".cache"

    @property
    def opponents(self) -> Path:
        """The tree of references, alternatives and wrong solutions, which no agent ever sees."""
        return self.root / "tests"

    def experiment(self, experiment_id: str) -> Experiment:
        """Return the folder of one experiment."""
        return Experiment(self.experiments / experiment_id)


@dataclass(frozen=True)
class Experiment:
    """The folder of one registered experiment below `experiments/`."""

    root: Path

    @property
    def id(self) -> str:
        return self.root.name

    @property
    def registration(self) -> Path:
        return self.root / "registration.json"

    @property
    def local(self) -> Path:
        """Paths on this machine; the only file below `experiments/` that may hold one."""
        return self.root / "local.json"

    @property
    def journal(self) -> Path:
        return self.root / "journal.db"

    @property
    def lock(self) -> Path:
        return self.root / "evaluator.lock"

    @property
    def digests(self) -> Path:
        return self.root / "digests.json"

    @property
    def gate(self) -> Path:
        return self.root / "gate.json"

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def metrics(self) -> Path:
        return self.root / "metrics.json"

    @property
    def registered_metrics(self) -> Path:
        """The metrics as the registered analysis computed them, kept beside those of a later analysis."""
        return self.root / "metrics.registered.json"

    @property
    def report(self) -> Path:
        return self.root / "report"

    def inventory(self, install: str) -> Path:
        return self.root / "inventory" / f"{install}.json"

    def arm_run(self, trial: str) -> Path:
        return self.root / "arm-runs" / f"{trial}.json"

    def grade(self, trial: str) -> Path:
        return self.root / "grades" / f"{trial}.json"

    def probe(self, probe: str) -> Path:
        return self.root / "probes" / f"{probe}.json"


@dataclass(frozen=True)
class WorkArea:
    """The folder of one experiment outside the project, whose neutral names an agent may see."""

    root: Path

    @property
    def installs(self) -> Path:
        return self.root / "installs"

    @property
    def calls(self) -> Path:
        return self.root / "calls"

    @property
    def submissions(self) -> Path:
        return self.root / "submissions"

    def install(self, name: str) -> Path:
        """Return the folder of an install; its own name says nothing, since an agent can read it off its mounts."""
        return self.installs / hashlib.sha256(name.encode("utf-8")).hexdigest()[:12]
