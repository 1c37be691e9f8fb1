"""From the records on disk to `metrics.json` and the files of the report.

Must never call an agent or read anything that is not the registration's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval_tasks import attempts, digests, records, registration, sources
from eval_tasks.errors import ExperimentStopped
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.registration import Registration
from eval_tasks.stages import analyze as stage_analyze
from eval_tasks.stages import report as stage_report


def publish_metrics(project: Project) -> list[str]:
    """Compute the metrics and write them; those of the registered analysis are kept beside a later one's."""
    experiment = registration.require_current(project)
    found = registration.read(experiment)
    metrics = compute(project, experiment, found)
    records.write(experiment.metrics, "metrics", metrics)
    if not metrics["analysis"]["differs"]:
        records.write(experiment.registered_metrics, "metrics", metrics)
    return []


def metrics_of(project: Project, experiment_id: str) -> dict[str, Any]:
    """Return the metrics of an experiment of this project.

    Raises
    ------
    ExperimentStopped
        If there is no such experiment, or it has none yet.
    """
    known = sorted(path.parent.name for path in project.experiments.glob("*/registration.json"))
    if experiment_id not in known:
        named = experiment_id or "(no id)"
        raise ExperimentStopped(f"{named}: no such experiment here; there are: {', '.join(known) or 'none'}")
    experiment = project.experiment(experiment_id)
    if not experiment.metrics.is_file():
        raise ExperimentStopped(f"experiment {experiment_id} has no metrics yet; finish it and run `doit report`")
    found: dict[str, Any] = records.read(experiment.metrics, "metrics")
    return found


def compute(project: Project, experiment: Experiment, found: Registration) -> dict[str, Any]:
    """Return the metrics of a finished experiment.

    Raises
    ------
    ExperimentStopped
        If a scheduled record is missing, damaged or of another registration.
    """
    trials = [trial.name for trial in found.trials]
    arm_runs = _load(found, "arm-run", ((name, experiment.arm_run(name)) for name in trials))
    gradable = [name for name in trials if arm_runs[name]["failure"] is None]
    loaded = {
        "arm_runs": arm_runs,
        "grades": _load(found, "grade", ((name, experiment.grade(name)) for name in gradable)),
        "probes": _load(found, "probe", ((name, experiment.probe(name)) for name in found.probes)),
    }
    inventories = {
        name: records.read(experiment.inventory(name), "inventory")
        for name in found.design["profiles"]
        if experiment.inventory(name).is_file()
    }
    registered = experiment.registered_metrics
    return stage_analyze.analyze(
        found.value,
        inventories,
        **loaded,
        journal_totals=_totals(experiment, found),
        analysis_sources=sources.analysis(),
        registered_metrics=records.read(registered, "metrics") if registered.is_file() else None,
        attempts=attempts.read(project, found.design["evidence"]),
    )


def _load(found: Registration, schema: str, places: Iterable[tuple[str, Path]]) -> dict[str, Any]:
    loaded = {}
    for name, path in places:
        value = records.read(path, schema)
        if value["registration"] != found.digest:
            raise ExperimentStopped(f"{schema} {name} belongs to another registration; restore this one's")
        loaded[name] = value
    return loaded


def _totals(experiment: Experiment, found: Registration) -> dict[str, Any]:
    with Journal(experiment.journal, found.digest) as journal:
        totals = journal.totals()
        journal_digest = digests.of_value(journal.contents())
    manifest = records.read(experiment.manifest, "manifest")
    return {
        "calls": totals.calls,
        "elapsedMs": totals.elapsed_ms,
        "sessions": totals.sessions,
        "journalDigest": journal_digest,
        "recordsDigest": digests.of_entries(manifest["records"]),
    }


def publish_report(project: Project) -> list[str]:
    """Write the report's files and return what a user wants to know first: the verdict and where the report lies."""
    experiment = registration.require_current(project)
    metrics = records.read(experiment.metrics, "metrics")
    for name, content in stage_report.report(metrics).items():
        records.write_bytes(experiment.report / name, content, 0o644)
    gate = metrics["gate"]
    place = (experiment.report / "report.html").relative_to(project.root)
    return [f"gate: {gate['status']}; release approved: no (a report never approves one)", f"report: {place}"]
