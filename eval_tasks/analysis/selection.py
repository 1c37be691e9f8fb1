"""What the probes say about selection: headline accuracy, conformance, confusion and who decided.

Must never mix what is wanted (conformance to exact names and policy) with what is measured (the headline), nor leave a
scheduled probe out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_tasks import intervals
from eval_tasks.analysis.pairs import interval_row
from eval_tasks.analysis.summary import Record, rate, total_usage
from eval_tasks.errors import ExperimentStopped, FailureCode, Fault

HEADLINE = ("paraphrase", "near-miss", "none")
CONFORMANCE = ("exact", "policy")
DECIDERS = ("resolver", "proposal", "explicit", "none", "blocked")
NONE = "none"


@dataclass(frozen=True)
class ProbeOutcome:
    """What became of one scheduled probe.

    Parameters
    ----------
    expected_ids
        The skills that had to be selected, none at all included; `None` where a code had to come.
    expected_code
        The code that had to come, or `None`.
    """

    probe_id: str
    category: str
    half: str
    expected_ids: tuple[str, ...] | None
    expected_code: str | None
    selected_ids: tuple[str, ...]
    shortlist: tuple[str, ...]
    selection: str
    failure: FailureCode | None
    calls: tuple[Record, ...]

    @property
    def passed(self) -> bool:
        if self.expected_code is not None:
            return self.failure == self.expected_code and not self.selected_ids
        return self.failure is None and self.selected_ids == self.expected_ids

    @property
    def infrastructure(self) -> bool:
        return self.failure is not None and self.failure.fault is Fault.INFRASTRUCTURE

    @property
    def reached(self) -> bool:
        """Whether every expected skill was selected or at least on the shortlist."""
        return set(self.expected_ids or ()) <= {*self.selected_ids, *self.shortlist}

    @property
    def expectation(self) -> str:
        return f"code: {self.expected_code}" if self.expected_ids is None else _named(self.expected_ids)

    @property
    def answer(self) -> str:
        return f"code: {self.failure}" if self.failure is not None else _named(self.selected_ids)


def _named(ids: Sequence[str]) -> str:
    return " + ".join(ids) or NONE


def probes_of(design: Record, probes: Mapping[str, Record]) -> tuple[ProbeOutcome, ...]:
    """Return one outcome for each scheduled probe, in the schedule's order.

    Raises
    ------
    ExperimentStopped
        If a scheduled probe has no record, or its record's verdict is not the one that follows from the registration.
    """
    planned = {probe["id"]: probe for probe in design["corpus"]["probes"]}
    return tuple(_probe(planned[probe_id], probes) for probe_id in design["schedule"]["probes"])


def _probe(planned: Record, probes: Mapping[str, Record]) -> ProbeOutcome:
    name = planned["id"]
    record = probes.get(name)
    if record is None:
        raise ExperimentStopped(f"the scheduled probe {name} has no record; run `doit run_eval`")
    expected = planned["expect"].get("selected")
    outcome = ProbeOutcome(
        probe_id=name,
        category=planned["category"],
        half=planned["half"],
        expected_ids=None if expected is None else tuple(sorted(expected)),
        expected_code=planned["expect"].get("code"),
        selected_ids=tuple(sorted(record["selectedIds"])),
        shortlist=tuple(_shortlisted(record["shortlist"])),
        selection=record["selection"],
        failure=None if record["failure"] is None else FailureCode(record["failure"]),
        calls=tuple(record["calls"]),
    )
    if outcome.passed is not record["passed"]:
        raise ExperimentStopped(
            f"the record of probe {name} contradicts its registered expectation; restore probes/{name}.json from a copy"
        )
    return outcome


def _shortlisted(shortlist: Iterable[Any]) -> Iterable[str]:
    return (entry["id"] if isinstance(entry, Mapping) else entry for entry in shortlist)


def selection_row(probe: ProbeOutcome) -> dict[str, Any]:
    """Return one probe as metrics and report carry it."""
    return {
        "id": probe.probe_id,
        "category": probe.category,
        "half": probe.half,
        "expected": probe.expectation,
        "passed": probe.passed,
        "selectedIds": list(probe.selected_ids),
        "shortlist": list(probe.shortlist),
        "selection": probe.selection,
        "failure": None if probe.failure is None else probe.failure.value,
        "calls": len(probe.calls),
        "elapsedMs": sum(call["elapsedMs"] for call in probe.calls),
        "usage": total_usage(probe.calls),
    }


def summarize(probes: Sequence[ProbeOutcome], evidence: str) -> dict[str, Any]:
    """Return the selection summary.

    The headline is the accuracy over paraphrases, near misses and probes that need nothing, with its Wilson interval.
    In a rehearsal a scripted proposal answers, so that the same count only says whether the shortlist could have led
    there: it is called shortlist recall.
    """
    headline = [probe for probe in probes if probe.category in HEADLINE]
    return {
        "label": "shortlist recall" if evidence == "rehearsal" else "selection accuracy",
        "probes": len(probes),
        "headline": accuracy(headline),
        "conformance": [
            {"category": name, **tally([probe for probe in probes if probe.category == name])} for name in CONFORMANCE
        ],
        "byCategory": [_category_row(name, group) for name, group in _groups(probes, lambda probe: probe.category)],
        "byHalf": [
            {"half": half, "tuned": half == "tune", **accuracy(group)}
            for half, group in _groups(headline, lambda probe: probe.half)
        ],
        "reach": _reach(headline),
        "abstention": _abstention(headline),
        "decidedBy": _decided_by(probes),
        "confusion": _confusion(probes),
        "infrastructure": sum(probe.infrastructure for probe in probes),
        "cost": _cost(probes),
    }


def _groups(probes: Sequence[ProbeOutcome], key: Callable[[ProbeOutcome], str]) -> list[tuple[str, list[ProbeOutcome]]]:
    found: dict[str, list[ProbeOutcome]] = {}
    for probe in probes:
        found.setdefault(key(probe), []).append(probe)
    return list(found.items())


def tally(probes: Sequence[ProbeOutcome]) -> dict[str, int]:
    """Return how many of some probes passed."""
    return {"passed": sum(probe.passed for probe in probes), "n": len(probes)}


def accuracy(probes: Sequence[ProbeOutcome]) -> dict[str, Any]:
    """Return the share of some probes that passed with its 95 % Wilson interval, `None` of nothing."""
    counts = tally(probes)
    passed, n = counts["passed"], counts["n"]
    interval = interval_row(intervals.wilson(passed, n)) if n else None
    return {**counts, "rate": rate(passed, n), "method": "wilson-95", "interval": interval}


def _category_row(category: str, probes: Sequence[ProbeOutcome]) -> dict[str, Any]:
    selected = [probe for probe in probes if probe.selected_ids]
    wanted = [probe for probe in probes if probe.expected_ids]
    right = [probe for probe in selected if probe.passed]
    return {
        "category": category,
        "headline": category in HEADLINE,
        **accuracy(probes),
        "precision": {"right": len(right), "selected": len(selected), "rate": rate(len(right), len(selected))},
        "recall": {"right": len(right), "wanted": len(wanted), "rate": rate(len(right), len(wanted))},
        "abstained": len(probes) - len(selected),
    }


def _reach(probes: Sequence[ProbeOutcome]) -> dict[str, Any]:
    wanted = [probe for probe in probes if probe.expected_ids]
    reached = sum(probe.reached for probe in wanted)
    return {"reached": reached, "wanted": len(wanted), "rate": rate(reached, len(wanted))}


def _abstention(probes: Sequence[ProbeOutcome]) -> dict[str, int]:
    needless = [probe for probe in probes if probe.expected_ids == ()]
    wanted = [probe for probe in probes if probe.expected_ids]
    return {
        "rightly": sum(probe.passed for probe in needless),
        "needless": len(needless),
        "wrongly": sum(not probe.selected_ids for probe in wanted),
        "wanted": len(wanted),
    }


def _decided_by(probes: Sequence[ProbeOutcome]) -> list[dict[str, Any]]:
    return [{"by": by, **tally([probe for probe in probes if probe.selection == by])} for by in DECIDERS]


def _confusion(probes: Sequence[ProbeOutcome]) -> list[dict[str, Any]]:
    """Return the filled cells of the matrix of expectations and answers, the most frequent first."""
    counts = Counter((probe.expectation, probe.answer) for probe in probes)
    cells = sorted(counts.items(), key=lambda cell: (-cell[1], cell[0]))
    return [{"expected": expected, "answer": answer, "probes": count} for (expected, answer), count in cells]


def _cost(probes: Sequence[ProbeOutcome]) -> dict[str, Any]:
    calls = [call for probe in probes for call in probe.calls]
    elapsed = sum(call["elapsedMs"] for call in calls)
    return {
        "calls": len(calls),
        "callsWithUsage": sum(call["usage"] is not None for call in calls),
        "usage": total_usage([call for call in calls if call["usage"] is not None]),
        "elapsedMs": elapsed,
        "callsPerProbe": rate(len(calls), len(probes)),
        "elapsedMsPerProbe": rate(elapsed, len(probes)),
    }
