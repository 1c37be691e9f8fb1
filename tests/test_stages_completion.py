"""Whether anything is left of an experiment: an open one is never closed, and a closed one costs a command little."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import finished
from eval_tasks import registration
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment
from eval_tasks.stages import completion
from tests.laboratory import Laboratory


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return finished.make(tmp_path_factory.mktemp("finished") / "p", cases=3, probes=4)


def is_closed(experiment: Experiment) -> bool:
    return completion.is_closed(experiment, registration.read(experiment))


def test_an_experiment_with_every_record_final_grades_and_settled_claims_is_closed(made: Experiment) -> None:
    assert is_closed(made)
    assert completion.is_complete(made, registration.read(made))


def one(folder: Path) -> Path:
    return sorted(folder.glob("*.json"))[0]


def remove(kind: str) -> Callable[[Experiment], Path]:
    def change(experiment: Experiment) -> Path:
        path = one(experiment.root / kind)
        path.unlink()
        return path

    return change


def damage(experiment: Experiment) -> Path:
    path = one(experiment.root / "grades")
    path.write_bytes(b"{")
    return path


def fail_to_grade(experiment: Experiment) -> Path:
    path = one(experiment.root / "grades")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "failure": "grading-failed"}), "utf-8")
    return path


@pytest.mark.parametrize("change", [remove("arm-runs"), remove("grades"), remove("probes"), damage, fail_to_grade])
def test_a_record_that_is_missing_broken_or_no_verdict_leaves_it_open(
    made: Experiment, change: Callable[[Experiment], Path]
) -> None:
    kept = {path: path.read_bytes() for path in made.root.rglob("*.json")}
    path = change(made)
    try:
        assert not is_closed(made)
    finally:
        path.write_bytes(kept[path])
    assert is_closed(made)


def test_a_claim_that_is_not_settled_leaves_it_open(made: Experiment) -> None:
    with Journal(made.journal, registration.read(made).digest) as journal:
        journal.begin_session()
        journal.claim("probe:one-more", "probe")
        assert not is_closed(made)
        journal._db.execute("DELETE FROM claims WHERE key = 'probe:one-more'")
    assert is_closed(made)


def test_what_lies_outside_the_project_leaves_it_open(made: Experiment) -> None:
    left = Path(json.loads(made.local.read_bytes())["workRoot"])
    left.mkdir()
    assert not is_closed(made)
    left.rmdir()
    assert is_closed(made)


def test_a_run_of_a_closed_experiment_derives_nothing_and_says_what_to_run(made: Experiment) -> None:
    lab = object.__new__(Laboratory)
    lab.root, lab.ledger = made.root.parent.parent, made.root / "paid"
    assert lab.ok("run_eval") == completion.said_when_closed(made) + "\n"
    assert not made.digests.exists()
    assert lab.stopped("run_eval", "--repeats", "7").startswith("--repeats 7: 1 is registered")
