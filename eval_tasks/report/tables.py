"""Tidy CSV: one row a scheduled trial, one row a scheduled probe (RFC 4180, UTF-8).

Must never write an unknown value as zero: it is an empty field.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]

USAGE = ("inputTokens", "cachedInputTokens", "outputTokens")

OUTCOME_COLUMNS = (
    "experiment",
    "caseId",
    "category",
    "arm",
    "repeat",
    "passed",
    "failure",
    "limit",
    "selection",
    "selectedIds",
    "openedSkills",
    "calls",
    "elapsedMs",
    *USAGE,
    "contextBytes",
    "checks",
    "commands",
    "failedCommands",
    "transientErrors",
)

PROBE_COLUMNS = (
    "experiment",
    "id",
    "category",
    "half",
    "expected",
    "passed",
    "selectedIds",
    "shortlist",
    "selection",
    "failure",
    "calls",
    "elapsedMs",
    *USAGE,
)


def outcomes_csv(metrics: Record) -> bytes:
    """Return `outcomes.csv`, in the order of the schedule."""
    return _csv(OUTCOME_COLUMNS, metrics["registration"]["id"], metrics["outcomes"])


def probes_csv(metrics: Record) -> bytes:
    """Return `probes.csv`, in the order of the schedule."""
    return _csv(PROBE_COLUMNS, metrics["registration"]["id"], metrics["selection"])


def _csv(columns: Sequence[str], experiment: str, rows: Iterable[Record]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        flat = {"experiment": experiment, **row, **(row["usage"] or {})}
        writer.writerow([_field(flat.get(column)) for column in columns])
    return stream.getvalue().encode("utf-8")


def _field(value: Any) -> str | int:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ";".join(value)
    return value if isinstance(value, int) else str(value)
