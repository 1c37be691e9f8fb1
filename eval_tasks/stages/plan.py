"""The stage `plan`: what a design could show at best and what it would cost, before anything is spent.

Must never call an agent, write a file, or size a corpus with a pilot's mean difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval_tasks.analysis import gate, planning
from eval_tasks.analysis.pairs import BETTING, PRIMARY, AnalysisPlan
from eval_tasks.report import words
from eval_tasks.report.numbers import needed, number, p_value, percent, points, share, whole

Record = Mapping[str, Any]

HARD_CALLS = 2000
HARD_SECONDS = 4 * 3600
"""The schema maxima, which no option can lift."""

EFFECTS = (-0.02, 0.0, 0.02)

SHORT = {PRIMARY: "Hoeffding", BETTING: "betting"}
"""The methods' names where a column is narrow."""


def plan(design: Record, pilot_metrics: Record | None = None) -> str:
    """Return the plan as text.

    Parameters
    ----------
    design
        The `design` of a registration, or of one that would be made.
    pilot_metrics
        The metrics of a finished experiment, whose spread sizes the next corpus and whose means forecast time and
        tokens.
    """
    analysis = AnalysisPlan.of(design)
    parts = [
        _design(design, analysis),
        _at_best(design, analysis),
        _sizes(analysis),
        _forecast(design, pilot_metrics),
    ]
    if pilot_metrics is not None:
        parts.append(_next_corpus(pilot_metrics))
    return "\n\n".join(parts) + "\n"


def cases_of(design: Record) -> int:
    """Return the number of distinct cases that are scheduled."""
    return len({trial["caseId"] for trial in design["schedule"]["trials"]})


def _design(design: Record, analysis: AnalysisPlan) -> str:
    probes = len(design["schedule"]["probes"])
    methods = ", ".join(words.METHODS[name] for name in (PRIMARY, *analysis.additional))
    return (
        f"Design: {words.plural(cases_of(design), 'case')}, {words.plural(design['repeats'], 'repeat')}, "
        f"{words.plural(len(design['arms']), 'arm')}, {words.plural(probes, 'probe')}; evidence {design['evidence']}.\n"
        f"Claim: the lower end lies above {points(-analysis.margin)} points, with error probability "
        f"{number(analysis.alpha_per_side)} a side and comparison. Methods: {methods}."
    )


def _at_best(design: Record, analysis: AnalysisPlan) -> str:
    n = cases_of(design)
    sample = gate.sample_reasons(design)
    lines = [
        f"What it could show at best: {_reachable(sample)}.",
        f"If every case tied, p would be {p_value((1 - analysis.margin) ** n)} by optimized betting: with a chance of "
        f"{share(analysis.margin)} that a case is lost, no loss would show that often.",
    ]
    rows = [
        [whole(row["losses"]), *(needed(found["wins"]) for found in row["wins"])]
        for row in planning.reachability(n, analysis)
    ]
    title = "Fewest wins that could support the claim, ties otherwise (one repeat):"
    return "\n".join([*lines, title, table(["losses", *_methods()], rows)])


def _reachable(sample: Sequence[str]) -> str:
    if not sample:
        return "the gate would say review-required; support as below"
    status = gate.SYNTHETIC if "synthetic-only" in sample else gate.INSUFFICIENT
    reasons = "; ".join(words.REASONS[reason] for reason in sample)
    return f"the gate would say {status} and support nothing ({reasons})"


def _methods() -> list[str]:
    return [SHORT[name] for name in planning.METHODS]


def _sizes(analysis: AnalysisPlan) -> str:
    """Return the cases needed, at both powers without an effect and at the lower one with either effect."""
    head = ["cases that differ", *(f"{name}, {share(power)}" for name in _methods() for power in planning.POWERS)]
    even = [
        [share(row["discordance"]), *(needed(size["cases"]) for size in row["sizes"])]
        for row in planning.assumed_sizes(analysis, 0.0, planning.POWERS)
    ]
    titles = ["cases that differ", *(f"{name}, {points(effect)}" for name in _methods() for effect in EFFECTS)]
    return "\n".join(
        [
            "Cases needed if the arms do equally well, by the share of cases in which they differ, with power:",
            table(head, even),
            f"The same at {share(planning.POWERS[0])} power if the Lean arm is truly better by so many points:",
            table(titles, _effect_rows(analysis)),
        ]
    )


def _effect_rows(analysis: AnalysisPlan) -> list[list[str]]:
    targets = [planning.Target.of(analysis, method) for method in planning.METHODS]
    return [
        [
            share(discordance),
            *(
                needed(planning.smallest_n(discordance, target, planning.POWERS[0], effect))
                for target in targets
                for effect in EFFECTS
            ),
        ]
        for discordance in planning.DISCORDANCES
        if discordance >= max(EFFECTS)
    ]


