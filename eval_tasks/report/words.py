"""The sentences of the report: verdict, reasons and limits in plain words.

Must never say more than the gate does, nor call a claim that is not supported a claim that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval_tasks.arms import ARMS
from eval_tasks.report.numbers import interval, number, percent, points, whole

Record = Mapping[str, Any]

METHODS = {
    "hoeffding-bonferroni": "Hoeffding\N{EN DASH}Bonferroni",
    "optimized-betting": "optimized betting",
}

MEASURES = {
    "inputTokens": "Input tokens",
    "cachedInputTokens": "\N{EN DASH} of which cached",
    "uncachedInputTokens": "\N{EN DASH} of which not cached",
    "outputTokens": "Output tokens",
    "elapsedMs": "Wall time",
    "calls": "Calls",
}

REASONS = {
    "synthetic-only": "the model was scripted, so that nothing is claimed about any model",
    "insufficient-cases": "fewer distinct cases than the registered minimum",
    "insufficient-probes": "fewer selection probes than the registered minimum",
    "no-claim": "no claim is about this arm",
    "interval-reaches-margin": "the interval reaches below the margin",
    "below-margin": "the whole interval lies below the margin",
    "floor": "nothing passed in either arm, so that the cases can't tell the arms apart",
    "ceiling": "everything passed in both arms, so that the cases can't tell the arms apart",
    "arm-asymmetry": "one arm has so many more infrastructure failures that they alone could move the estimate by more "
    "than the margin",
    "infrastructure": "more than a tenth of an arm's trials ended in an infrastructure failure",
}
"""A phrase for each reason of the gate."""

FAILURES = {
    "hidden-check": "the hidden grader found the solution wrong",
    "grader-planted": "the submission held a file under the grader's reserved name",
    "grading-failed": "the grader could not be run",
    "call-budget": "the registered number of calls was used up",
    "deadline": "the registered overall time was used up",
    "call-timeout": "the call took longer than its limit",
    "agent-failed": "the agent ended without a completed turn",
    "rate-limited": "the provider refused for too many requests",
    "authentication": "the credential was refused",
    "output-limit": "the agent wrote more than the limit",
    "invalid-stream": "the agent's events could not be read",
    "sandbox-unavailable": "every command failed because the sandbox could not start",
    "source-drift": "a bound source changed during the run",
    "environment-drift": "the install changed during the call",
    "interrupted": "the evaluator was stopped during the call",
    "abandoned": "the user settled the experiment before this trial ran",
    "selector-failed": "the registered selector's command failed or did not answer by its contract",
    "proposal-invalid": "the agent's proposal was not one of the allowed answers",
    "excluded": "the policy excludes the skill",
    "native-authority": "the skill asks for authority of its own",
    "manual-only": "the skill may only be chosen by a person",
    "opt-out-conflict": "a skill was asked for and refused at once",
    "unknown-id": "the library has no such skill",
    "context-budget": "the skill with what it needs is larger than the context allows",
    "usage-unknown": "the agent reported no usable token counts",
}
"""A phrase for each failure code, and for the one other way to lose a pair."""

BESIDE = {
    "baseline": "No claim is about it: it shows what the library as a whole does for these cases.",
    "pinned": "No claim is about it: it shows what another version of the library does for these cases.",
    "a-a": "No claim is about it: both arms are Full, so that whatever differs here is noise.",
}
"""What an arm is compared for that the claim is not about."""

USUAL_MARGIN = 5


def arm(name: str) -> str:
    """Return an arm's name for people."""
    return ARMS[name].title


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> plural(1, "loss", "losses"), plural(30, "case")
    ('1 loss', '30 cases')
    """
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def verdict(metrics: Record) -> dict[str, Any]:
    """Return the verdict: a headline, what was run, each comparison in sentences, and what else has to be said."""
    needed = metrics["planning"]["pairs"]
    return {
        "headline": _headline(metrics),
        "sample": _sample(metrics),
        "comparisons": [
            _comparison(metrics["evidence"], comparison, needs)
            for comparison, needs in zip(metrics["summary"]["pairs"], needed, strict=True)
        ],
        "notes": [_selection(metrics), _claim(metrics)],
    }


def sentences(said: Record) -> list[str]:
    """Return every sentence of a verdict in reading order, the headline apart."""
    return [said["sample"], *(text for row in said["comparisons"] for text in row["sentences"]), *said["notes"]]


def _comparison(evidence: str, comparison: Record, needs: Record) -> dict[str, Any]:
    found = [_result(comparison)]
    if not comparison["claimed"]:
        found.append(BESIDE[comparison["arm"]])
    elif evidence == "live":
        found.append(_support(comparison))
        if not comparison["supported"]:
            found.append(_take(comparison, needs))
    return {"arm": comparison["arm"], "reference": comparison["reference"], "sentences": found}


def _headline(metrics: Record) -> str:
    status = metrics["gate"]["status"]
    if status == "synthetic-only":
        return "Rehearsal: the model is scripted, so nothing is claimed about any model."
    if status == "insufficient-sample":
        return "The sample is smaller than registered as the minimum, so this run can't judge Lean against Full."
    claimed = [row for row in metrics["summary"]["pairs"] if row["claimed"]]
    if not claimed:
        return "No Lean arm was compared, so this run can't judge Lean against Full."
    return _judgement(claimed, supported=metrics["gate"]["nonInferioritySupported"])


def _judgement(claimed: Sequence[Record], *, supported: bool) -> str:
    """Say what the gate makes of the comparisons that the claim is about."""
    first = claimed[0]
    name, reference = arm(first["arm"]), arm(first["reference"])
    margin = f"{number(first['marginPoints'])} points"
    cases = plural(first["cases"], "registered case")
    if supported:
        names = " and ".join(arm(row["arm"]) for row in claimed)
        return (
            f"On these {cases}, {names} {'do' if ' and ' in names else 'does'} as well as {reference}, within {margin}."
        )
    if first["supported"]:
        return f"On these {cases}, {name} does as well as {reference}, within {margin}; not every Lean arm is shown to."
    if first["excludes"] and not first["vetoes"]:
        return f"On these {cases}, {name} does worse than {reference} by more than {margin}."
    return f"This run can't say that {name} does as well as {reference}, within {margin}."


def _sample(metrics: Record) -> str:
    summary = metrics["summary"]
    text = (
        f"{plural(summary['distinctCases'], 'distinct case')}, {plural(summary['repeats'], 'repeat')} in each of "
        f"{plural(len(metrics['registration']['arms']), 'arm')}; every one of the {whole(summary['trials'])} scheduled "
        "trials counts, whatever became of it."
    )
    if metrics["evidence"] == "rehearsal":
        text += (
            " The agent, sandbox, skill library and graders were real; a script answered in the model's place, so that "
            "passes and failures are the script's."
        )
    return text


def _result(comparison: Record) -> str:
    ties = comparison["ties"]["cases"]
    return (
        f"{arm(comparison['arm'])} minus {arm(comparison['reference'])}: {points(comparison['delta'])} points "
        f"({plural(len(comparison['losses']), 'loss', 'losses')}, {plural(len(comparison['wins']), 'win')}, "
        f"{plural(ties, 'tie')} in {plural(comparison['cases'], 'case')}); "
        f"{METHODS[comparison['method']]} interval {interval(comparison['interval'], comparison['marginPoints'])}, "
        + ", ".join(
            f"{METHODS[row['method']]} interval {interval(row['interval'], comparison['marginPoints'])}"
            for row in comparison["additional"]
        )
        + "."
    )


def _support(comparison: Record) -> str:
    name, reference = arm(comparison["arm"]), arm(comparison["reference"])
    margin = f"{number(comparison['marginPoints'])}-point margin"
    if comparison["marginPoints"] != USUAL_MARGIN:
        margin += f" (registered; the usual one is {USUAL_MARGIN})"
    if comparison["supported"]:
        text = f"Supported: {name} is noninferior to {reference} at the {margin} by the registered primary method."
    elif comparison["reasons"] == ["below-margin"]:
        text = f"Not supported: by the primary method {name} falls short of {reference} by more than the {margin}."
    else:
        reasons = "; ".join(REASONS[reason] for reason in comparison["reasons"])
        text = (
            f"Not supported that {name} is noninferior to {reference} at the {margin}: {reasons}. "
            "\N{LEFT DOUBLE QUOTATION MARK}Not supported\N{RIGHT DOUBLE QUOTATION MARK} is not evidence of inferiority."
        )
    for row in comparison["additional"]:
        if row["supported"] != comparison["supported"]:
            verb = "supports" if row["supported"] else "does not support"
            text += f" The additional method, {METHODS[row['method']]}, {verb} it; the gate follows the primary one."
    return text


def _take(comparison: Record, needs: Record) -> str:
    """Say what it would take: on this corpus, and as a next corpus sized by the observed spread."""
    same = [
        f"{plural(row['wins'], 'win')} by {METHODS[row['method']]}"
        if row["wins"] is not None
        else f"no number of wins by {METHODS[row['method']]}"
        for row in needs["sameCorpus"]
    ]
    text = "What it would take: "
    if comparison["repeats"] == 1:
        losses = plural(len(comparison["losses"]), "loss", "losses")
        text += f"on these {plural(comparison['cases'], 'case')}, with {losses}, {' or '.join(same)}; or "
    planned = next(row for row in needs["nextCorpus"] if row["limit"] == 0.8)
    sizes = [
        f"{plural(row['cases'], 'case')} ({plural(row['calls'], 'call')}) by {METHODS[row['method']]}"
        if row["cases"] is not None
        else f"out of reach by {METHODS[row['method']]}"
        for row in planned["sizes"]
    ]
    return text + (
        f"a new corpus of {' or '.join(sizes)}, for 80% power if the arms do equally well and at most "
        f"{percent(planned['discordance'])} of cases differ (the 80% upper limit of the observed spread)."
    )


def _selection(metrics: Record) -> str:
    summary = metrics["selectionSummary"]
    headline = summary["headline"]
    label = summary["label"].capitalize()
    if not headline["n"]:
        return f"{label}: no probe was scheduled."
    ends = headline["interval"]
    text = (
        f"{label} over paraphrases, near misses and probes that need no skill: {headline['passed']} of "
        f"{headline['n']} ({percent(headline['rate'])}; descriptive 95% Wilson interval {percent(ends['low'])} to "
        f"{percent(ends['high'])})."
    )
    if metrics["registration"]["selector"].startswith("reference-bm25"):
        text += " With this project's reference selector; no evidence about ECC's own resolver."
    else:
        text += f" With the registered selector {metrics['registration']['selector']}, of which the claim speaks."
    return text


def _claim(metrics: Record) -> str:
    if metrics["evidence"] == "rehearsal":
        return "A rehearsal shows that the measuring path works; it never says anything about a model or a release."
    return (
        "Valid for these fixed cases, this model and this harness: the cases were chosen, not sampled. This report "
        "never approves a release; a person has to."
    )


def why(metrics: Record) -> list[str]:
    """Return the reasons that led to the gate's status, as phrases."""
    reasons = metrics["gate"]["reasons"]
    if metrics["gate"]["status"] == "synthetic-only":
        reasons = ["synthetic-only"]
    elif metrics["gate"]["status"] == "insufficient-sample":
        reasons = [reason for reason in reasons if reason.startswith("insufficient-")]
    return [REASONS[reason] for reason in reasons]


def limits(metrics: Record) -> list[str]:
    """Return what the reader must not conclude, one sentence each."""
    corpus = metrics["registration"]["corpus"]
    found = [
        f"Sampling: {corpus['sampling']}",
        f"Estimand: {metrics['registration']['analysis']['estimand']}",
        "Both intervals assume that outcomes of different cases are independent given the model; both hold at a fixed "
        "number of cases only, so that no look before the end may decide.",
        "Repeats are averaged within a case first; they never make a new case.",
        "Wilson intervals of selection and the ratios of costs are descriptive and decide nothing.",
        "Full is every skill of the bound library installed natively, as the agent itself truncates and lists them; it "
        "is not what ECC's own installer would leave in an everyday home.",
    ]
    if any(row["tuned"] and row["n"] for row in metrics["selectionSummary"]["byHalf"]):
        found.append("The probes of the half called tune were used to set the selector's thresholds.")
    if metrics["evidence"] == "rehearsal":
        found.append("Passes, failures, tokens and times come from a script: none of them is a measurement of a model.")
    return found
