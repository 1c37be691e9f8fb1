from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_tasks import schedule
from eval_tasks.schedule import Trial

ARMS = ("full", "manual-lean", "auto-lean")
case_lists = st.integers(1, 12).map(lambda count: [f"case-{number}" for number in range(count)])
arm_lists = st.sampled_from([ARMS, ARMS[:2], ("auto-lean", "full"), (*ARMS, "a-a")])
repeat_counts = st.integers(1, 6)
quick = settings(deadline=None, max_examples=50)


@quick
@given(case_lists, arm_lists, repeat_counts)
def test_every_case_runs_in_every_arm_as_often_as_it_is_repeated(
    cases: list[str], arms: tuple[str, ...], repeats: int
) -> None:
    found = schedule.trials(cases, arms, repeats)
    wanted = {Trial(case, arm, repeat) for case in cases for arm in arms for repeat in range(1, repeats + 1)}
    assert len(found) == len(wanted)
    assert set(found) == wanted


@quick
@given(case_lists, arm_lists, repeat_counts)
def test_the_arms_of_a_case_stand_next_to_each_other_so_that_a_cut_hits_all_of_them(
    cases: list[str], arms: tuple[str, ...], repeats: int
) -> None:
    found = schedule.trials(cases, arms, repeats)
    groups = [found[start : start + len(arms)] for start in range(0, len(found), len(arms))]
    assert [{(trial.case_id, trial.repeat) for trial in group} for group in groups] == [
        {(case, repeat)} for repeat in range(1, repeats + 1) for case in cases
    ]


def places(found: list[Trial], arms: tuple[str, ...]) -> Counter[tuple[str, int]]:
    """Count how often each arm stands at each place within its case."""
    return Counter((trial.arm, index % len(arms)) for index, trial in enumerate(found))


@quick
@given(case_lists, arm_lists, repeat_counts)
def test_every_arm_stands_equally_often_at_every_place_if_the_arms_divide_the_cases_or_the_repeats(
    cases: list[str], arms: tuple[str, ...], repeats: int
) -> None:
    counts = places(schedule.trials(cases, arms, repeats), arms)
    if len(cases) % len(arms) == 0 or repeats % len(arms) == 0:
        assert set(counts.values()) == {len(cases) * repeats // len(arms)}
        assert len(counts) == len(arms) ** 2


@quick
@given(case_lists, arm_lists)
def test_within_one_pass_no_arm_is_at_any_place_more_than_once_oftener_than_another(
    cases: list[str], arms: tuple[str, ...]
) -> None:
    counts = places(schedule.trials(cases, arms, 1), arms)
    for place in range(len(arms)):
        often = [counts[arm, place] for arm in arms]
        assert max(often) - min(often) <= 1


@quick
@given(case_lists, arm_lists, st.integers(2, 6))
def test_the_first_arm_of_a_case_moves_on_with_each_repeat(
    cases: list[str], arms: tuple[str, ...], repeats: int
) -> None:
    first = {(trial.case_id, trial.repeat): trial.arm for trial in schedule.trials(cases, arms, repeats)[:: len(arms)]}
    for case in cases:
        for repeat in range(1, repeats):
            now = arms.index(first[case, repeat])
            assert first[case, repeat + 1] == arms[(now + 1) % len(arms)]


@quick
@given(case_lists, arm_lists, repeat_counts)
def test_the_order_depends_on_nothing_but_the_lists(cases: list[str], arms: tuple[str, ...], repeats: int) -> None:
    assert schedule.trials(cases, arms, repeats) == schedule.trials(list(cases), list(arms), repeats)


@quick
@given(case_lists, arm_lists, repeat_counts)
def test_a_trial_is_known_again_by_its_name_and_by_its_registered_value(
    cases: list[str], arms: tuple[str, ...], repeats: int
) -> None:
    found = schedule.trials(cases, arms, repeats)
    assert [schedule.trial_of_name(trial.name) for trial in found] == found
    assert [schedule.trial(trial.value) for trial in found] == found
    assert len({trial.name for trial in found}) == len(found)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a.full",
        "a.full.r0",
        "a.full.r01",
        "a.full.1",
        "A.full.r1",
        "a.full.r1\n",
        "../a.full.r1",
        "a.b.c.r1",
        "probe:a",
    ],
)
def test_a_text_that_names_no_trial_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        schedule.trial_of_name(name)


@quick
@given(case_lists, arm_lists, repeat_counts, st.integers(0, 80))
def test_the_worst_case_is_one_call_a_trial_and_probe_and_one_more_for_each_automatic_trial(
    cases: list[str], arms: tuple[str, ...], repeats: int, probes: int
) -> None:
    found = schedule.trials(cases, arms, repeats)
    automatic = sum(trial.arm == "auto-lean" for trial in found)
    assert schedule.worst_case_calls(arms, len(found), probes) == len(found) + automatic + probes


def test_one_pass_of_the_seeds_corpus_makes_ninety_task_calls_and_at_most_ninety_more() -> None:
    found = schedule.trials([f"case-{number}" for number in range(30)], ARMS, 1)
    assert len(found) == 90
    assert schedule.worst_case_calls(ARMS, 90, 60) == 180


@pytest.mark.parametrize("jobs", [1, 2, 3, 7, 64])
def test_lanes_hold_every_trial_and_probe_once_and_no_case_in_two_of_them(jobs: int) -> None:
    scheduled = schedule.trials(["a", "b", "c", "d", "e"], ["full", "manual-lean", "auto-lean"], 2)
    probes = ["p", "q", "r"]
    dealt = schedule.lanes(scheduled, probes, jobs)
    assert len(dealt) == min(jobs, 5)
    assert sorted(trial for lane in dealt for trial in lane.trials) == sorted(scheduled)
    assert sorted(probe for lane in dealt for probe in lane.probes) == probes
    cases = [{trial.case_id for trial in lane.trials} for lane in dealt]
    assert sum(map(len, cases)) == len(set.union(*cases)) == 5
    for lane in dealt:
        assert list(lane.trials) == [trial for trial in scheduled if trial in lane.trials]


def test_one_lane_is_the_schedule() -> None:
    scheduled = schedule.trials(["a", "b"], ["full", "auto-lean"], 1)
    assert schedule.lanes(scheduled, ["p"], 1) == [schedule.Lane(tuple(scheduled), ("p",))]


def test_without_a_trial_there_is_still_a_lane() -> None:
    assert schedule.lanes([], [], 4) == [schedule.Lane((), ())]
