"""The stage `analyze`: from a registration and its records to metrics, every number that a report may show.

Must never read or write a file, call an agent, or depend on anything but its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from eval_tasks import digests, origin
from eval_tasks.analysis import economics, exposure, gate, pairs, planning, selection, summary
from eval_tasks.analysis.summary import Outcome, Record

SCHEMA_VERSION = "context-eval.metrics.v1"

_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,+@:_~()-]{0,79}")
"""What a runtime's version may look like; nothing that could be a path."""


def analyze(  # noqa: PLR0917 - the six kinds of records, in the order in which they arise
    registration: Record,
    inventories: Mapping[str, Record],
    arm_runs: Mapping[str, Record],
    grades: Mapping[str, Record],
    probes: Mapping[str, Record],
    journal_totals: Record,
    *,
    analysis_sources: Mapping[str, str],
    registered_metrics: Record | None = None,
    attempts: Sequence[Record] = (),
) -> dict[str, Any]:
    """Return the metrics of a finished experiment, as `metrics.schema.json` has them.

    Parameters
    ----------
    registration
        The whole registration.
    inventories, arm_runs, grades, probes
        Records by install, by trial name and by probe id.
    journal_totals
        `calls`, `elapsedMs` and `sessions` over the whole journal, and `journalDigest` and `recordsDigest`.
    analysis_sources
        Digests of the analysis sources as they are now, by path.
    registered_metrics
        What the registered analysis once made of these records, if it is known.
    attempts
        The lines of `registrations.jsonl`.

    Raises
    ------
    ExperimentStopped
        If a scheduled trial or probe lacks a record, or records contradict the registration.
    """
    design = registration["design"]
    plan = pairs.AnalysisPlan.of(design)
    outcomes = summary.outcomes_of(design, arm_runs, grades)
    probed = selection.probes_of(design, probes)
    sample = gate.sample_reasons(design)
    compared = [
        gate.judged(pairs.compare(outcomes, arm, reference, plan), sample) for arm, reference in plan.comparisons
    ]
    return {
        "schemaVersion": SCHEMA_VERSION,
        "registration": _registration(registration),
        "evidence": design["evidence"],
        "authentication": design["authentication"],
        "isolation": design["isolation"],
        "bounds": dict(design["limits"]),
        "installs": exposure.install_rows(design, inventories),
        "calls": _calls(outcomes, probed, journal_totals),
        "gate": gate.decide(design, compared),
        "summary": _summary(design, outcomes, compared),
        "selectionSummary": selection.summarize(probed, design["evidence"]),
        "economics": _economics(design, outcomes, inventories, plan),
        "skillUse": exposure.skill_use(outcomes, design["arms"], inventories),
        "planning": _planning(design, outcomes, compared, plan),
        "analysis": _analysis(registration, analysis_sources, registered_metrics),
        "attempts": [
            {key: line.get(key) for key in ("id", "date", "reason", "calls", "evidence")} for line in attempts
        ],
        "selection": [selection.selection_row(probe) for probe in probed],
        "outcomes": [summary.outcome_row(outcome) for outcome in outcomes],
    }


_ATTEMPT = ("number", "reason", "date", "commit")
_AGENT = ("kind", "version", "fingerprint", "backend", "model", "effort")
_ANALYSIS = (
    "primary",
    "additional",
    "familywiseAlpha",
    "marginPoints",
    "minimumCases",
    "minimumProbes",
    "estimand",
    "comparisons",
)


def _registration(registration: Record) -> dict[str, Any]:
    design, digest = registration["design"], digests.of_value(registration)
    return {
        "id": digests.short(digest),
        "digest": digest,
        "name": design["name"],
        "attempt": {key: registration["attempt"].get(key) for key in _ATTEMPT},
        **_bound_inputs(design),
        "arms": list(design["arms"]),
        "repeats": design["repeats"],
        "agent": {key: design["agent"][key] for key in _AGENT},
        "selector": design["selector"],
        "script": None if design["rehearsal"] is None else digests.of_value(design["rehearsal"]),
        "analysis": {key: design["analysis"][key] for key in _ANALYSIS},
        "sources": [
            {"bound": name, "files": len(files), "digest": digests.of_entries(files)}
            for name, files in sorted(design["sources"].items())
        ],
        "runtime": _runtime(design["runtime"]),
        "overrides": sorted(design["overrides"]),
        "acceptedShortfall": design["acceptedShortfall"],
        "resumePolicy": design["resumePolicy"],
    }


def _bound_inputs(design: Record) -> dict[str, Any]:
    corpus, library = design["corpus"], design["library"]
    return {
        "corpus": {
            **{key: corpus[key] for key in ("id", "sampling", "digest")},
            "cases": len(corpus["cases"]),
            "probes": len(corpus["probes"]),
        },
        "library": {
            "source": _source(library["source"]),
            "digest": library["digest"],
            "skills": len(library["skills"]),
        },
        "profiles": [
            {"name": name, "id": profile["id"], "digest": profile["digest"], "skills": len(profile["skills"])}
            for name, profile in sorted(design["profiles"].items())
        ],
    }


