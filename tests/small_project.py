"""A small project on disk, read by the real loaders: two cases, two probes, three skills; nothing in it needs an agent.

Must never stand in for a part that a test is about.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from eval_tasks import binding, corpus, experiment, library, origin, records
from eval_tasks.binding import AgentIdentity, Node, Parts
from eval_tasks.installs import profiles
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.registration import Registration

REPOSITORY = Path(__file__).resolve().parents[1]
CASES = ("bread", "cake")
SKILLS = ("baking", "frying", "icing")
PROBES = [
    {
        "id": "near-bread",
        "category": "near-miss",
        "prompt": "Which oven is hottest?",
        "expect": {"selected": ["baking"]},
        "half": "tune",
        "why": "The question is about ovens.",
    },
    {
        "id": "no-bread",
        "category": "none",
        "prompt": "What is two and two?",
        "expect": {"selected": []},
        "half": "held",
        "why": "Nothing of it is bread.",
    },
]


def make(root: Path) -> Project:
    """Write the project's files below a new folder."""
    root.mkdir(mode=0o700)
    for name in ("dodo.py", "eval.yaml"):
        shutil.copy(REPOSITORY / name, root / name)
    folder = root / "corpus"
    (folder / "profiles").mkdir(parents=True)
    shutil.copy(REPOSITORY / "corpus" / "corpus.yaml", folder / "corpus.yaml")
    dump(folder / "probes.yaml", {"probes": PROBES})
    dump(folder / "profiles" / "full.yaml", {"id": "full@1", "skills": "all", "required": [], "exclude": []})
    dump(folder / "profiles" / "lean.yaml", {"id": "lean@1", "skills": ["icing"], "required": [], "exclude": []})
    for case in CASES:
        add_case(root, case)
    for skill in SKILLS:
        (root / "skills" / skill).mkdir(parents=True)
        text = f"---\nname: {skill}\ndescription: All about {skill}.\n---\n\n# {skill}\n"
        (root / "skills" / skill / "SKILL.md").write_text(text, "utf-8")
    project = Project(root)
    change_settings(project, library={"folder": "skills"})
    return project


def dump(path: Path, value: Any) -> None:
    path.write_text(yaml.safe_dump(value, sort_keys=False), "utf-8")


def add_case(root: Path, case: str) -> None:
    """Write one more case."""
    folder = root / "corpus" / "cases" / case
    (folder / "workspace").mkdir(parents=True)
    value = {
        "id": case,
        "category": "api",
        "prompt": f"The {case} is counted twice.",
        "skill": "baking",
        "bearsOn": "Counting: once",
        "hastyFails": False,
        "vocabulary": "plain",
    }
    dump(folder / "case.yaml", value)
    (folder / "grader.cjs").write_text("module.exports = async () => {};\n", "utf-8")
    (folder / "workspace" / "index.js").write_text("module.exports = 1;\n", "utf-8")


def change_settings(project: Project, **changes: Any) -> None:
    """Change top-level settings of `eval.yaml`; a mapping changes only the keys that it has."""
    value = yaml.safe_load(project.settings.read_text("utf-8"))
    for key, wanted in changes.items():
        merged = isinstance(wanted, dict) and isinstance(value.get(key), dict) and key != "library"
        value[key] = {**value[key], **wanted} if merged else wanted
    dump(project.settings, value)


def parts(project: Project, **overrides: Any) -> Parts:
    """Gather what a registration binds; only the agent and Node are no real ones, since nothing here runs them."""
    settings = experiment.load(project, overrides)
    available = library.load(origin.locate(settings.value["library"], project))
    node = project.root / "node"
    node.write_bytes(b"node")
    return Parts(
        settings=settings,
        corpus=corpus.load(project.root / settings.corpus, settings.corpus),
        proof=None,
        library=available,
        profiles={
            name: profiles.load(project.root / place, place, available)
            for name, place in settings.value["profiles"].items()
        },
        agent=AgentIdentity("codex", str(settings.agent["version"]), "a" * 64),
        node=Node(node, "22.0.0"),
    )


def design(project: Project, **overrides: Any) -> dict[str, Any]:
    """Return the design of the project as it is now."""
    return binding.design(project, parts(project, **overrides))


def registered(project: Project, reason: str | None = None, **overrides: Any) -> Registration:
    """Return a registration of the project as it is now, without writing it."""
    attempt = {"number": 1, "reason": reason, "date": "2026-01-02", "commit": None}
    value = {
        "schemaVersion": "context-eval.registration.v1",
        "design": design(project, **overrides),
        "attempt": attempt,
    }
    return Registration(value)


def retain(project: Project, value: Registration) -> Experiment:
    """Write a registration with its journal and make it the current one."""
    found = project.experiment(value.id)
    found.root.mkdir(mode=0o700, parents=True)
    Journal(found.journal, value.digest, create=True).close()
    records.write(found.registration, "registration", value.value)
    records.write_bytes(project.current, f"{value.id}\n".encode("ascii"))
    return found
