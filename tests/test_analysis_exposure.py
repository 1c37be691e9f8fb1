"""Skill use: installed, shown, shortened, dropped, given, opened."""

from __future__ import annotations

from eval_tasks.analysis import exposure
from tests.synthetic_records import case_id, make, outcomes_of

ARMS = ("full", "manual-lean", "auto-lean")


def test_each_step_counts_the_trials_of_cases_that_name_a_skill() -> None:
    records = make(cases=8)
    rows = {row["arm"]: row for row in exposure.skill_use(outcomes_of(records), ARMS, records.inventories)}
    assert [rows[arm]["trials"] for arm in ARMS] == [6, 6, 6]
    assert rows["full"]["installed"] == rows["full"]["shown"] == 6
    assert rows["full"]["shortened"] == 2
    assert rows["full"]["given"]["trials"] == 0
    assert rows["manual-lean"]["installed"] == 0
    assert rows["manual-lean"]["given"]["trials"] == 6


def test_a_dropped_skill_is_installed_but_not_shown() -> None:
    records = make(cases=8)
    records.inventories["full"]["exposure"]["droppedIds"] = ["tdd-workflow"]
    row = exposure.skill_use(outcomes_of(records), ["full"], records.inventories)[0]
    assert (row["installed"], row["shown"], row["dropped"]) == (6, 4, 2)


def test_opening_another_skill_is_not_opening_the_cases_own() -> None:
    records = make(cases=1)
    records.arm_runs[f"{case_id(0)}.full.r1"]["calls"][0]["openedSkills"] = ["tdd-workflow"]
    records.arm_runs[f"{case_id(0)}.full.r1"]["calls"][0]["unknownOpens"] = 3
    row = exposure.skill_use(outcomes_of(records), ["full"], records.inventories)[0]
    assert row["opened"]["trials"] == 0
    assert row["neither"] == {"trials": 1, "passed": 1, "rate": 1.0}
    assert row["unknownOpens"] == 3
    assert row["mostOpened"] == [{"skill": "tdd-workflow", "trials": 1}]


def test_an_install_row_names_its_arms_and_its_exposure() -> None:
    records = make(cases=1)
    full, lean = exposure.install_rows(records.registration["design"], records.inventories)
    assert full["arms"] == ["full"]
    assert lean["arms"] == ["manual-lean", "auto-lean"]
    assert (full["installed"], full["shortened"], full["startupContextBytes"]) == (3, 1, 41_000)
