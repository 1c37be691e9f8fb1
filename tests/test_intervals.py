"""The intervals against oracles that three other programs computed, and what must hold for any data."""

from __future__ import annotations

import doctest
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_tasks import intervals
from eval_tasks.intervals import Interval, hoeffding, optimized_betting, optimized_betting_test, wilson

ALPHA = 0.0125

WILSON = [
    (0, 10, 0.0, 0.2775327999),
    (1, 10, 0.0178762131, 0.4041500268),
    (5, 10, 0.2365930905, 0.7634069095),
    (10, 10, 0.7224672001, 1.0),
    (27, 30, 0.7437891742, 0.9654001113),
    (29, 30, 0.8332960901, 0.9940914096),
    (30, 30, 0.8864866068, 1.0),
    (15, 30, 0.3315412564, 0.6684587436),
    (0, 1, 0.0, 0.7934506856),
    (1, 1, 0.2065493144, 1.0),
]

RADII = {
    1: 2.960414374602,
    2: 2.093329079403,
    10: 0.9361652241644,
    30: 0.5404952441773,
    60: 0.3821878523568,
    86: 0.3192296918446,
    100: 0.2960414374602,
    200: 0.2093329079403,
    400: 0.1480207187301,
    492: 0.1334657873806,
    1000: 0.09361652241644,
    3505: 0.05000443138522,
    3506: 0.04999729961147,
}


def counted(n: int, losses: int = 0, wins: int = 0) -> list[float]:
    return [-1.0] * losses + [1.0] * wins + [0.0] * (n - losses - wins)


THIRDS = [0, 0, 1 / 3, -1 / 3, 0, 2 / 3, 0, -1, 0, 0]
SMALL = [1 / 3] * 3 + [-1 / 3] * 3 + [0.0] * 24
CAP = 1 / 0.95

# data, lower end, upper end, statistic at -0.05, bet, p-value
BETTING = {
    "30 ties": (counted(30), -0.135900672576, 0.135900672576, 1.53879883163, CAP, 0.2146387639),
    "85 ties": (counted(85), -0.0502469300337, 0.0502469300337, 4.35993002294, CAP, 0.01277928187),
    "86 ties": (counted(86), -0.0496774237519, 0.0496774237519, 4.41122331733, CAP, 0.01214031778),
    "2 losses and a win of 30": (
        *(counted(30, 2, 1), -0.260508392888, 0.181962362192),
        *(0.0406849654973, 0.1593178951, 0.9601315569),
    ),
    "three repeats": (THIRDS, -0.519869632237, 0.387696667454, 0.00820107964755, 0.09725758464, 0.9918324575),
    "no ties": ([1, -1, 1, 1], -0.771654977848, 0.997352783525, 0.628337862758, 0.5513784461, 0.5334777778),
    "2 and 2 of 200": (
        counted(200, 2, 2),
        -0.0394859962392,
        0.0394859962392,
        6.14227903217,
        0.8621057582,
        0.00215001807,
    ),
    "20 and 30 of 612": (
        *(counted(612, 20, 30), -0.0183219528923, 0.0522434560311),
        *(14.41565329, 0.6208772555, 5.487333087e-7),
    ),
    "6 and 6 of 305": (
        counted(305, 6, 6),
        -0.0381073380021,
        0.0381073380021,
        6.82957303035,
        0.7144936171,
        0.00108131971,
    ),
    "all lost": (counted(3, 3), -1.0, 0.535841116639, 0.0, 0.0, 1.0),
    "one tie": (counted(1), -0.9875, 0.9875, 0.0512932943876, CAP, 0.95),
    "thirds of 30": (SMALL, -0.146018593821, 0.146018593821, 1.18544972466, CAP, 0.3056087088),
}


@pytest.mark.parametrize(("successes", "n", "low", "high"), WILSON)
def test_wilson_agrees_with_the_oracle(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert interval.low == pytest.approx(low, abs=1e-10)
    assert interval.high == pytest.approx(high, abs=1e-10)
    assert 0 <= interval.low <= successes / n <= interval.high <= 1


@pytest.mark.parametrize(("n", "radius"), RADII.items())
def test_the_hoeffding_radius_agrees_with_the_oracle(n: int, radius: float) -> None:
    assert intervals.hoeffding_radius(n, ALPHA) == pytest.approx(radius, abs=1e-9)


def test_hoeffding_needs_3506_ties_to_clear_five_points() -> None:
    assert hoeffding(counted(3505), ALPHA).low <= -0.05 < hoeffding(counted(3506), ALPHA).low


def test_hoeffding_is_cut_to_possible_differences() -> None:
    assert hoeffding([0.0], ALPHA) == Interval(-1.0, 1.0)
    assert hoeffding([1.0] * 30, ALPHA).high == 1.0


@pytest.mark.parametrize("name", BETTING)
def test_the_betting_interval_agrees_with_the_oracle(name: str) -> None:
    differences, low, high, *_ = BETTING[name]
    interval = optimized_betting(differences, ALPHA)
    assert interval.low == pytest.approx(low, abs=1e-9)
    assert interval.high == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("name", BETTING)
def test_the_betting_test_agrees_with_the_oracle(name: str) -> None:
    differences, low, _, statistic, bet, p_value = BETTING[name]
    test = optimized_betting_test(differences, -0.05)
    assert test.statistic == pytest.approx(statistic, abs=1e-9)
    assert test.bet == pytest.approx(bet, abs=1e-8)
    assert test.p_value == pytest.approx(p_value, abs=1e-9)
    assert (test.p_value < ALPHA) is (low > -0.05)


@pytest.mark.parametrize(("n", "wins"), [(4, 3), (10, 5), (50, 49), (7, 0)])
def test_without_ties_the_betting_end_solves_the_binomial_divergence(n: int, wins: int) -> None:
    low = optimized_betting([1.0] * wins + [-1.0] * (n - wins), ALPHA).low
    share, mean = wins / n, (1 + low) / 2
    if wins == 0:
        assert low == -1
        return
    divergence = share * math.log(share / mean) + (1 - share) * math.log((1 - share) / (1 - mean))
    assert n * divergence == pytest.approx(math.log(1 / ALPHA), rel=1e-9)


@pytest.mark.parametrize("value", [-0.75, -0.2, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 5, 200])
def test_equal_differences_have_a_closed_form(value: float, n: int) -> None:
    assert optimized_betting([value] * n, ALPHA).low == pytest.approx((1 + value) * ALPHA ** (1 / n) - 1, abs=1e-12)


corpora = st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), min_size=1, max_size=120)
values = st.lists(st.floats(-1, 1), min_size=1, max_size=12)
alphas = st.floats(1e-6, 0.49)


