"""JUnit XML for the readers that every CI has: one suite an arm and one for the probes.

Must never emit output of an agent: a name and a failure code are all that a reader gets.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

from eval_tasks.report.words import FAILURES

Record = Mapping[str, Any]

INFRASTRUCTURE = "infrastructure"
PROBES = "selection"


def junit(metrics: Record) -> bytes:
    """Return `junit.xml`.

    A missing pass is a `failure`, one that is the infrastructure's fault an `error`. Every repeat has a name of its
    own, since readers take two results of one name for a retry.
    """
    faults = {row["code"]: row["fault"] for row in metrics["summary"]["failures"]}
    root = ET.Element("testsuites", name=f"{metrics['registration']['name']} {metrics['registration']['id']}")
    for arm in metrics["registration"]["arms"]:
        rows = [outcome for outcome in metrics["outcomes"] if outcome["arm"] == arm]
        _suite(root, arm, [(f"{row['caseId']}[r{row['repeat']}]", row) for row in rows], faults)
    _suite(root, PROBES, [(row["id"], row) for row in metrics["selection"]], faults)
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _suite(root: ET.Element, name: str, rows: Sequence[tuple[str, Record]], faults: Mapping[str, str]) -> None:
    suite = ET.SubElement(root, "testsuite", name=name)
    errors = failures = 0
    for title, row in rows:
        case = ET.SubElement(suite, "testcase", name=title, classname=name, time=_time(row))
        if row["passed"]:
            continue
        code = row["failure"] or "wrong-selection"
        broken = faults.get(code) == INFRASTRUCTURE
        errors, failures = errors + broken, failures + (not broken)
        # Some readers show the attribute and some the text.
        entry = ET.SubElement(case, "error" if broken else "failure", message=code, type=code)
        entry.text = f"{code}: {FAILURES.get(code, 'another skill than the expected one was selected')}"
    counts = {"tests": len(rows), "failures": failures, "errors": errors, "skipped": 0}
    suite.attrib.update({key: str(value) for key, value in counts.items()})
    suite.set("time", f"{sum(row['elapsedMs'] for _, row in rows) / 1000:.3f}")


def _time(row: Record) -> str:
    return f"{row['elapsedMs'] / 1000:.3f}"
