"""How many cases a claim needs: exact power, and sizes from an assumed or an observed spread.

Must never plan with a pilot's mean difference, whose error is larger than the margin: only its spread counts.

The planning law of one case is a loss with probability `p01`, a win with `p10` and a tie otherwise. Their sum is the
*discordance*, `p10 - p01` the *effect* that is planned with, which is 0 unless a person chooses otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from eval_tasks import arms, intervals
from eval_tasks.analysis.pairs import BETTING, PRIMARY, AnalysisPlan, CasePair
from eval_tasks.analysis.summary import Record, rounded

DISCORDANCES = (0.0, 0.02, 0.04, 0.1, 0.2, 0.4)
POWERS = (0.8, 0.9)
METHODS = (PRIMARY, BETTING)
UPPER_LIMITS = (0.8, 0.95)
LARGEST = 1_000_000
"""Cases above which no size is looked for."""

_TAIL = 7
"""Standard deviations of the number of losses that the exact sum covers."""

_TEETH = 48
"""More cases than one tooth of the power curve spans at the sizes that matter."""


@dataclass(frozen=True)
class Target:
    """What a comparison has to show: the lower bound above minus the margin, at one side's error probability."""

    method: str
    alpha: float
    margin: float

    @classmethod
    def of(cls, plan: AnalysisPlan, method: str) -> Target:
        """Return the registered target for a method."""
        return cls(method, plan.alpha_per_side, plan.margin)

    @property
    def threshold(self) -> float:
        return math.log(1 / self.alpha)


def clears(losses: int, wins: int, n: int, target: Target) -> bool:
    """Return whether this many losses and wins among `n` cases, ties otherwise, would put the bound above the margin.

    Examples
    --------
    Ties alone need 86 cases:

    >>> betting = Target(BETTING, 0.0125, 0.05)
    >>> clears(0, 0, 85, betting), clears(0, 0, 86, betting)
    (False, True)
    """
    if target.method == PRIMARY:
        return (wins - losses) / n - intervals.hoeffding_radius(n, target.alpha) > -target.margin
    return _statistic(losses, wins, n, target.margin) > target.threshold


def _statistic(losses: int, wins: int, n: int, margin: float) -> float:
    """Return the optimized-betting statistic at minus the margin for one repeat, by the root of a quadratic."""
    loss, win, ties = 1 - margin, 1 + margin, n - losses - wins
    drift = wins * win + ties * margin - losses * loss
    if drift <= 0:
        return 0.0
    square = n * loss * margin * win
    linear = ties * margin * (win - loss) - losses * loss * (margin + win) + wins * win * (margin - loss)
    bet = (linear + math.sqrt(linear * linear + 4 * square * drift)) / (2 * square)
    # Without a loss the root is the cap 1 / (1 - margin), where the factor of a loss would be zero.
    lost = losses * math.log1p(-bet * loss) if losses else 0.0
    return lost + ties * math.log1p(bet * margin) + wins * math.log1p(bet * win)


def wins_needed(losses: int, n: int, target: Target) -> int | None:
    """Return the fewest wins that would support the claim with `losses` among `n` cases, or `None` if none would.

    Examples
    --------
    >>> wins_needed(0, 30, Target(BETTING, 0.0125, 0.05)), wins_needed(0, 30, Target(PRIMARY, 0.0125, 0.05))
    (5, 15)
    """
    room = n - losses
    if not clears(losses, room, n, target):
        return None
    return _first(0, room, lambda wins: clears(losses, wins, n, target))