@settings(max_examples=150, deadline=None)
@given(corpora | values, alphas)
def test_the_betting_interval_lies_inside_hoeffdings(differences: list[float], alpha: float) -> None:
    inner, outer = optimized_betting(differences, alpha), hoeffding(differences, alpha)
    assert outer.low - 1e-12 <= inner.low
    assert inner.high <= outer.high + 1e-12


@settings(max_examples=100, deadline=None)
@given(corpora, st.randoms(use_true_random=False))
def test_the_order_of_the_cases_is_irrelevant(differences: list[float], random: object) -> None:
    shuffled = differences[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert optimized_betting(shuffled, ALPHA) == optimized_betting(differences, ALPHA)
    assert hoeffding(shuffled, ALPHA) == hoeffding(differences, ALPHA)


@settings(max_examples=100, deadline=None)
@given(values, st.data())
def test_a_worse_case_never_raises_the_lower_end(differences: list[float], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(differences) - 1))
    worse = differences[:]
    worse[index] = data.draw(st.floats(-1, differences[index]))
    assert optimized_betting(worse, ALPHA).low <= optimized_betting(differences, ALPHA).low + 1e-12


@settings(max_examples=100, deadline=None)
@given(values, alphas)
def test_the_interval_holds_the_observed_mean(differences: list[float], alpha: float) -> None:
    mean = float(sum(map(Fraction, differences)) / len(differences))
    interval = optimized_betting(differences, alpha)
    assert interval.low - 1e-12 <= mean <= interval.high + 1e-12
    assert -1 <= interval.low <= interval.high <= 1


@settings(max_examples=100, deadline=None)
@given(values, st.floats(-0.99, 0.99))
def test_the_statistic_agrees_with_the_interval(differences: list[float], boundary: float) -> None:
    low = optimized_betting(differences, ALPHA).low
    p_value = optimized_betting_test(differences, boundary).p_value
    if low > boundary + 1e-9:
        assert p_value <= ALPHA * (1 + 1e-9)
    elif low < boundary - 1e-9:
        assert p_value >= ALPHA * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(values)
def test_mirrored_data_give_the_mirrored_interval(differences: list[float]) -> None:
    interval, mirrored = optimized_betting(differences, ALPHA), optimized_betting([-d for d in differences], ALPHA)
    assert (interval.low, interval.high) == (-mirrored.high, -mirrored.low)


@pytest.mark.parametrize("differences", [[], [1.5], [float("nan")], [float("inf")], [-1.0000001]])
@pytest.mark.parametrize("method", [hoeffding, optimized_betting])
def test_what_is_no_difference_is_refused(method: object, differences: list[float]) -> None:
    with pytest.raises(ValueError, match=r"case|difference"):
        method(differences, ALPHA)  # type: ignore[operator]


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_an_impossible_error_probability_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        optimized_betting([0.0], alpha)


@pytest.mark.parametrize("n", [1, 5, 6, 7, 20, 101])
def test_the_sign_test_interval_takes_the_widest_allowed_order_statistics(n: int) -> None:
    interval = intervals.median_sign_test(range(n), 0.025)

    def tail(k: int) -> float:
        return sum(math.comb(n, i) for i in range(k + 1)) / 2**n

    rank = sum(tail(k) <= 0.025 for k in range(n))
    assert interval == (Interval(rank - 1, n - rank) if rank else Interval(-math.inf, math.inf))


def test_the_sign_test_copes_with_thousands_of_cases() -> None:
    interval = intervals.median_sign_test(range(3506), 0.025)
    assert interval.low == pytest.approx(1752.5 - 58, abs=1)
    assert interval.low + interval.high == 3505


@pytest.mark.parametrize(("d", "q80", "q95"), [(0, 0.0522, 0.0950), (2, 0.1373, 0.1953), (12, 0.4936, 0.5661)])
def test_the_upper_limits_of_the_discordance_agree_with_the_oracle(d: int, q80: float, q95: float) -> None:
    assert intervals.clopper_pearson_upper(d, 30, 0.8) == pytest.approx(q80, abs=5e-5)
    assert intervals.clopper_pearson_upper(d, 30, 0.95) == pytest.approx(q95, abs=5e-5)


def test_the_examples_in_the_docstrings_hold() -> None:
    found = doctest.testmod(intervals)
    assert found.attempted >= 12
    assert found.failed == 0
