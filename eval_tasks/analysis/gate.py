"""The gate: what this experiment may be called, and what it supports.

Must never approve a release, nor let the additional method decide what the primary one has to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval_tasks.analysis.summary import Record

SYNTHETIC = "synthetic-only"
INSUFFICIENT = "insufficient-sample"
REVIEW = "review-required"

REASONS = (
    "synthetic-only",
    "insufficient-cases",
    "insufficient-probes",
    "no-claim",
    "interval-reaches-margin",
    "below-margin",
    "floor",
    "ceiling",
    "arm-asymmetry",
    "infrastructure",
)
"""Why a claim is not supported, a closed set; the report has a sentence for each."""


def sample_reasons(design: Record) -> list[str]:
    """Return why the experiment as a whole can support nothing: scripted, or fewer cases or probes than registered."""
    analysis = design["analysis"]
    cases = {trial["caseId"] for trial in design["schedule"]["trials"]}
    found = []
    if design["evidence"] == "rehearsal":
        found.append("synthetic-only")
    if len(cases) < analysis["minimumCases"]:
        found.append("insufficient-cases")
    if len(design["schedule"]["probes"]) < analysis["minimumProbes"]:
        found.append("insufficient-probes")
    return found


def judged(comparison: Mapping[str, Any], sample: Sequence[str]) -> dict[str, Any]:
    """Return a comparison with what each method supports and, for the primary one, every reason against it."""
    primary = _against(comparison, comparison, sample)
    return {
        **comparison,
        "supported": not primary,
        "reasons": primary,
        "additional": [
            {**method, "supported": not _against(method, comparison, sample)} for method in comparison["additional"]
        ],
    }


def _against(method: Record, comparison: Record, sample: Sequence[str]) -> list[str]:
    if not comparison["claimed"]:
        return ["no-claim"]
    found = [*sample, *comparison["vetoes"]]
    if not method["clears"]:
        found.append("below-margin" if method["excludes"] else "interval-reaches-margin")
    return found


def decide(design: Record, comparisons: Sequence[Record]) -> dict[str, Any]:
    """Return the gate.

    The status is the first that applies of `synthetic-only`, `insufficient-sample` and `review-required`. The claim is
    supported only if the primary method supports every registered comparison of an arm that the claim is about; what
    else was compared is for the reader's information. A release is never approved here.

    Parameters
    ----------
    comparisons
        The registered comparisons, as `judged` returns them.
    """
    sample = sample_reasons(design)
    claimed = [comparison for comparison in comparisons if comparison["claimed"]]
    reasons = {reason for row in claimed for reason in row["reasons"]} if claimed else {"no-claim", *sample}
    return {
        "status": _status(sample),
        "nonInferioritySupported": bool(claimed) and all(row["supported"] for row in claimed),
        "releaseApproved": False,
        "reasons": [reason for reason in REASONS if reason in reasons],
        "additional": [
            {"method": name, "supported": bool(claimed) and all(_method(row, name)["supported"] for row in claimed)}
            for name in design["analysis"]["additional"]
        ],
    }


def _method(comparison: Record, name: str) -> Record:
    found: Record = next(row for row in comparison["additional"] if row["method"] == name)
    return found


def _status(sample: Sequence[str]) -> str:
    if "synthetic-only" in sample:
        return SYNTHETIC
    return INSUFFICIENT if sample else REVIEW