def cases_needed(losses: int, wins: int, target: Target) -> int | None:
    """Return the smallest corpus in which this many losses and wins, ties otherwise, would support the claim.

    Examples
    --------
    >>> [cases_needed(losses, 1, Target(BETTING, 0.0125, 0.05)) for losses in (0, 1, 2)]
    [72, 131, 172]
    """
    least = max(1, losses + wins)
    if not clears(losses, wins, LARGEST, target):
        return None
    return _first(least, LARGEST, lambda n: clears(losses, wins, n, target))


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest number in the range for which a monotone condition holds, given that it holds at `high`."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def power(n: int, discordance: float, effect: float, target: Target) -> float:
    """Return the exact probability that `n` cases under the planning law support the claim.

    Sums over the numbers of losses; for each, the fewest wins that suffice are found exactly.

    Examples
    --------
    >>> round(power(305, 0.04, 0.0, Target(BETTING, 0.0125, 0.05)), 2) >= 0.8
    True
    """
    import numpy as np  # noqa: PLC0415 - slow to import, and only planning pays

    return float(_powers(np.array([n]), discordance, effect, target)[0])


def _powers(sizes: Any, discordance: float, effect: float, target: Target) -> Any:
    """Return the power for an array of sizes at once: a row a size, a column a number of losses."""
    import numpy as np  # noqa: PLC0415
    from scipy import special  # noqa: PLC0415 - slow to import, and only planning pays

    p01, p10 = (discordance - effect) / 2, (discordance + effect) / 2
    if p01 < 0 or p10 < 0 or discordance > 1:
        raise ValueError("needs a discordance of at least the effect and at most 1")
    n = sizes[:, None]
    reach = _TAIL * math.sqrt(float(sizes.max()) * p01 * (1 - p01)) + _TAIL
    first = np.maximum(0, np.floor(n * p01 - reach)).astype(np.int64)
    columns = math.ceil(2 * reach) + 2
    grid = first + np.arange(columns)[None, :]
    losses = np.minimum(grid, n)
    log_choose = special.gammaln(n + 1) - special.gammaln(losses + 1) - special.gammaln(n - losses + 1)
    chance = np.exp(log_choose + special.xlogy(losses, p01) + special.xlog1py(n - losses, -p01))
    enough, room = _enough_wins(losses, n, target), n - losses
    share = min(1.0, p10 / (1 - p01)) if p01 < 1 else 0.0
    # The chance of at least w among r is the regularized incomplete beta function; 0 are always there, r + 1 never.
    inside = (enough > 0) & (enough <= room)
    tail = special.betainc(np.where(inside, enough, 1), np.where(inside, room - enough + 1, 1), share)
    held = np.where(inside, tail, np.where(enough <= 0, 1.0, 0.0))
    return np.sum(np.where(grid <= n, chance * held, 0.0), axis=1)


def _enough_wins(losses: Any, n: Any, target: Target) -> Any:
    """Return the fewest sufficient wins for an array of losses; one more than there is room for means never."""
    import numpy as np  # noqa: PLC0415

    room = n - losses
    if target.method == PRIMARY:
        ahead = n * (np.sqrt(2 * target.threshold / n) - target.margin)
        return np.clip(losses + np.floor(ahead).astype(np.int64) + 1, 0, room + 1)
    low, high = np.zeros_like(losses), room + 1
    while np.any(low < high):
        middle = (low + high) // 2
        held = (middle > room) | _betting_clears(losses, middle, n, target)
        low, high = np.where(held | (low >= high), low, middle + 1), np.where(held & (low < high), middle, high)
    return low


def _betting_clears(losses: Any, wins: Any, n: Any, target: Target) -> Any:
    """Decide `clears` by optimized betting for arrays of losses and wins."""
    import numpy as np  # noqa: PLC0415
    from scipy import special  # noqa: PLC0415

    margin, loss, win = target.margin, 1 - target.margin, 1 + target.margin
    ties = np.maximum(n - losses - wins, 0)
    drift = wins * win + ties * margin - losses * loss
    square = n * loss * margin * win
    linear = ties * margin * (win - loss) - losses * loss * (margin + win) + wins * win * (margin - loss)
    bet = (linear + np.sqrt(linear * linear + 4 * square * np.maximum(drift, 0))) / (2 * square)
    lost = np.where(losses > 0, np.minimum(bet * loss, 1 - 1e-15), 0)
    statistic = special.xlog1py(losses, -lost) + ties * np.log1p(bet * margin) + wins * np.log1p(bet * win)
    return (drift > 0) & (statistic > target.threshold)


