"""Deterministic registrations and records for the tests of analysis and report; no agent ever made them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_tasks.analysis import pairs, summary
from eval_tasks.arms import ARMS as EVERY
from eval_tasks.arms import DEFAULT as ARMS
from eval_tasks.arms import Selecting, comparisons, installs

CATEGORIES = ("api", "testing", "security", "plain")
SKILLS = ("api-design", "tdd-workflow", "security-review", None)

Fate = Callable[[int, str, int], str | None]
"""From the case's number, the arm and the repeat to a failure code, or `None` for a pass."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def number(text: str, below: int) -> int:
    """A pseudo-random number that is the same everywhere and always."""
    return int(digest(text)[:12], 16) % below


def everything_passes(case: int, arm: str, repeat: int) -> str | None:
    return None


def mixed_fate(case: int, arm: str, repeat: int) -> str | None:
    """About one failure in eight and a rare infrastructure code, the same wherever it is asked."""
    roll = number(f"{case}/{arm}/{repeat}", 100)
    codes = {0: "rate-limited", 1: "call-timeout", 2: "agent-failed"}
    return codes.get(roll, "hidden-check" if roll < 12 else None)


def fates(codes: dict[tuple[int, str], str]) -> Fate:
    """These codes by case number and arm, in every repeat; everything else passes."""
    return lambda case, arm, repeat: codes.get((case, arm))


@dataclass(frozen=True)
class Records:
    registration: dict[str, Any]
    inventories: dict[str, dict[str, Any]]
    arm_runs: dict[str, dict[str, Any]]
    grades: dict[str, dict[str, Any]]
    probes: dict[str, dict[str, Any]]
    journal_totals: dict[str, Any]
    sources: dict[str, str] = field(default_factory=lambda: {"eval_tasks/stages/analyze.py": digest("analyze")})

    def arguments(self) -> tuple[Any, ...]:
        return (self.registration, self.inventories, self.arm_runs, self.grades, self.probes, self.journal_totals)


def outcomes_of(records: Records) -> tuple[summary.Outcome, ...]:
    return summary.outcomes_of(records.registration["design"], records.arm_runs, records.grades)


def compared(records: Records, arm: str = "auto-lean") -> dict[str, Any]:
    plan = pairs.AnalysisPlan.of(records.registration["design"])
    return pairs.compare(outcomes_of(records), arm, "full", plan)


def case_id(index: int) -> str:
    return f"case-{index:04d}"


def make(  # noqa: PLR0917
    cases: int = 30,
    probes: int = 32,
    repeats: int = 1,
    evidence: str = "live",
    fate: Fate = everything_passes,
    usage_unknown: Callable[[int, str], bool] = lambda case, arm: False,
    margin_points: float = 5,
    probe_passes: Callable[[int], bool] = lambda index: True,
    arms: Sequence[str] = ARMS,
) -> Records:
    planned = [_probe_plan(index) for index in range(probes)]
    registration = _registration(cases, planned, repeats, evidence, margin_points, arms)
    runs: dict[str, dict[str, Any]] = {}
    grades: dict[str, dict[str, Any]] = {}
    for trial in registration["design"]["schedule"]["trials"]:
        index = int(trial["caseId"].split("-")[1])
        name = f"{trial['caseId']}.{trial['arm']}.r{trial['repeat']}"
        code = fate(index, trial["arm"], trial["repeat"])
        runs[name] = _arm_run(trial, index, code, usage_unknown(index, trial["arm"]))
        if runs[name]["failure"] is None:
            grades[name] = _grade(trial, code)
    records = {plan["id"]: _probe(plan, probe_passes(index)) for index, plan in enumerate(planned)}
    calls = sum(len(record["calls"]) for record in [*runs.values(), *records.values()])
    totals = {
        "calls": calls,
        "elapsedMs": 30_000 * calls,
        "sessions": 1,
        "journalDigest": digest("journal"),
        "recordsDigest": digest("records"),
    }
    return Records(registration, _inventories(arms), runs, grades, records, totals)


_PINNED = {
    "source": {"git": "a checkout", "commit": "ab" * 20, "skills": "skills"},
    "digest": digest("pinned library"),
    "skills": {skill: digest(f"old {skill}") for skill in SKILLS if skill},
}


def _further_profiles(arms: Sequence[str]) -> dict[str, Any]:
    skills: dict[str, list[str]] = {"baseline": [], "pinned": [skill for skill in SKILLS if skill]}
    return {
        name: {"id": f"{name}@1", "skills": planned, "digest": digest(name)}
        for name, planned in skills.items()
        if name in arms
    }


