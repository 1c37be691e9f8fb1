"""Every command as a doit task, in the order in which an experiment flows; an experiment's `dodo.py` takes them all.

Must never do anything but name tasks: `register` has no target, so that no report registers on its way.
"""

from __future__ import annotations

from collections.abc import Iterator

from doit import task_params

from eval_tasks import actions, graph, options
from eval_tasks.graph import Task

DOIT_CONFIG = graph.configuration()


# Before a registration


def task_toolchain() -> Task:
    """Install the pinned agent CLIs and the skill library."""
    return {
        "actions": [actions.toolchain],
        "file_dep": ["toolchain/package-lock.json"],
        "targets": ["toolchain/node_modules/.package-lock.json"],
    }


def task_check_corpus() -> Task:
    """Prove each grader against right, wrong, generic and hostile submissions."""
    return {"actions": [actions.check_corpus], "params": options.CHECK_CORPUS, "task_dep": ["toolchain"]}


def task_doctor() -> Task:
    """See that this machine can run the experiment, through the real agent and without a provider."""
    return {"actions": [actions.doctor], "task_dep": ["toolchain"]}


def task_register() -> Task:
    """Bind everything by digest: the corpus, library, agent, schedule, limits, analysis and sources."""
    return {"actions": [actions.register], "params": options.REGISTER, "task_dep": ["toolchain", "check_corpus"]}


def task_plan() -> Task:
    """Say what the registered design could show at best, and what it would cost."""
    return {"actions": [actions.plan], "params": options.PLAN}


# Between the registration and the first paid call


def task_digest() -> Task:
    """Derive again the digest of everything that is bound."""
    return {
        "actions": [actions.digest],
        "targets": graph.file("digests"),
        "task_dep": graph.after("recover"),
    }


def task_gate() -> Task:
    """Stop unless it is what was registered."""
    return {
        "actions": [actions.gate],
        "file_dep": [*graph.file("digests"), *graph.file("registration")],
        "targets": graph.file("gate"),
        "task_dep": ["digest"],
    }


def task_recover() -> Task:
    """Settle what a killed run left open."""
    return {"actions": [actions.recover], "task_dep": graph.after("run_eval:agree")}


def task_prepare() -> Iterator[Task]:
    """Build the installs, observe them through the agent and record their inventories."""
    yield from graph.installs()


# The outcomes


def task_canary() -> Task:
    """Make one small call on each install of a real provider, once."""
    return {"actions": [actions.canary], "task_dep": ["prepare"]}


def task_arm_run() -> Iterator[Task]:
    """Run each scheduled trial once."""
    yield from graph.arm_runs()


def task_grade() -> Iterator[Task]:
    """Grade each submission by its case's hidden grader."""
    yield from graph.grades()


def task_probe() -> Iterator[Task]:
    """Ask each selection probe once."""
    yield from graph.probes()


@task_params(options.RUN)  # type: ignore[untyped-decorator]
def task_run_eval(
    allow_real_provider: bool, settle: bool, repeats: int | None, model: str | None, executable: str | None
) -> Iterator[Task]:
    """Run what is scheduled and not yet recorded; with --settle, close it instead."""
    agreed = (actions.agree, [allow_real_provider, settle, repeats, model, executable])
    yield {"name": "agree", "actions": [agreed]}
    if settle:
        yield {"name": "outcomes", "actions": [actions.settle], "task_dep": ["recover"]}
    else:
        yield {"name": "outcomes", "actions": None, "task_dep": graph.outcomes()}
    yield {"name": "finish", "actions": [actions.finish], "task_dep": ["run_eval:outcomes"]}


# From the outcomes to the report, without any call


def task_manifest() -> Task:
    """List the digest of every scheduled record, or say which is missing."""
    return {"actions": [actions.manifest], "targets": graph.file("manifest")}


def task_analyze() -> Task:
    """Compute every number from the records."""
    return {
        "actions": [actions.analyze],
        "file_dep": [*graph.file("manifest"), *graph.sources(*graph.ANALYSIS)],
        "targets": graph.file("metrics"),
        "task_dep": ["manifest"],
    }


def task_report() -> Task:
    """Write the report: JSON, HTML, Markdown, CSV and JUnit."""
    return {
        "actions": [actions.report],
        "file_dep": [*graph.file("metrics"), *graph.sources("report/**/*", "stages/report.py")],
        "task_dep": ["analyze"],
        "uptodate": [graph.report_exists],
    }


# Beside the flow


def task_library() -> Task:
    """List the skills of the library, and what the agent's own list would shorten or leave out."""
    return {"actions": [actions.library], "task_dep": ["toolchain"]}


def task_selector() -> Task:
    """Ask the selector what its contract alone decides, without any agent."""
    return {"actions": [actions.selector], "task_dep": ["toolchain"]}


def task_status() -> Task:
    """Show how far the experiment is, without any arm's results."""
    return {"actions": [actions.status], "params": options.STATUS}


def task_verify() -> Task:
    """Derive again, offline, every digest and number of a finished experiment."""
    return {"actions": [actions.verify]}


def task_compare() -> Task:
    """Put another finished experiment beside the current one."""
    return {"actions": [actions.compare], "params": options.COMPARE}


def task_purge() -> Task:
    """Remove installs, sealed submissions and other leftovers outside the project."""
    return {"actions": [actions.purge]}