@lru_cache(maxsize=512)
def smallest_n(discordance: float, target: Target, wanted: float, effect: float = 0.0) -> int | None:
    """Return the smallest number of cases from which on that power is kept, or `None` above `LARGEST`.

    Power saws a little as `n` grows, since losses and wins are whole numbers; a size on top of a tooth would be luck.

    Examples
    --------
    >>> betting, hoeffding = Target(BETTING, 0.0125, 0.05), Target(PRIMARY, 0.0125, 0.05)
    >>> [smallest_n(q, betting, 0.8) for q in (0.0, 0.04, 0.1)], smallest_n(0.0, hoeffding, 0.8)
    ([86, 305, 612], 3506)
    """
    guess = closed_form_n(discordance, target, wanted, effect)
    high = guess + guess // 4 + 4
    while power(high, discordance, effect, target) < wanted:
        high *= 2
        if high > LARGEST:
            return None
    low = guess // 2 if power(max(1, guess // 2), discordance, effect, target) < wanted else 1
    crossing = _first(max(1, low), high, lambda n: power(n, discordance, effect, target) >= wanted)
    return _past_the_teeth(crossing, discordance, effect, target, wanted)


def _past_the_teeth(crossing: int, discordance: float, effect: float, target: Target, wanted: float) -> int:
    import numpy as np  # noqa: PLC0415

    while True:
        sizes = np.arange(crossing, crossing + _TEETH)
        short = sizes[_powers(sizes, discordance, effect, target) < wanted]
        if not short.size:
            return crossing
        crossing = int(short[-1]) + 1


def closed_form_n(discordance: float, target: Target, wanted: float, effect: float = 0.0) -> int:
    """Return the normal approximation to `smallest_n`, for a quick look and as a check on the exact sum.

    Examples
    --------
    >>> betting = Target(BETTING, 0.0125, 0.05)
    >>> [closed_form_n(q, betting, 0.8) for q in (0.02, 0.04, 0.1)]
    [218, 319, 650]
    """
    z, threshold = NormalDist().inv_cdf(wanted), target.threshold
    if target.method == PRIMARY:
        spread = z * math.sqrt(discordance - effect * effect)
        return math.ceil(((math.sqrt(2 * threshold) + spread) / (target.margin + effect)) ** 2)
    growth, variance = _growth(discordance, effect, target.margin)
    spread = z * math.sqrt(variance)
    return math.ceil(((spread + math.sqrt(spread * spread + 4 * growth * threshold)) / (2 * growth)) ** 2)


def _growth(discordance: float, effect: float, margin: float) -> tuple[float, float]:
    """Return mean and variance of a case's log factor under the best constant bet."""
    p01, p10 = (discordance - effect) / 2, (discordance + effect) / 2
    law = ((-1 + margin, p01), (margin, 1 - discordance), (1 + margin, p10))
    low, high = 0.0, 1 / (1 - margin)
    for _ in range(100):
        middle = (low + high) / 2
        slope = sum(chance * gain / (1 + middle * gain) for gain, chance in law if chance)
        low, high = (middle, high) if slope > 0 else (low, middle)
    logs = [(math.log1p(low * gain), chance) for gain, chance in law if chance]
    mean = sum(chance * value for value, chance in logs)
    return mean, sum(chance * (value - mean) ** 2 for value, chance in logs)


def assumed_sizes(
    plan: AnalysisPlan, effect: float = 0.0, powers: Sequence[float] = POWERS[:1]
) -> list[dict[str, Any]]:
    """Return the cases needed at each assumed discordance, for both methods and each power."""
    return [{"discordance": q, "sizes": _sizes(plan, q, effect, powers)} for q in DISCORDANCES if q >= abs(effect)]


