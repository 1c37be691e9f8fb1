from __future__ import annotations

import doctest
import json

import pytest

from eval_tasks import arms
from eval_tasks.arms import ARMS, Selecting
from eval_tasks.paths import SCHEMAS


def test_each_arm_runs_on_its_install_and_only_full_and_its_double_run_on_full() -> None:
    assert {name: arm.install for name, arm in ARMS.items()} == {
        "full": "full",
        "manual-lean": "lean",
        "auto-lean": "lean",
        "baseline": "baseline",
        "pinned": "pinned",
        "a-a": "full",
    }


def test_the_claim_is_about_the_lean_arms_alone() -> None:
    assert {name for name, arm in ARMS.items() if arm.claimed} == {"manual-lean", "auto-lean"}
    assert {name for name, arm in ARMS.items() if arm.selecting is Selecting.AUTOMATIC} == {"auto-lean"}


@pytest.mark.parametrize(
    ("names", "probes", "installs"),
    [
        (arms.DEFAULT, True, ["full", "lean"]),
        (["full", "a-a"], False, ["full"]),
        (["full", "a-a"], True, ["full", "lean"]),
        (list(ARMS), True, ["baseline", "full", "lean", "pinned"]),
    ],
)
def test_no_install_is_built_that_nothing_runs_on(names: list[str], probes: bool, installs: list[str]) -> None:
    assert arms.installs(names, probes=probes) == installs


def test_claimed_comparisons_come_first_whatever_the_order_of_the_settings() -> None:
    wanted = [["auto-lean", "full"], ["manual-lean", "full"], ["a-a", "full"], ["baseline", "full"], ["pinned", "full"]]
    assert arms.comparisons(list(ARMS)) == arms.comparisons(list(reversed(ARMS))) == wanted


@pytest.mark.parametrize("name", ["experiment", "registration", "arm-run", "grade"])
def test_the_schemas_know_the_arms_of_the_table_and_no_others(name: str) -> None:
    text = (SCHEMAS / f"{name}.schema.json").read_text("utf-8")
    listed = json.dumps(list(ARMS))
    found = [part for part in _enumerations(json.loads(text)) if "full" in part]
    assert {json.dumps(part) for part in found} == {listed}


def _enumerations(value: object) -> list[list[str]]:
    if isinstance(value, list):
        return [found for part in value for found in _enumerations(part)]
    if not isinstance(value, dict):
        return []
    own = [value["enum"]] if isinstance(value.get("enum"), list) else []
    return own + [found for part in value.values() for found in _enumerations(part)]


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(arms).failed == 0
