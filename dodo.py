"""The experiment in flow order; `register` has no target, so that no report registers on its way."""

from doit import task_params

from eval_tasks import actions, graph, options

DOIT_CONFIG = graph.configuration()


# Before a registration


def task_toolchain():
    """Install the pinned agent CLIs and the skill library."""
    return {
        "actions": [actions.toolchain],
        "file_dep": ["toolchain/package-lock.json"],
        "targets": ["toolchain/node_modules/.package-lock.json"],
    }


def task_check_corpus():
    """Prove each grader against right, wrong, generic and hostile submissions."""
    return {"actions": [actions.check_corpus], "params": options.CHECK_CORPUS, "task_dep": ["toolchain"]}


def task_doctor():
    """See that this machine can run the experiment, through the real agent and without a provider."""
    return {"actions": [actions.doctor], "task_dep": ["toolchain"]}


def task_register():
    """Bind everything by digest: the corpus, library, agent, schedule, limits, analysis and sources."""
    return {"actions": [actions.register], "params": options.REGISTER, "task_dep": ["toolchain", "check_corpus"]}


def task_plan():
    """Say what the registered design could show at best, and what it would cost."""
    return {"actions": [actions.plan], "params": options.PLAN}


# Between the registration and the first paid call


def task_digest():
    """Derive again the digest of everything that is bound."""
    return {"actions": [actions.digest], "targets": graph.file("digests")}


def task_gate():
    """Stop unless it is what was registered."""
    return {
        "actions": [actions.gate],
        "file_dep": [*graph.file("digests"), *graph.file("registration")],
        "targets": graph.file("gate"),
        "task_dep": ["digest"],
    }


def task_recover():
    """Settle what a killed run left open."""
    return {"actions": [actions.recover]}


def task_prepare():
    """Build both installs, observe them through the agent and record their inventories."""
    yield from graph.installs()


# The outcomes


def task_arm_run():
    """Run each scheduled trial once."""
    yield from graph.arm_runs()


def task_grade():
    """Grade each submission by its case's hidden grader."""
    yield from graph.grades()


def task_probe():
    """Ask each selection probe once."""
    yield from graph.probes()


@task_params(options.RUN)
def task_run_eval(allow_real_provider, settle, repeats, model, executable):
    """Run what is scheduled and not yet recorded; with --settle, close it instead."""
    agreed = (actions.agree, [allow_real_provider, repeats, model, executable])
    yield {"name": "agree", "actions": [agreed]}
    if settle:
        yield {"name": "outcomes", "actions": [actions.settle], "task_dep": ["recover"]}
    else:
        yield {"name": "outcomes", "actions": None, "task_dep": ["recover", "prepare", *graph.outcomes()]}
    yield {"name": "finish", "actions": [actions.finish], "task_dep": ["run_eval:outcomes"]}


# From the outcomes to the report, without any call


def task_manifest():
    """List the digest of every scheduled record, or say which is missing."""
    return {"actions": [actions.manifest], "targets": graph.file("manifest")}


def task_analyze():
    """Compute every number from the records."""
    return {
        "actions": [actions.analyze],
        "file_dep": [*graph.file("manifest"), *graph.sources(*graph.ANALYSIS)],
        "targets": graph.file("metrics"),
        "task_dep": ["manifest"],
    }


def task_report():
    """Write the report: JSON, HTML, Markdown, CSV and JUnit."""
    return {
        "actions": [actions.report],
        "file_dep": [*graph.file("metrics"), *graph.sources("report/**/*", "stages/report.py")],
        "task_dep": ["analyze"],
        "uptodate": [graph.report_exists],
    }


# Beside the flow


def task_status():
    """Show how far the experiment is, without any arm's results."""
    return {"actions": [actions.status], "params": options.STATUS}


def task_verify():
    """Derive again, offline, every digest and number of a finished experiment."""
    return {"actions": [actions.verify]}


def task_compare():
    """Put another finished experiment beside the current one."""
    return {"actions": [actions.compare], "params": options.COMPARE}


def task_purge():
    """Remove installs, sealed submissions and other leftovers outside the project."""
    return {"actions": [actions.purge]}
