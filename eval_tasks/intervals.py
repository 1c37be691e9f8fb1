"""The intervals and tests of the registered analysis, as pure functions of numbers.

Must never read a file, round a result or choose a method: the registration names the method before there are data.

Throughout, *differences* are the per-case values `D_i` in [-1, 1] (mean over repeats of the arm's passes minus the
same of the reference), the estimand is the mean of their expectations over these very cases, and `alpha` is the error
probability of **one side**. A two-sided familywise 95 % over two comparisons is therefore `alpha = 0.05 / 2 / 2`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

_HALVINGS = 100
"""Enough to bring any bisection of doubles to two neighbours."""

Groups = tuple[tuple[float, int], ...]
"""Distinct values in rising order, each with its count: the order of the cases can't matter."""


@dataclass(frozen=True)
class Interval:
    """A closed interval."""

    low: float
    high: float

    def contains(self, value: float) -> bool:
        """Return whether a value lies in the interval, its ends included."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class BettingTest:
    """The optimized-betting test of "the mean is at most `boundary`".

    Parameters
    ----------
    statistic
        The logarithm of the best capital, never negative.
    bet
        The bet that reaches it, in [0, 1 / (1 + boundary)].
    p_value
        `exp(-statistic)`, valid at a fixed number of cases.
    """

    boundary: float
    statistic: float
    bet: float
    p_value: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the two-sided Wilson score interval of a proportion.

    Descriptive here: the probes are chosen and differ in difficulty, so no population is meant.

    Parameters
    ----------
    successes, n
        Counts, `0 <= successes <= n` and `n >= 1`.
    confidence
        Two-sided.

    References
    ----------
    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> interval = wilson(5, 10)
    >>> round(interval.low, 6), round(interval.high, 6)
    (0.236593, 0.763407)
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError("needs 0 <= successes <= n and n >= 1")
    z = NormalDist().inv_cdf(0.5 + _open_unit(confidence) / 2)
    rate, weight = successes / n, z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    radius = z * math.sqrt(rate * (1 - rate) / n + weight / (4 * n)) / (1 + weight)
    # Both ends are exact where rounding would leave the unit interval or miss the observed rate.
    low = 0.0 if successes == 0 else max(0.0, centre - radius)
    high = 1.0 if successes == n else min(1.0, centre + radius)
    return Interval(low, high)


def hoeffding_radius(n: int, alpha: float) -> float:
    """Return `sqrt(2 ln(1 / alpha) / n)`, the radius of the Hoeffding interval for values in [-1, 1].

    Examples
    --------
    >>> round(hoeffding_radius(30, 0.0125), 12)
    0.540495244177
    """
    if n < 1:
        raise ValueError("needs at least one case")
    return math.sqrt(2 * math.log(1 / _open_unit(alpha)) / n)


def hoeffding(differences: Sequence[float], alpha: float) -> Interval:
    """Return the Hoeffding interval of the mean difference, cut to [-1, 1].

    Assumes independent values in [-1, 1]; their laws and means may all differ, so it speaks of a fixed corpus.

    Parameters
    ----------
    differences
        One value per distinct case.
    alpha
        Error probability of one side.

    References
    ----------
    W. Hoeffding (1963), Probability inequalities for sums of bounded random variables, theorem 2.

    Examples
    --------
    Thirty ties say little:

    >>> interval = hoeffding([0.0] * 30, 0.0125)
    >>> round(interval.low, 6), round(interval.high, 6)
    (-0.540495, 0.540495)
    """
    groups = grouped(differences)
    mean = _mean(groups)
    radius = hoeffding_radius(_count(groups), alpha)
    return Interval(max(-1.0, mean - radius), min(1.0, mean + radius))


def hoeffding_p_value(differences: Sequence[float], boundary: float) -> float:
    """Return the p-value of "the mean is at most `boundary`" that belongs to the Hoeffding interval.

    Examples
    --------
    >>> round(hoeffding_p_value([0.0] * 30, -0.05), 6)
    0.963194
    """
    groups = grouped(differences)
    excess = _mean(groups) - boundary
    return math.exp(-_count(groups) * excess * excess / 2) if excess > 0 else 1.0


def optimized_betting(differences: Sequence[float], alpha: float) -> Interval:
    """Return the optimized-betting interval of the mean difference, which lies inside the Hoeffding interval.

    The lower end is the infimum of all means `m` with `S(m) < ln(1 / alpha)`, where `S(m)` is the greatest value over
    `bet` in [0, 1 / (1 + m)] of `sum(log(1 + bet * (D_i - m)))`; the upper end is minus the lower end of `-D`.

    Assumes independent values in [-1, 1] at a **fixed** number of cases; laws and means may differ, so it covers the
    same estimand on a fixed corpus as Hoeffding does. Invalid with optional stopping or dependent cases.

    Parameters
    ----------
    differences
        One value per distinct case; the order is irrelevant.
    alpha
        Error probability of one side.

    References
    ----------
    Ming, Shen and Wang (2026), arXiv:2603.10329, theorem 1; for unequal means and the nesting see
    `docs/statistics.md`.

    Examples
    --------
    For ties alone the lower end is `alpha ** (1 / n) - 1`:

    >>> interval = optimized_betting([0.0] * 30, 0.0125)
    >>> round(interval.low, 9) == round(0.0125 ** (1 / 30) - 1, 9) == -0.135900673
    True
    """
    groups = grouped(differences)
    threshold = math.log(1 / _open_unit(alpha))
    mirrored = tuple((-value, count) for value, count in reversed(groups))
    return Interval(_betting_lower(groups, threshold), -_betting_lower(mirrored, threshold))


def optimized_betting_test(differences: Sequence[float], boundary: float) -> BettingTest:
    """Return the optimized-betting test of "the mean is at most `boundary`".

    Parameters
    ----------
    boundary
        In (-1, 1); minus the margin for noninferiority.

    Examples
    --------
    If each of 30 cases had one chance in twenty of a loss, no loss would be seen with probability 0.95 ** 30:

    >>> round(optimized_betting_test([0.0] * 30, -0.05).p_value, 6) == round(0.95 ** 30, 6)
    True
    """
    if not -1 < boundary < 1:
        raise ValueError("the boundary must lie between -1 and 1")
    statistic, fraction = _best_capital(grouped(differences), boundary)
    return BettingTest(boundary, statistic, fraction / (1 + boundary), math.exp(-statistic))


def median_sign_test(values: Iterable[float], alpha: float) -> Interval:
    """Return the exact sign-test interval of a median: two order statistics.

    Assumes independent values with a common median and nothing else. With too few values for `alpha` an end is
    infinite.

    Parameters
    ----------
    alpha
        Error probability of one side.

    Examples
    --------
    Six values are the fewest that give a finite 95 % interval, from the smallest to the largest:

    >>> median_sign_test([3.0, 1.0, 2.0, 6.0, 5.0, 4.0], 0.025)
    Interval(low=1.0, high=6.0)
    >>> median_sign_test([1.0, 2.0], 0.025)
    Interval(low=-inf, high=inf)
    """
    ordered = sorted(values)
    n = len(ordered)
    allowed = Fraction(_open_unit(alpha)) * 2**n
    # Exact integers: the term is n over k, the tail the number of sign patterns with at most k minuses.
    rank, term, tail = 0, 1, 1
    while tail <= allowed and rank < n:
        rank += 1
        term = term * (n - rank + 1) // rank
        tail += term
    if rank == 0:
        return Interval(-math.inf, math.inf)
    return Interval(ordered[rank - 1], ordered[n - rank])


def clopper_pearson_upper(successes: int, n: int, confidence: float) -> float:
    """Return the one-sided upper Clopper-Pearson limit of a proportion.

    References
    ----------
    Clopper and Pearson (1934); for unequal independent trials Hoeffding (1956), for limits above the observed rate.

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 30, 0.8), 4)
    0.0522
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import, and only planning pays

    if n < 1 or not 0 <= successes <= n:
        raise ValueError("needs 0 <= successes <= n and n >= 1")
    return 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, _open_unit(confidence)))


