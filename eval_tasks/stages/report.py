"""The stage `report`: from metrics to the files that people and programs read.

Must never compute a number, read a record or call an agent: what the metrics don't hold, no report shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval_tasks import records
from eval_tasks.report import html, inspect_log, junit, render, tables, words

SCHEMA_VERSION = "context-eval.report.v1"


def report(metrics: Mapping[str, Any]) -> dict[str, bytes]:
    """Return every file of the report by its name.

    Parameters
    ----------
    metrics
        As `eval_tasks.stages.analyze.analyze` returns them.

    Raises
    ------
    ExperimentStopped
        If the metrics hold anything that the report's schema does not allow.
    """
    verdict = words.verdict(metrics)
    content = {**metrics, "schemaVersion": SCHEMA_VERSION, "verdict": verdict}
    records.check("report", content, "report.json", "this is a fault of the evaluator; please report it")
    return {
        "report.json": records.pretty(content),
        "report.html": html.html(metrics, verdict),
        "report.md": render.markdown(metrics, verdict),
        "outcomes.csv": tables.outcomes_csv(metrics),
        "probes.csv": tables.probes_csv(metrics),
        "junit.xml": junit.junit(metrics),
        **inspect_log.inspect_logs(metrics),
    }
