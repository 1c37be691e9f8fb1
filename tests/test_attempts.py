from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from eval_tasks import attempts
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project
from eval_tasks.registration import Registration
from tests import forks, small_project

LIVE, REHEARSAL = "live", "rehearsal"


@pytest.fixture(scope="module")
def designed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Registration]:
    project = small_project.make(tmp_path_factory.mktemp("designed") / "p")
    return {
        "first": small_project.registered(project, backend="codex"),
        "second": small_project.registered(project, reason="the model was renamed", backend="codex"),
        "rehearsal": small_project.registered(project),
    }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    found.experiments.mkdir()
    return found


def test_nothing_registered_is_no_attempt(project: Project) -> None:
    assert attempts.read(project, LIVE) == attempts.read(project, REHEARSAL) == []


def test_each_registration_is_one_attempt_in_their_order(project: Project, designed: dict[str, Registration]) -> None:
    attempts.add(project, designed["first"])
    attempts.add(project, designed["second"])
    assert attempts.read(project, LIVE) == [
        {"id": designed["first"].id, "date": "2026-01-02", "reason": None, "calls": None, "evidence": "live"},
        {
            "id": designed["second"].id,
            "date": "2026-01-02",
            "reason": "the model was renamed",
            "calls": None,
            "evidence": "live",
        },
    ]


def test_rehearsals_are_listed_apart_and_outside_what_git_tracks(
    project: Project, designed: dict[str, Registration]
) -> None:
    attempts.add(project, designed["rehearsal"])
    assert not project.attempts.exists()
    assert attempts.read(project, LIVE) == []
    assert [attempt["id"] for attempt in attempts.read(project, REHEARSAL)] == [designed["rehearsal"].id]
    attempts.add(project, designed["first"])
    assert project.attempts == project.root / "registrations.jsonl"
    assert [attempt["id"] for attempt in attempts.read(project, LIVE)] == [designed["first"].id]
    assert len(attempts.read(project, REHEARSAL)) == 1


def test_the_calls_of_an_attempt_are_those_of_its_last_line_at_the_attempts_own_place(
    project: Project, designed: dict[str, Registration]
) -> None:
    attempts.add(project, designed["first"])
    attempts.add(project, designed["second"])
    for calls in (3, 7):
        attempts.note_calls(project, designed["first"], calls)
    found = attempts.read(project, LIVE)
    assert [(attempt["id"], attempt["calls"]) for attempt in found] == [
        (designed["first"].id, 7),
        (designed["second"].id, None),
    ]


def test_lines_are_only_ever_appended(project: Project, designed: dict[str, Registration]) -> None:
    kept = b""
    attempts.add(project, designed["first"])
    for calls in (0, 5, 5, 5, 6):
        before = project.attempts.read_bytes()
        assert before.startswith(kept)
        kept = before
        attempts.note_calls(project, designed["first"], calls)
    lines = project.attempts.read_bytes().splitlines()
    assert [json.loads(line)["calls"] for line in lines] == [None, 0, 5, 6]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "registrations.jsonl:2 is not valid JSON"),
        (b'{"id": "0123456789ab"', "registrations.jsonl:2 is not valid JSON"),
        (b"\xff\xfe", "registrations.jsonl:2 is not valid JSON"),
        (b"", "registrations.jsonl:2 is not valid JSON"),
        (b"[]", "registrations.jsonl:2: the top level: must be of type object"),
        (b'{"id": "x"}', "registrations.jsonl:2: "),
    ],
)
def test_a_line_that_was_changed_by_hand_is_named_and_nothing_is_appended_after_it(
    project: Project, designed: dict[str, Registration], line: bytes, said: str
) -> None:
    attempts.add(project, designed["first"])
    with open(project.attempts, "ab") as stream:
        stream.write(line + b"\n")
    before = project.attempts.read_bytes()
    with pytest.raises(ExperimentStopped) as caught:
        attempts.note_calls(project, designed["first"], 3)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
    assert project.attempts.read_bytes() == before


def test_a_line_that_lost_its_end_is_refused_and_never_joined_with_the_next(
    project: Project, designed: dict[str, Registration]
) -> None:
    attempts.add(project, designed["first"])
    content = project.attempts.read_bytes()
    project.attempts.write_bytes(content[:-10])
    with pytest.raises(ExperimentStopped, match=r"^registrations\.jsonl: the last line has lost its end; restore it"):
        attempts.add(project, designed["second"])
    with pytest.raises(ExperimentStopped, match=r"^registrations\.jsonl:1 is not valid JSON"):
        attempts.read(project, LIVE)
    assert project.attempts.read_bytes() == content[:-10]


@pytest.mark.parametrize("room", [0, 1, 40])
def test_a_full_disk_is_one_clear_line_and_leaves_no_half_line(
    project: Project, designed: dict[str, Registration], room: int
) -> None:
    attempts.add(project, designed["first"])
    before = project.attempts.read_bytes()

    def add_with_little_room() -> None:
        # The kernel lets a file grow to the limit and then writes short, as on a disk that fills up.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, len(before) + room))
        with pytest.raises(ExperimentStopped, match=r"^registrations\.jsonl can't be written \("):
            attempts.add(project, designed["second"])

    assert forks.run(add_with_little_room) == 0
    assert project.attempts.read_bytes() == before
    attempts.add(project, designed["second"])
    assert len(attempts.read(project, LIVE)) == 2
