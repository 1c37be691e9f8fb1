"""`doit check_corpus`: prove every grader before it may judge anybody, and keep the proof beside the corpus.

Must never write a proof that has a fault, nor one with a time or a place in it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from eval_tasks import digests, experiment, library, origin, records, sandbox
from eval_tasks.agents import AGENTS
from eval_tasks.errors import ExperimentStopped
from eval_tasks.grading import proof
from eval_tasks.grading.grader import Runtime
from eval_tasks.grading.proof import CaseProof, Proof
from eval_tasks.grading.syntax import Parser
from eval_tasks.paths import Project
from eval_tasks.stages.assemble import find_node, node_on_path


def proof_file(project: Project) -> Path:
    """Return where the proof of the corpus lies: beside `corpus.yaml`, to be committed with it."""
    settings = experiment.load(project, {})
    return experiment.folder(project, settings.corpus, "corpus") / "proof.json"


def current_digest(project: Project) -> str | None:
    """Return the digest of the proof if it proves exactly the corpus and opponents that are here, or None."""
    path = proof_file(project)
    if not path.is_file():
        return None
    value = records.read(path, "proof")
    return digests.of_value(value) if proof.is_current(value, path.parent, project.opponents) else None


def require(project: Project) -> str:
    """Return the digest of the current proof.

    Raises
    ------
    ExperimentStopped
        If the corpus has none.
    """
    found = current_digest(project)
    if found is None:
        raise ExperimentStopped("the corpus has no current proof; run `doit check_corpus` and commit corpus/proof.json")
    return found


def check_corpus(project: Project, *, thorough: bool, anew: bool) -> list[str]:
    """Prove the corpus unless its proof is current.

    Parameters
    ----------
    thorough
        Besides, try mutants, remove each check in turn, and screen longer for flakes.
    anew
        Prove on this machine whatever was proven before.

    Raises
    ------
    ExperimentStopped
        With every fault, one line each.
    """
    path = proof_file(project)
    previous = records.read(path, "proof") if path.is_file() else None
    if not (thorough or anew) and previous is not None and current_digest(project) is not None:
        cases = tuple(CaseProof.of_value(value) for value in previous["cases"])
        return [f"proven before: {Proof(previous['corpus'], previous['sources'], cases).summary}"]
    settings = experiment.load(project, {})
    skills = library.load(origin.locate(settings.value["library"], project)).skills
    found = proof.prove(
        path.parent,
        project.opponents,
        _runtime(project, settings),
        jobs=proof.default_jobs(),
        progress=_show if sys.stderr.isatty() else None,
        thorough=thorough,
        cache=None if anew else project.cache / "check-corpus",
        descriptions={name: skill.description for name, skill in skills.items()},
        parser=_parser(project),
        previous=previous,
    )
    if found.faults:
        raise ExperimentStopped("\n".join(["the corpus is not proven:", *found.faults, found.summary]))
    records.check("proof", found.value, path.name)
    records.write_bytes(path, records.pretty(found.value), 0o644)
    return [found.summary]


def _runtime(project: Project, settings: experiment.Settings) -> Runtime:
    agent = AGENTS[settings.agent["kind"]]
    executable = agent.in_modules(project.modules, settings.agent["version"])
    scratch = sandbox.work_root(os.environ)
    sandbox.make_work_folder(scratch, drop=os.geteuid() == 0)
    node = find_node(node_on_path())
    return Runtime.find(node.path, executable.bubblewrap, scratch)


def _parser(project: Project) -> Parser | None:
    package = project.modules / "acorn"
    return Parser(node_on_path(), package) if package.is_dir() else None


def _show(done: int, total: int, case: str) -> None:
    print(f"\r{done}/{total} {case:<40.40}", end="" if done < total else "\n", file=sys.stderr, flush=True)
