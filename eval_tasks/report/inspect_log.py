"""One Inspect AI log an arm, metrics only, for the viewer that people already have.

Must never hold a prompt, a message or an output: a sample is a name, a score, tokens and time.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from eval_tasks.report import words

Record = Mapping[str, Any]

LOG_VERSION = 2
SCORER = "hidden-grader"

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip can hold, so that equal metrics give equal bytes."""


def inspect_logs(metrics: Record) -> dict[str, bytes]:
    """Return one `.eval` log for each arm by file name.

    Every trial is scored, `C` for a pass and `I` otherwise: Inspect leaves a sample with an error out of its count,
    so that an infrastructure failure is named in the sample's metadata instead.
    """
    faults = {row["code"]: row["fault"] for row in metrics["summary"]["failures"]}
    return {f"inspect-{arm}.eval": _log(metrics, arm, faults) for arm in metrics["registration"]["arms"]}


def _log(metrics: Record, arm: str, faults: Mapping[str, str]) -> bytes:
    outcomes = [outcome for outcome in metrics["outcomes"] if outcome["arm"] == arm]
    model = metrics["registration"]["agent"]["model"] or "unknown"
    samples = [_sample(outcome, model, faults) for outcome in outcomes]
    files = {"header.json": _header(metrics, arm, outcomes), "summaries.json": [_brief(sample) for sample in samples]}
    for sample in samples:
        files[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    stream = io.BytesIO()
    # Stored, not deflated: thousands of small files cost more to compress than they save.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _ENCODER.encode(content))
    return stream.getvalue()


def _header(metrics: Record, arm: str, outcomes: Sequence[Record]) -> dict[str, Any]:
    started = _registered(metrics["registration"])
    ended = started + timedelta(milliseconds=sum(outcome["elapsedMs"] for outcome in outcomes))
    rate = next(row["rate"] for row in metrics["summary"]["rates"] if row["arm"] == arm)
    accuracy = {"accuracy": {"name": "accuracy", "value": 0.0 if rate is None else rate}}
    return {
        "version": LOG_VERSION,
        "status": "success",
        "eval": _eval(metrics, arm, list(dict.fromkeys(outcome["caseId"] for outcome in outcomes)), started),
        "plan": {},
        "results": {
            "total_samples": len(outcomes),
            "completed_samples": len(outcomes),
            "scores": [{"name": SCORER, "scorer": SCORER, "metrics": accuracy}],
        },
        "stats": {"started_at": started.isoformat(), "completed_at": ended.isoformat()},
    }


def _eval(metrics: Record, arm: str, cases: Sequence[str], started: datetime) -> dict[str, Any]:
    registration = metrics["registration"]
    run = f"{registration['name']}-{registration['id']}"
    return {
        # Without an id of its own Inspect would give the log another one at each reading.
        "eval_id": f"{run}-{arm}",
        "run_id": run,
        "task_id": arm,
        "created": started.isoformat(),
        "task": f"{registration['name']}/{arm}",
        "model": registration["agent"]["model"] or "unknown",
        "dataset": {"name": registration["corpus"]["id"], "samples": len(cases), "sample_ids": list(cases)},
        "config": {"epochs": registration["repeats"]},
        "metadata": {
            "registration": registration["digest"],
            "evidence": metrics["evidence"],
            "gate": metrics["gate"]["status"],
        },
    }


def _registered(registration: Record) -> datetime:
    """Return the day of the registration: the only date that the metrics hold, so that the log is reproducible."""
    day = registration["attempt"]["date"]
    return datetime.fromisoformat(day).replace(tzinfo=UTC) if day else datetime(*_EPOCH, tzinfo=UTC)


def _sample(outcome: Record, model: str, faults: Mapping[str, str]) -> dict[str, Any]:
    failure = outcome["failure"]
    sample: dict[str, Any] = {
        "id": outcome["caseId"],
        "epoch": outcome["repeat"],
        "input": f"{outcome['caseId']} ({outcome['category']})",
        "target": "the hidden grader passes",
        "total_time": outcome["elapsedMs"] / 1000,
        "metadata": {
            "arm": outcome["arm"],
            "category": outcome["category"],
            "selected_skill_ids": outcome["selectedIds"],
            "opened_skill_ids": outcome["openedSkills"],
            "failure_code": failure,
            "fault": None if failure is None else faults[failure],
            "calls": outcome["calls"],
        },
    }
    if outcome["usage"] is not None:
        sample["model_usage"] = {model: _usage(outcome["usage"])}
    explanation = "passed" if failure is None else f"{failure}: {words.FAILURES[failure]}"
    sample["scores"] = {SCORER: {"value": "C" if outcome["passed"] else "I", "explanation": explanation}}
    return sample


def _usage(usage: Record) -> dict[str, int]:
    """Return the tokens in Inspect's way, whose input leaves out what came from the cache."""
    cached = usage["cachedInputTokens"]
    return {
        "input_tokens": usage["inputTokens"] - cached,
        "input_tokens_cache_read": cached,
        "output_tokens": usage["outputTokens"],
        "total_tokens": usage["inputTokens"] + usage["outputTokens"],
    }


def _brief(sample: Record) -> dict[str, Any]:
    brief = {key: sample[key] for key in ("id", "epoch", "input", "target", "total_time", "metadata", "scores")}
    if "model_usage" in sample:
        brief["model_usage"] = sample["model_usage"]
    return {**brief, "completed": True}