def _registration(  # noqa: PLR0917
    cases: int, probes: list[dict[str, Any]], repeats: int, evidence: str, margin_points: float, arms: Sequence[str]
) -> dict[str, Any]:
    rehearsal = {"default": "oracle"} if evidence == "rehearsal" else None
    design = {
        "name": "pilot",
        "evidence": evidence,
        "corpus": {
            "id": "coding-pilot@1",
            "sampling": "Purposive; fixed before any call; every case has equal weight; no population claim.",
            "digest": digest("corpus"),
            "files": {"corpus.yaml": digest("corpus.yaml")},
            "proof": digest("proof"),
            "cases": [
                {
                    "id": case_id(index),
                    "category": CATEGORIES[index % 4],
                    "skill": SKILLS[index % 4],
                    "vocabulary": "plain",
                    "hastyFails": True,
                    "digest": digest(f"case {index}"),
                    "graderDigest": digest(f"grader {index}"),
                }
                for index in range(cases)
            ],
            "probes": probes,
        },
        "library": {
            "source": {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"},
            "digest": digest("library"),
            "skills": {skill: digest(skill) for skill in SKILLS if skill},
        },
        "pinned": _PINNED if "pinned" in arms else None,
        "profiles": {
            "full": {"id": "full@1", "skills": [skill for skill in SKILLS if skill], "digest": digest("full")},
            "lean": {"id": "lean@1", "skills": ["configure-ecc"], "digest": digest("lean")},
            **_further_profiles(arms),
        },
        "arms": list(arms),
        "repeats": repeats,
        "agent": {
            "kind": "codex",
            "version": "0.155.1",
            "fingerprint": digest("codex"),
            "backend": "rehearsal" if rehearsal else "codex",
            "model": "gpt-5.5",
            "effort": None,
        },
        "authentication": "none" if rehearsal else "login-home",
        "isolation": "sealed",
        "selector": "reference-bm25@0123456789ab",
        "rehearsal": rehearsal,
        "jobs": 1,
        "limits": {
            "calls": 300,
            "deadlineSeconds": 3600,
            "callSeconds": 300,
            "proposalSeconds": 30,
            "stopAfterInfrastructure": 3,
            "expectedCallSeconds": 60,
        },
        "analysis": {
            "primary": "hoeffding-bonferroni",
            "additional": ["optimized-betting"],
            "familywiseAlpha": 0.05,
            "marginPoints": margin_points,
            "minimumCases": 30,
            "minimumProbes": 30,
            "estimand": "Mean over the registered cases of the difference in expected pass probability.",
            "comparisons": comparisons(arms),
        },
        "schedule": {
            "trials": [
                {"caseId": case_id(index), "arm": arms[(index + repeat + turn) % len(arms)], "repeat": repeat}
                for index in range(cases)
                for repeat in range(1, repeats + 1)
                for turn in range(len(arms))
            ],
            "probes": [probe["id"] for probe in probes],
        },
        "sources": {
            "execution": {"eval_tasks/stages/run_arm.py": digest("run_arm")},
            "analysis": {"eval_tasks/stages/analyze.py": digest("analyze")},
        },
        "runtime": {
            "python": "3.11.7",
            "node": "v20.20.0",
            "nodeFingerprint": digest("node"),
            "dependencies": {"jinja2": "3.1.6", "scipy": "1.17.1"},
        },
        "overrides": {},
        "acceptedShortfall": False,
        "resumePolicy": "Completed outcomes are never repeated; an interrupted trial is counted as interrupted.",
    }
    attempt = {"number": 1, "reason": "first", "date": "2026-12-01", "commit": None}
    return {"schemaVersion": "context-eval.registration.v1", "design": design, "attempt": attempt}


def _usage(text: str, size: int) -> dict[str, int]:
    inputs = size + number(text, 2_000)
    return {
        "inputTokens": inputs,
        "cachedInputTokens": inputs // 2,
        "outputTokens": 200 + number(f"{text} out", 900),
    }


def _call(name: str, phase: str, size: int, unknown: bool = False, opened: list[str] | None = None) -> dict[str, Any]:
    return {
        "callId": digest(f"{name} {phase}")[:16],
        "phase": phase,
        "elapsedMs": 4_000 + number(f"{name} {phase} ms", 40_000),
        "usage": None if unknown else _usage(name, size),
        "transientErrors": 0,
        "commands": 0 if phase == "proposal" else 3 + number(name, 5),
        "failedCommands": number(name, 2),
        "openedSkills": opened or [],
        "unknownOpens": 0,
        "contained": {"quiescent": True, "wallHonoured": True, "level": "sealed"},
    }


def _arm_run(trial: dict[str, Any], index: int, code: str | None, unknown: bool) -> dict[str, Any]:
    name, arm, skill = f"{trial['caseId']}.{trial['arm']}.r{trial['repeat']}", trial["arm"], SKILLS[index % 4]
    failure = None if code in (None, "hidden-check", "grading-failed") else code
    native = EVERY[arm].selecting is Selecting.NOTHING
    opened = [skill] if EVERY[arm].install == "full" and skill and number(name, 3) else []
    calls = [_call(name, "task", 14_000 if native else 6_000, unknown or failure is not None, opened)]
    if arm == "auto-lean" and skill:
        calls.insert(0, _call(name, "proposal", 2_000))
    chosen = [] if native or skill is None else [skill]
    selection = "none" if not chosen else ("proposal" if arm == "auto-lean" else "explicit")
    return {
        "schemaVersion": "context-eval.arm-run.v1",
        "registration": "0" * 64,
        **trial,
        "failure": failure,
        "limit": "call" if failure == "call-timeout" else None,
        "selectedIds": chosen,
        "selection": selection,
        "calls": calls,
        "submissionDigest": None if failure else digest(name),
        "contextBytes": 4_096 if chosen else 0,
    }


def _grade(trial: dict[str, Any], code: str | None) -> dict[str, Any]:
    name = f"{trial['caseId']}.{trial['arm']}.r{trial['repeat']}"
    return {
        "schemaVersion": "context-eval.grade.v1",
        "registration": "0" * 64,
        **trial,
        "passed": code is None,
        "failure": code,
        "checks": 5,
        "graderDigest": digest(f"grader {int(trial['caseId'].split('-')[1])}"),
        "submissionDigest": digest(name),
        "elapsedMs": 180,
    }


_EXPECTATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("paraphrase", {"selected": ["api-design"]}),
    ("near-miss", {"selected": ["tdd-workflow"]}),
    ("none", {"selected": []}),
    ("exact", {"selected": ["security-review"]}),
    ("policy", {"code": "excluded"}),
)