def _forecast(design: Record, pilot: Record | None) -> str:
    size, limits = planning.CallSize.of(design), design["limits"]
    calls = size.calls(cases_of(design))
    each = _seconds_per_call(pilot) or limits["expectedCallSeconds"]
    seconds = calls * each / design.get("jobs", 1)
    lines = [
        f"Forecast: at most {whole(calls)} calls ({whole(size.per_case)} a case and one a probe), about "
        f"{hours(seconds)} at {number(round(each, 1))} s a call"
        + (" as in the pilot." if pilot is not None else ", as registered."),
        _fits("calls", calls, limits["calls"], HARD_CALLS, "--max-calls"),
        _fits("seconds", seconds, limits["deadlineSeconds"], HARD_SECONDS, "--deadline"),
        _largest(size, each),
    ]
    tokens = _tokens(design, pilot)
    return "\n".join([*lines, *tokens])


def hours(seconds: float) -> str:
    """Write seconds as hours and minutes.

    Examples
    --------
    >>> hours(7620), hours(540)
    ('2 h 07 min', '9 min')
    """
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def _fits(what: str, wanted: float, limit: float, hard: float, option: str) -> str:
    if wanted <= limit:
        return f"  {what}: {whole(round(wanted))} of {whole(round(limit))}: fits."
    way = f"raise it with {option}" if wanted <= hard else f"above the hard limit of {whole(round(hard))}: use shards"
    return f"  {what}: {whole(round(wanted))} of {whole(round(limit))}: does not fit; {way}."


def _largest(size: planning.CallSize, each: float) -> str:
    by_calls = (HARD_CALLS - size.probes) // size.per_case
    by_time = (int(HARD_SECONDS / each) - size.probes) // size.per_case
    most = f"{whole(max(0, by_calls))} cases by calls and {whole(max(0, by_time))} by time"
    return f"  At the hard limits one run holds {most}."


def _seconds_per_call(pilot: Record | None) -> float | None:
    if pilot is None or not pilot["calls"]["total"]:
        return None
    return float(pilot["calls"]["elapsedMs"] / pilot["calls"]["total"] / 1000)


def _tokens(design: Record, pilot: Record | None) -> list[str]:
    """Return the forecast of tokens by arm from the pilot's calls whose usage is known, if there is a pilot."""
    if pilot is None:
        return ["  Tokens can be forecast after a pilot: `doit plan --pilot <id>`."]
    trials = cases_of(design) * design["repeats"]
    lines = []
    for row in pilot["economics"]["totals"]:
        if row["usage"] is None or not row["trials"]:
            lines.append(f"  {words.arm(row['arm'])}: tokens unknown in the pilot.")
            continue
        calls = trials * row["calls"] / row["trials"]
        each = {key: value / row["callsWithUsage"] for key, value in row["usage"].items()}
        lines.append(
            f"  {words.arm(row['arm'])}: about {whole(round(calls * each['inputTokens']))} input tokens "
            f"({whole(round(calls * each['cachedInputTokens']))} cached) and "
            f"{whole(round(calls * each['outputTokens']))} output tokens."
        )
    return lines


def _next_corpus(pilot: Record) -> str:
    """Return the sizes that follow from the pilot's spread, the larger comparison deciding."""
    rows = []
    for comparison in pilot["planning"]["pairs"]:
        for row in comparison["nextCorpus"]:
            name = f"{words.arm(comparison['arm'])} - {words.arm(comparison['reference'])}"
            planned = "observed" if row["limit"] is None else f"{share(row['limit'])} upper limit"
            sizes = [text for size in row["sizes"] for text in (needed(size["cases"]), needed(size["calls"]))]
            rows.append([name, planned, percent(row["discordance"]), *sizes])
    head = ["comparison", "planned with", "differ", *(t for name in _methods() for t in (f"{name}: cases", "calls"))]
    text = (
        f"Next corpus after {pilot['registration']['name']} {pilot['registration']['id']}, for "
        f"{share(pilot['planning']['power'])} power a comparison: plan with the 80% upper limit; take the larger "
        "comparison. Only the spread of the pilot is used, never its mean, and its outcomes are not analysed again."
    )
    if pilot["evidence"] == "rehearsal":
        text += " This pilot was a rehearsal: its spread is a script's and plans nothing."
    return f"{text}\n{table(head, rows)}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a table of text, the first column to the left and the others to the right.

    Examples
    --------
    >>> print(table(["losses", "wins"], [["0", "5"], ["10", "120"]]))
      losses  wins
      0          5
      10       120
    """
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  "
        + "  ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
