"""The self-contained HTML report.

Must never load anything, run anything but the one script whose digest its policy names, or show a number without its
value from the metrics behind it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from eval_tasks.report import plots, words
from eval_tasks.report.numbers import FORMATS
from eval_tasks.report.render import NAMES, TEMPLATES

Record = Mapping[str, Any]

LARGEST_MATRIX = 24
"""Labels up to which the whole confusion matrix is shown; above it only what went wrong."""

MARKS = {"agent": "x", "selection": "s", "infrastructure": "i"}
"""The style of a failure by whose fault it is."""


def html(metrics: Record, verdict: Record) -> bytes:
    """Return `report.html`."""
    faults = {row["code"]: row["fault"] for row in metrics["summary"]["failures"]}
    style, script = _asset("style.css"), _asset("filter.js")
    text = (
        _environment()
        .get_template("report.html.j2")
        .render(
            m=metrics,
            verdict=verdict,
            why=words.why(metrics),
            limits=words.limits(metrics),
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            rows=case_rows(metrics, faults),
            confusion=confusion(metrics),
            plots=_pictures(metrics),
        )
    )
    return text.encode("utf-8")


def _pictures(metrics: Record) -> dict[str, Any]:
    return {
        "forest": plots.forest(metrics),
        "selection": plots.selection(metrics) if metrics["selection"] else None,
        "sizes": plots.sizes(metrics),
        "costs": [plots.costs(pair) for pair in metrics["economics"]["pairs"]],
    }


@cache
def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a content policy that allows this style and this script by their digests and nothing else."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")

    return (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; script-src 'sha256-{digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({name: _with_value(written) for name, written in FORMATS.items()})
    environment.filters.update(NAMES)
    return environment


def _with_value(written: Callable[..., str]) -> Callable[..., Markup]:
    """Return a filter that writes a number and keeps the value of the metrics beside it."""

    def filtered(value: Any, *options: Any) -> Markup:
        if value is None:
            return Markup('<span class="unknown">{}</span>').format(written(None))
        return Markup('<data value="{}">{}</data>').format(value, written(value, *options))

    return filtered


def case_rows(metrics: Record, faults: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of the case matrix, discordant cases first, then other failures, then the rest."""
    arms = metrics["registration"]["arms"]
    cells: dict[str, dict[str, list[Record]]] = {}
    categories: dict[str, str] = {}
    for outcome in metrics["outcomes"]:
        cells.setdefault(outcome["caseId"], {arm: [] for arm in arms})[outcome["arm"]].append(outcome)
        categories[outcome["caseId"]] = outcome["category"]
    discordant = _discordant(metrics["summary"]["pairs"])
    rows = [
        {
            "caseId": case_id,
            "category": categories[case_id],
            "kinds": _kinds(case_id, by_arm, discordant, faults),
            "note": discordant.get(case_id, ""),
            "cells": [[_mark(outcome, faults) for outcome in _by_repeat(by_arm[arm])] for arm in arms],
        }
        for case_id, by_arm in cells.items()
    ]
    return sorted(rows, key=_rank)


def _by_repeat(outcomes: Sequence[Record]) -> list[Record]:
    return sorted(outcomes, key=lambda outcome: int(outcome["repeat"]))


def _rank(row: Mapping[str, Any]) -> int:
    kinds = row["kinds"]
    return 0 if "differs" in kinds else 1 if kinds else 2


def _discordant(comparisons: Sequence[Record]) -> dict[str, str]:
    """Return for each discordant case in which comparison it was lost or won."""
    notes: dict[str, list[str]] = {}
    for comparison in comparisons:
        for word, names in (("lost", comparison["losses"]), ("won", comparison["wins"])):
            for name in names:
                notes.setdefault(name, []).append(f"{words.arm(comparison['arm'])} {word}")
    return {name: ", ".join(found) for name, found in notes.items()}


def _kinds(
    case_id: str, by_arm: Mapping[str, Sequence[Record]], discordant: Mapping[str, str], faults: Mapping[str, str]
) -> list[str]:
    codes = [outcome["failure"] for outcomes in by_arm.values() for outcome in outcomes if not outcome["passed"]]
    kinds = ["differs"] if case_id in discordant else []
    kinds += ["fails"] if codes else []
    kinds += ["infra"] if any(faults.get(code) == "infrastructure" for code in codes) else []
    return kinds


def _mark(outcome: Record, faults: Mapping[str, str]) -> tuple[str, str]:
    if outcome["passed"]:
        return "p", "pass"
    return MARKS[faults[outcome["failure"]]], outcome["failure"]


def confusion(metrics: Record) -> dict[str, Any]:
    """Return the matrix of expectations and answers, cut to what went wrong if it is large."""
    cells = metrics["selectionSummary"]["confusion"]
    labels = {cell[key] for cell in cells for key in ("expected", "answer")}
    cut = len(labels) > LARGEST_MATRIX
    if cut:
        missed = {cell["expected"] for cell in cells if cell["expected"] != cell["answer"]}
        cells = [cell for cell in cells if cell["expected"] in missed]
    rows = sorted({cell["expected"] for cell in cells})
    answers = {cell["answer"] for cell in cells}
    # The diagonal first, so that the eye finds it.
    columns = [row for row in rows if row in answers] + sorted(answers - set(rows))
    counts = {(cell["expected"], cell["answer"]): cell["probes"] for cell in cells}
    return {"rows": rows, "columns": columns, "counts": counts, "cut": cut}