def _source(source: Any) -> str:
    """Return where the library came from in public words; a folder's place is nobody's business."""
    if isinstance(source, Mapping):
        return origin.words(source)
    return str(source) if _HARMLESS.fullmatch(str(source)) else "a local folder"


def _runtime(runtime: Mapping[str, Any]) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for name, value in sorted(runtime.items()):
        if isinstance(value, Mapping):
            rows += _runtime(value)
        elif _HARMLESS.fullmatch(str(value)):
            rows.append({"name": name, "value": str(value)})
    return rows


def _calls(
    outcomes: Sequence[Outcome], probed: Sequence[selection.ProbeOutcome], journal_totals: Record
) -> dict[str, Any]:
    phases = [call["phase"] for outcome in outcomes for call in outcome.calls]
    of_probes = sum(len(probe.calls) for probe in probed)
    return {
        "total": journal_totals["calls"],
        "recorded": len(phases) + of_probes,
        "task": phases.count("task"),
        "proposal": phases.count("proposal"),
        "probes": of_probes,
        "elapsedMs": journal_totals["elapsedMs"],
        "sessions": journal_totals["sessions"],
        "journalDigest": journal_totals.get("journalDigest"),
        "recordsDigest": journal_totals.get("recordsDigest"),
    }


def _summary(design: Record, outcomes: Sequence[Outcome], compared: Sequence[Record]) -> dict[str, Any]:
    arms = design["arms"]
    return {
        "distinctCases": len({outcome.case_id for outcome in outcomes}),
        "repeats": design["repeats"],
        "trials": len(outcomes),
        "rates": summary.rates(outcomes, arms),
        "byCategory": summary.rates_by_category(outcomes, arms),
        "pairs": list(compared),
        "decomposition": _decomposition(outcomes, arms),
        "failures": summary.failures(outcomes, arms),
    }


def _decomposition(outcomes: Sequence[Outcome], arms: Sequence[str]) -> dict[str, Any] | None:
    known = {"auto-lean", "manual-lean", "full"} <= set(arms)
    return pairs.decompose(outcomes, "auto-lean", "manual-lean", "full") if known else None


def _economics(
    design: Record, outcomes: Sequence[Outcome], inventories: Mapping[str, Record], plan: pairs.AnalysisPlan
) -> dict[str, Any]:
    return {
        "totals": economics.arm_totals(outcomes, design["arms"]),
        "startup": economics.startup_tax(design["arms"], inventories),
        "pairs": [economics.paired_costs(outcomes, arm, reference) for arm, reference in plan.comparisons],
    }


def _planning(
    design: Record, outcomes: Sequence[Outcome], compared: Sequence[Record], plan: pairs.AnalysisPlan
) -> dict[str, Any]:
    size = planning.CallSize.of(design)
    return {
        "effect": 0,
        "power": planning.POWERS[0],
        "callsPerCase": size.per_case,
        "assumed": planning.assumed_sizes(plan),
        "reachability": planning.reachability(len({outcome.case_id for outcome in outcomes}), plan),
        "pairs": [
            planning.requirements(pairs.pair_cases(outcomes, row["arm"], row["reference"]), row, plan, size)
            for row in compared
        ],
    }


def _analysis(
    registration: Record, analysis_sources: Mapping[str, str], registered_metrics: Record | None
) -> dict[str, Any]:
    registered = digests.of_entries(registration["design"]["sources"]["analysis"])
    current = digests.of_entries(analysis_sources)
    differs = registered != current
    numbers = _registered_numbers(registration, registered, registered_metrics) if differs else None
    return {"registered": registered, "current": current, "differs": differs, "registeredNumbers": numbers}


def _registered_numbers(registration: Record, registered: str, metrics: Record | None) -> dict[str, Any] | None:
    """Return the numbers to show beside a later analysis, if they are of this experiment and of the registered one."""
    if metrics is None or metrics["registration"]["digest"] != digests.of_value(registration):
        return None
    if metrics["analysis"]["current"] != registered:
        return None
    return {
        "status": metrics["gate"]["status"],
        "nonInferioritySupported": metrics["gate"]["nonInferioritySupported"],
        "pairs": [
            {
                "arm": row["arm"],
                "reference": row["reference"],
                "delta": row["delta"],
                "interval": row["interval"],
                "additional": [{key: found[key] for key in ("method", "interval")} for found in row["additional"]],
            }
            for row in metrics["summary"]["pairs"]
        ],
        "headline": {key: metrics["selectionSummary"]["headline"][key] for key in ("passed", "n", "rate")},
    }
