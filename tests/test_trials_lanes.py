"""What lanes agree on, between real threads and a real child."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from eval_tasks import processes
from eval_tasks.errors import Halted
from eval_tasks.trials.lanes import Lanes


def test_work_that_fails_halts_the_lanes_and_work_that_ends_does_not() -> None:
    lanes = Lanes()
    with lanes.work():
        pass
    lanes.wait_for_turn()
    with pytest.raises(KeyError), lanes.work():
        raise KeyError
    with pytest.raises(Halted):
        lanes.wait_for_turn()


def test_only_the_first_word_of_a_stop_is_the_first() -> None:
    lanes = Lanes()
    assert [lanes.halt(), lanes.halt()] == [True, False]


def test_a_pause_holds_every_lane_for_its_time_and_the_longest_counts() -> None:
    lanes = Lanes()
    lanes.pause(0.3)
    lanes.pause(0.01)
    begun = time.monotonic()
    waiting = [threading.Thread(target=lanes.wait_for_turn) for _ in range(3)]
    for thread in waiting:
        thread.start()
    for thread in waiting:
        thread.join(5)
    assert 0.3 <= time.monotonic() - begun < 3


def test_a_stop_ends_a_pause() -> None:
    lanes = Lanes()
    lanes.pause(60)
    threading.Timer(0.1, lanes.halt).start()
    begun = time.monotonic()
    with pytest.raises(Halted):
        lanes.wait_for_turn()
    assert time.monotonic() - begun < 10


def test_the_end_kills_every_call_and_what_it_left_is_no_outcome() -> None:
    lanes = Lanes()
    came_to: list[str] = []

    def call() -> None:
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
            started = processes.start_time(child.pid)
            assert started is not None
            with lanes.work(), lanes.calling("c") as note:
                note(child.pid, started)
                came_to.append("call")
                child.wait()
                came_to.append("end of the child")
            came_to.append("outcome")

    def quietly() -> None:
        with pytest.raises(Halted):
            call()

    thread = threading.Thread(target=quietly)
    thread.start()
    while not came_to:
        time.sleep(0.01)
    begun = time.monotonic()
    assert lanes.end()
    thread.join(5)
    assert came_to == ["call", "end of the child"]
    assert time.monotonic() - begun < 10
    with pytest.raises(Halted), lanes.calling("d"):
        came_to.append("another call")
    assert len(came_to) == 2


def test_the_end_of_idle_lanes_has_ended_nothing() -> None:
    assert not Lanes().end()