def grouped(differences: Iterable[float]) -> Groups:
    """Return the distinct values in rising order with their counts, refusing what is no difference."""
    counts = Counter(float(value) for value in differences)
    if not counts:
        raise ValueError("needs at least one case")
    if not all(-1 <= value <= 1 for value in counts):
        raise ValueError("every difference must be a number from -1 to 1")
    return tuple(sorted(counts.items()))


def _open_unit(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError("a probability must lie between 0 and 1")
    return value


def _count(groups: Groups) -> int:
    return sum(count for _, count in groups)


def _mean(groups: Groups) -> float:
    return math.fsum(value * count for value, count in groups) / _count(groups)


def _betting_lower(groups: Groups, threshold: float) -> float:
    if groups[-1][0] == -1:
        return -1.0
    low, high = -1.0, _mean(groups)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _best_capital(groups, middle)[0] >= threshold:
            low = middle
        else:
            high = middle
    # The outer neighbour: rounding may only widen the interval.
    return low


def _best_capital(groups: Groups, boundary: float) -> tuple[float, float]:
    """Return the greatest log capital against a boundary and the fraction of the capital that is bet."""
    # With e = (1 + D) / (1 + m) and the fraction f = bet * (1 + m), each factor is 1 - f + f * e and never negative.
    odds = [((1 + value) / (1 + boundary), count) for value, count in groups]
    if math.fsum(count * (odd - 1) for odd, count in odds) <= 0:
        return 0.0, 0.0
    fraction = _best_fraction(odds)
    return max(0.0, math.fsum(count * _log_factor(odd, fraction) for odd, count in odds)), fraction


def _best_fraction(odds: Sequence[tuple[float, int]]) -> float:
    if odds[0][0] > 0 and _slope(odds, 1.0) >= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _slope(odds, middle) > 0:
            low = middle
        else:
            high = middle
    return low


def _slope(odds: Sequence[tuple[float, int]], fraction: float) -> float:
    return math.fsum(count * (odd - 1) / (1 - fraction + fraction * odd) for odd, count in odds)


def _log_factor(odd: float, fraction: float) -> float:
    gain = fraction * (odd - 1)
    # log1p keeps the digits of a small gain; near -1 the sum of two nonnegative terms keeps those of the factor.
    return math.log1p(gain) if gain > -0.5 else math.log(1 - fraction + fraction * odd)
