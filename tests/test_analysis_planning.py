"""Planning against the published tables of exact multinomial sums."""

from __future__ import annotations

import doctest
import itertools
import math

import pytest

from eval_tasks import intervals
from eval_tasks.analysis import pairs, planning
from eval_tasks.analysis.planning import CallSize, Target
from tests.synthetic_records import compared, fates, make, outcomes_of

BETTING = Target("optimized-betting", 0.0125, 0.05)
HOEFFDING = Target("hoeffding-bonferroni", 0.0125, 0.05)

# discordance, effect, power: cases by betting, by Hoeffding
SIZES = [
    (0.0, 0.0, 0.8, 86, 3506),
    (0.02, 0.0, 0.8, 209, 3781),
    (0.04, 0.0, 0.8, 305, 3934),
    (0.1, 0.0, 0.8, 612, 4158),
    (0.2, 0.0, 0.8, 1170, 4450),
    (0.08, 0.02, 0.8, 258, 2081),
    (0.08, -0.02, 0.8, 1370, 11375),
]


@pytest.mark.parametrize(("discordance", "effect", "wanted", "betting", "hoeffding"), SIZES)
def test_sizes_agree_with_the_published_table(
    discordance: float, effect: float, wanted: float, betting: int, hoeffding: int
) -> None:
    assert planning.smallest_n(discordance, BETTING, wanted, effect) == betting
    assert planning.smallest_n(discordance, HOEFFDING, wanted, effect) == hoeffding


@pytest.mark.parametrize(("discordance", "cases"), [(0.0, 86), (0.02, 244), (0.04, 365), (0.1, 757)])
def test_sizes_for_ninety_percent_power_agree_too(discordance: float, cases: int) -> None:
    assert planning.smallest_n(discordance, BETTING, 0.9) == cases


@pytest.mark.parametrize(("alpha", "cases"), [(0.025, 72), (0.05, 59)])
def test_other_error_probabilities_agree_too(alpha: float, cases: int) -> None:
    assert planning.smallest_n(0.0, Target("optimized-betting", alpha, 0.05), 0.8) == cases


def test_from_the_named_size_on_the_power_is_kept() -> None:
    n = planning.smallest_n(0.04, BETTING, 0.8)
    assert n is not None
    assert planning.power(n - 1, 0.04, 0.0, BETTING) < 0.8
    assert all(planning.power(k, 0.04, 0.0, BETTING) >= 0.8 for k in range(n, n + 40))


@pytest.mark.parametrize("target", [BETTING, HOEFFDING])
@pytest.mark.parametrize(("n", "discordance", "effect"), [(8, 0.3, 0.0), (7, 0.8, 0.4), (6, 1.0, 0.2), (5, 0.0, 0.0)])
def test_power_equals_the_sum_over_every_table(target: Target, n: int, discordance: float, effect: float) -> None:
    wide = Target(target.method, 0.2, 0.4)
    p01, p10 = (discordance - effect) / 2, (discordance + effect) / 2
    total = 0.0
    for losses, wins in itertools.product(range(n + 1), repeat=2):
        ties = n - losses - wins
        if ties < 0:
            continue
        values = [-1.0] * losses + [1.0] * wins + [0.0] * ties
        method = intervals.hoeffding if target is HOEFFDING else intervals.optimized_betting
        if method(values, 0.2).low > -0.4:
            ways = math.comb(n, losses) * math.comb(n - losses, wins)
            total += ways * p01**losses * p10**wins * (1 - discordance) ** ties
    assert planning.power(n, discordance, effect, wide) == pytest.approx(total, abs=1e-9)


PATTERNS = {
    0: (86, 72, 59, 45, 18, 8),
    1: (145, 131, 117, 103, 74, 32),
    2: (187, 172, 158, 143, 114, 71),
    3: (224, 209, 195, 180, 150, 106),
    4: (259, 244, 229, 214, 184, 139),
    5: (292, 277, 262, 247, 216, 171),
}


@pytest.mark.parametrize("losses", PATTERNS)
def test_patterns_that_support_agree_with_the_published_table(losses: int) -> None:
    found = tuple(planning.cases_needed(losses, wins, BETTING) for wins in (0, 1, 2, 3, 5, 8))
    assert found == PATTERNS[losses]


@pytest.mark.parametrize("losses", [0, 1, 4])
@pytest.mark.parametrize("target", [BETTING, HOEFFDING])
def test_the_wins_needed_are_enough_and_one_fewer_is_not(losses: int, target: Target) -> None:
    wins = planning.wins_needed(losses, 30, target)
    assert wins is not None
    method = intervals.hoeffding if target is HOEFFDING else intervals.optimized_betting
    for count, supported in ((wins, True), (wins - 1, False)):
        values = [-1.0] * losses + [1.0] * count + [0.0] * (30 - losses - count)
        assert (method(values, 0.0125).low > -0.05) is supported


def test_what_no_number_of_wins_could_support_is_said() -> None:
    assert planning.wins_needed(0, 3, HOEFFDING) is None
    assert planning.cases_needed(1, 0, Target("hoeffding-bonferroni", 1e-300, 1e-6)) is None


@pytest.mark.parametrize(
    ("discordance", "betting", "hoeffding"), [(0.02, 218, 3794), (0.04, 319, 3916), (0.4, 2459, 4880)]
)
def test_the_closed_form_agrees_with_the_published_one(discordance: float, betting: int, hoeffding: int) -> None:
    assert planning.closed_form_n(discordance, BETTING, 0.8) == betting
    assert planning.closed_form_n(discordance, HOEFFDING, 0.8) == hoeffding


def test_the_next_corpus_is_sized_by_the_spread_and_not_by_the_mean() -> None:
    losing = make(fate=fates({(0, "auto-lean"): "hidden-check", (1, "auto-lean"): "hidden-check"}))
    winning = make(fate=fates({(0, "full"): "hidden-check", (1, "full"): "hidden-check"}))
    found = []
    for records in (losing, winning):
        plan = pairs.AnalysisPlan.of(records.registration["design"])
        cases = pairs.pair_cases(outcomes_of(records), "auto-lean", "full")
        size = CallSize.of(records.registration["design"])
        found.append(planning.requirements(cases, compared(records), plan, size)["nextCorpus"])
    assert found[0] == found[1]
    assert [row["discordance"] for row in found[0]] == [
        0.066667,
        pytest.approx(0.1373, abs=5e-5),
        pytest.approx(0.1953, abs=5e-5),
    ]
    assert [row["sizes"][1]["cases"] for row in found[0]] == [434, 816, 1143]
    assert [row["sizes"][1]["calls"] for row in found[0]] == [4 * 434 + 32, 4 * 816 + 32, 4 * 1143 + 32]


def test_with_repeats_the_limit_of_the_spread_is_the_betting_one() -> None:
    cases = [pairs.CasePair("a", 1, 2, 3), *[pairs.CasePair(f"c{i}", 3, 3, 3) for i in range(29)]]
    rows = planning.spread_limits(cases)
    assert rows[0]["discordance"] == pytest.approx(1 / 270)
    assert rows[0]["discordance"] < rows[1]["discordance"] < rows[2]["discordance"] < 0.12


def test_calls_count_one_proposal_for_each_selecting_arm() -> None:
    design = make(cases=3, probes=7, repeats=2).registration["design"]
    assert CallSize.of(design).calls(10) == (3 + 1) * 2 * 10 + 7


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(planning).failed == 0