def _probe_plan(index: int) -> dict[str, Any]:
    category, expect = _EXPECTATIONS[index % len(_EXPECTATIONS)]
    half = "tune" if index % 2 else "held"
    return {
        "id": f"probe-{index:03d}",
        "category": category,
        "half": half,
        "expect": expect,
        "digest": digest(f"p{index}"),
    }


def _probe(plan: dict[str, Any], passes: bool) -> dict[str, Any]:
    expected = plan["expect"]
    chosen = list(expected.get("selected", [])) if passes else ["configure-ecc"]
    code = expected.get("code") if passes else None
    proposed = plan["category"] in ("paraphrase", "near-miss")
    return {
        "schemaVersion": "context-eval.probe.v1",
        "registration": "0" * 64,
        "id": plan["id"],
        "passed": passes,
        "selectedIds": chosen,
        "shortlist": [*expected.get("selected", []), "configure-ecc"] if proposed else [],
        "selection": "blocked" if code else "proposal" if proposed else "explicit" if chosen else "none",
        "failure": code,
        "limit": None,
        "calls": [_call(plan["id"], "proposal", 2_000)] if proposed else [],
    }


def _inventories(arms: Sequence[str]) -> dict[str, dict[str, Any]]:
    def inventory(install: str, listed: list[str], size: int, shortened: list[str]) -> dict[str, Any]:
        return {
            "schemaVersion": "context-eval.inventory.v1",
            "registration": "0" * 64,
            "install": install,
            "digest": digest(install),
            "files": {"config.toml": digest("config")},
            "listed": listed,
            "systemSkills": {"imagegen": digest("imagegen")},
            "differences": ["no web search"],
            "exposure": {
                "installed": len(listed),
                "listed": len(listed),
                "shortened": len(shortened),
                "dropped": 0,
                "startupContextBytes": size,
                "shortenedIds": shortened,
                "droppedIds": [],
            },
        }

    every = {
        "full": inventory("full", [skill for skill in SKILLS if skill], 41_000, ["api-design"]),
        "lean": inventory("lean", ["configure-ecc"], 9_000, []),
        "baseline": inventory("baseline", [], 6_000, []),
        "pinned": inventory("pinned", [skill for skill in SKILLS if skill], 40_000, []),
    }
    return {name: every[name] for name in installs(arms, probes=True)}
