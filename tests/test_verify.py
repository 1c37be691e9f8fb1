"""A finished experiment is checked, planned from, compared and purged without a call."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.laboratory import CASES, PROBES, Laboratory

pytestmark = pytest.mark.agent


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    lab = Laboratory(tmp_path_factory.mktemp("verify") / "p", cases=CASES[1:], probes=PROBES[:1])
    lab.ok("register")
    lab.ok("run_eval")
    lab.ok("report")
    yield lab
    lab.close()


def test_a_sound_experiment_matches_line_by_line_and_the_limits_are_said(finished):
    lines = finished.ok("verify").splitlines()
    verdicts = [line[:17].strip() for line in lines[:-1]]
    assert set(verdicts) == {"matches", "cannot be checked"}
    assert verdicts.count("matches") >= 15
    assert [line for line in lines if "cannot be checked" in line] == [lines[-2]]
    assert "not an owner who rewrites" in lines[-1]


@pytest.mark.parametrize(
    ("place", "key", "differs"),
    [
        ("arm-runs/open-slots.full.r1.json", "contextBytes", "records are as the manifest says"),
        ("grades/open-slots.full.r1.json", "checks", "records are as the manifest says"),
        ("grades/open-slots.full.r1.json", "graderDigest", "each grade is of its submission by the registered grader"),
        ("inventory/lean.json", "digest", "inventory of lean is whole"),
        ("metrics.json", "evidence", "metrics.json follows from the records"),
    ],
)
def test_a_changed_file_is_found(finished, place, key, differs):
    path = finished.experiment / place
    before = path.read_bytes()
    value = json.loads(before)
    value[key] = {"contextBytes": 7, "checks": 99, "evidence": "live"}.get(key, "0" * 64)
    path.write_text(json.dumps(value), "utf-8")
    try:
        said = finished.stopped("verify")
    finally:
        path.write_bytes(before)
    assert f"differs           {differs}" in said


def test_a_missing_and_a_strange_record_and_a_changed_report_are_found(finished):
    record = finished.experiment / "probes" / f"{PROBES[0]}.json"
    strange = finished.experiment / "probes" / "unplanned.json"
    report = finished.experiment / "report" / "report.md"
    before, text = record.read_bytes(), report.read_bytes()
    strange.write_bytes(before)
    record.unlink()
    report.write_bytes(text.replace(b"0", b"1", 1))
    try:
        said = finished.stopped("verify")
    finally:
        record.write_bytes(before)
        strange.unlink()
        report.write_bytes(text)
    assert "differs           every scheduled outcome has its record: 1 are missing" in said
    assert "differs           there is no record that was not scheduled: unplanned.json" in said
    assert "differs           report/report.md follows from the metrics" in said


def test_an_edited_registration_is_refused_whole(finished):
    path = finished.experiment / "registration.json"
    before = path.read_bytes()
    path.write_bytes(before.replace(b'"repeats": 1', b'"repeats": 2', 1))
    try:
        assert "was changed after it was written" in finished.stopped("verify")
    finally:
        path.write_bytes(before)


def test_the_next_design_is_planned_from_the_pilots_spread(finished):
    said = finished.ok("plan", "--pilot", finished.experiment.name)
    assert "Cases needed if the arms do equally well" in said
    assert "as in the pilot" in said
    assert "no such experiment here" in finished.stopped("plan", "--pilot", "nonsense")


def test_two_experiments_stand_side_by_side_and_nothing_is_judged(finished):
    first = finished.experiment.name
    finished.ok("register", "--model", "gpt-5.4", "--new", "--reason", "another model")
    try:
        assert "has no metrics yet" in finished.stopped("compare", "--with", first)
        finished.ok("run_eval", "--settle")
        finished.ok("report")
        said = finished.ok("compare", "--with", first)
        assert "  agent.model: gpt-5.5 -> gpt-5.4" in said.splitlines()
        assert "  open-slots full r1: abandoned here, passed there" in said.splitlines()
        assert said.splitlines()[-1].startswith("Differences between experiments are descriptive")
        assert "0 of 1 here, 1 of 1 there" in said
    finally:
        (finished.root / "experiments" / "current").write_text(f"{first}\n", "ascii")


def test_a_method_of_analysis_can_not_be_switched_after_the_data(finished):
    first, summary = finished.experiment, finished.report["summary"]
    before = (finished.root / "eval.yaml").read_text("utf-8")
    finished.settings(analysis={"primary": "hoeffding-bonferroni", "additional": [], "familywiseAlpha": 0.2})
    try:
        (first / "metrics.json").unlink()
        finished.ok("report")
        assert finished.report["summary"] == summary
        refused = finished.stopped("register").splitlines()
        assert "  analysis.familywiseAlpha: 0.05 -> 0.2" in refused
        assert [line for line in refused if line.startswith("  analysis.additional: ")]
        finished.ok("register", "--new", "--reason", "another method")
        assert finished.experiment != first
        assert "of the scheduled records of experiment" in finished.stopped("report")
    finally:
        (finished.root / "eval.yaml").write_text(before, "utf-8")
        (finished.root / "experiments" / "current").write_text(f"{first.name}\n", "ascii")


def test_purge_removes_what_lies_outside_the_project_and_no_record(finished):
    finished.ok("purge")
    assert not finished.work.exists()
    finished.ok("report")
    assert len(finished.records("arm-runs")) == 3