def _sizes(plan: AnalysisPlan, discordance: float, effect: float, powers: Sequence[float]) -> list[dict[str, Any]]:
    return [
        {"method": method, "power": wanted, "cases": smallest_n(discordance, Target.of(plan, method), wanted, effect)}
        for method in METHODS
        for wanted in powers
    ]


def reachability(n: int, plan: AnalysisPlan, losses: Sequence[int] = (0, 1, 2, 3)) -> list[dict[str, Any]]:
    """Return, for each number of losses, the fewest wins with which `n` cases could support the claim."""
    return [
        {
            "losses": count,
            "wins": [{"method": method, "wins": wins_needed(count, n, Target.of(plan, method))} for method in METHODS],
        }
        for count in losses
        if count <= n
    ]


def spread_limits(pairs: Sequence[CasePair]) -> list[dict[str, Any]]:
    """Return the observed mean square difference and its one-sided upper limits, which size the next corpus.

    With one repeat the mean square is the discordance and its limit Clopper and Pearson's; with more it is the
    optimized-betting limit of the squares. Both hold for cases of unequal difficulty.
    """
    squares = [pair.difference**2 for pair in pairs]
    observed = math.fsum(squares) / len(squares)
    single = all(pair.repeats == 1 for pair in pairs)
    rows: list[dict[str, Any]] = [{"limit": None, "discordance": observed}]
    for limit in UPPER_LIMITS:
        upper = (
            intervals.clopper_pearson_upper(round(math.fsum(squares)), len(squares), limit)
            if single
            else intervals.optimized_betting(squares, 1 - limit).high
        )
        rows.append({"limit": limit, "discordance": upper})
    return rows


def requirements(pairs: Sequence[CasePair], comparison: Record, plan: AnalysisPlan, size: CallSize) -> dict[str, Any]:
    """Return what it would take for a comparison that this experiment could not support, or could.

    Parameters
    ----------
    pairs, comparison
        The case pairs and the row that `eval_tasks.analysis.pairs.compare` made of them.
    size
        What a corpus of a given number of cases costs in calls.
    """
    losses, wins = len(comparison["losses"]), len(comparison["wins"])
    targets = [Target.of(plan, method) for method in METHODS]
    single = comparison["repeats"] == 1
    return {
        "arm": comparison["arm"],
        "reference": comparison["reference"],
        "sameCorpus": [
            {"method": target.method, "wins": wins_needed(losses, len(pairs), target) if single else None}
            for target in targets
        ],
        "samePattern": [
            {"method": target.method, "cases": cases_needed(losses, wins, target) if single else None}
            for target in targets
        ],
        "nextCorpus": [_next_row(row, plan, size) for row in spread_limits(pairs)],
    }


def _next_row(row: Record, plan: AnalysisPlan, size: CallSize) -> dict[str, Any]:
    sizes = _sizes(plan, row["discordance"], 0.0, POWERS[:1])
    return {
        "limit": row["limit"],
        "discordance": rounded(row["discordance"]),
        "sizes": [
            {**found, "calls": None if found["cases"] is None else size.calls(found["cases"])} for found in sizes
        ],
    }


@dataclass(frozen=True)
class CallSize:
    """What an experiment costs in calls at worst.

    Parameters
    ----------
    per_case
        One task call an arm, and one proposal for each arm that selects.
    """

    per_case: int
    probes: int

    @classmethod
    def of(cls, design: Record) -> CallSize:
        """Return the size of a registered design, at its repeats and probes."""
        selecting = arms.selecting(design["arms"])
        per_case = (len(design["arms"]) + selecting) * design["repeats"]
        return cls(per_case, len(design["schedule"]["probes"]))

    def calls(self, cases: int) -> int:
        """Return the most calls that so many cases and the probes can take."""
        return self.per_case * cases + self.probes
