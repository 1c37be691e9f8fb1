"""What `eval_tasks.processes` promises, shown on real trees in both kinds of containment."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval_tasks import processes
from eval_tasks.processes import Boxed, Command, Finished, Level
from eval_tasks.sandbox import AgentBox, Bubblewrap
from tests.sealed_places import PROJECT, located, owned, work_folder

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
HEARTBEAT = "while :; do date +%s%N > {place}/beat; sleep 0.05; done"
Shell = Callable[[str], Command]


@pytest.fixture(scope="module")
def work() -> Iterator[Path]:
    with work_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def box(work: Path) -> AgentBox:
    package = located("0.155.1", work).package
    return AgentBox(Bubblewrap.at(package / "codex-resources/bwrap"), package, owned(work / "w"))


@pytest.fixture(params=[Level.SEALED, Level.AGENT_SANDBOX], ids=["boxed", "bare"])
def shell(request: pytest.FixtureRequest, box: AgentBox) -> Shell:
    """Give a function from a script to its command; `{place}` in it is a writable folder."""
    if request.param is Level.SEALED:
        return lambda script: box.command(["/bin/sh", "-c", script.replace("{place}", "/w")])
    return lambda script: ["/bin/sh", "-c", script.replace("{place}", str(box.workspace))]


def run(command: Command, wall_seconds: float = 20, stdout_bytes: int = 1_000_000, **more: object) -> Finished:
    return processes.run(
        command,
        environment=ENVIRONMENT,
        wall_seconds=wall_seconds,
        stdout_bytes=stdout_bytes,
        **more,  # type: ignore[arg-type]
    )


def beats(place: Path) -> bool:
    """Whether a heartbeat still changes its file."""
    before = (place / "beat").read_text()
    time.sleep(0.25)
    return (place / "beat").read_text() != before


def test_output_status_and_containment_are_reported(shell: Shell) -> None:
    finished = run(shell("echo out; echo err >&2; exit 3"))
    assert (finished.exit_status, finished.signal, finished.stopped_by) == (3, None, None)
    assert finished.stdout == b"out\n"
    assert (finished.stderr_tail, finished.stderr_bytes) == (b"err\n", 4)
    assert finished.contained.quiescent
    assert finished.contained.wall_honoured
    expected = Level.SEALED if isinstance(shell("true"), Boxed) else Level.AGENT_SANDBOX
    assert finished.contained.level is expected


def test_a_program_that_dies_by_a_signal_is_no_exit(shell: Shell) -> None:
    finished = run(shell("kill -SEGV $$"))
    assert (finished.exit_status, finished.signal) == (None, signal.SIGSEGV)


def test_large_input_and_output_pass_at_once(shell: Shell) -> None:
    data = os.urandom(3_000_000)
    finished = run(shell("cat"), stdin=data, stdout_bytes=4_000_000)
    assert finished.stdout == data


def test_a_child_that_never_reads_its_input_still_ends(shell: Shell) -> None:
    assert run(shell("exec 0<&-; echo done"), stdin=b"x" * 3_000_000).stdout == b"done\n"


def test_input_ends_although_ours_never_does(shell: Shell) -> None:
    assert run(shell("cat; echo ended")).stdout == b"ended\n"


def test_input_stays_open_until_the_awaited_answer(shell: Shell) -> None:
    script = "read line; sleep 0.2; echo answer to $line; cat; echo ended"
    finished = run(shell(script), stdin=b"question\n", keep_open_until=b"answer")
    assert finished.stdout == b"answer to question\nended\n"
    # Without an answer the input is never closed, and the limit ends it.
    assert run(shell("cat"), stdin=b"q", keep_open_until=b"never", wall_seconds=0.5).stopped_by == "wall"


def test_the_environment_is_the_given_one_and_nothing_else(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_EVAL_CANARY", "leak")
    names = {line.split("=")[0] for line in run(shell("env")).stdout.decode().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == set(ENVIRONMENT)


def test_too_much_output_ends_the_tree_within_a_memory_bound(shell: Shell) -> None:
    tracemalloc.start()
    try:
        finished = run(shell("exec yes"), stdout_bytes=1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert finished.stopped_by == "output"
    assert len(finished.stdout) == 1_000_000
    assert finished.contained.quiescent
    assert peak < 4_000_000


def test_output_over_the_cap_is_noticed_also_from_a_child_that_has_ended(shell: Shell) -> None:
    finished = run(shell("head -c 5000 /dev/zero"), stdout_bytes=4999)
    assert finished.stopped_by == "output"
    assert run(shell("head -c 5000 /dev/zero"), stdout_bytes=5000).stopped_by is None


def test_a_line_of_20_megabytes_passes_whole_below_the_cap(shell: Shell) -> None:
    finished = run(shell("head -c 20000000 /dev/zero | tr '\\0' x"), stdout_bytes=64_000_000)
    assert len(finished.stdout) == 20_000_000
    assert finished.stopped_by is None


def test_stderr_is_counted_and_only_its_end_is_kept(shell: Shell) -> None:
    finished = run(shell("head -c 2000000 /dev/zero >&2; echo end >&2"), stderr_tail_bytes=10)
    assert finished.stderr_bytes == 2_000_004
    assert finished.stderr_tail.endswith(b"end\n")
    assert len(finished.stderr_tail) == 10


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("trap '' TERM INT HUP; " + HEARTBEAT, id="ignores-sigterm"),
        pytest.param("(setsid sh -c '" + HEARTBEAT + "' &) ; sleep 60", id="double-forked"),
        pytest.param("sh -c '" + HEARTBEAT + "' & wait", id="wrapper-that-forwards-nothing"),
        pytest.param(
            "(setsid sh -c '" + HEARTBEAT + "' &) ; for i in $(seq 200); do sleep 60 & done; wait", id="swarm"
        ),
        pytest.param("yes & (setsid sh -c '" + HEARTBEAT + "' &) ; yes >&2", id="firehose"),
    ],
)
def test_the_wall_limit_ends_the_whole_tree_within_a_second(shell: Shell, box: AgentBox, script: str) -> None:
    assert box.workspace is not None
    started = time.monotonic()
    finished = run(shell(script), wall_seconds=0.7, stdout_bytes=1 << 40 if "yes" not in script else 1 << 33)
    assert time.monotonic() - started < 0.7 + 1 + 0.5
    assert finished.stopped_by == "wall"
    assert finished.contained.quiescent
    assert finished.contained.wall_honoured
    assert not beats(box.workspace)


def test_daemons_do_not_outlive_a_normal_end(shell: Shell, box: AgentBox) -> None:
    assert box.workspace is not None
    script = "(setsid sh -c '" + HEARTBEAT + "' >/dev/null 2>&1 </dev/null &) ; sleep 0.2"
    finished = run(shell(script))
    assert (finished.exit_status, finished.contained.quiescent) == (0, True)
    assert not beats(box.workspace)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_an_exception_in_the_tick_ends_the_tree_first(shell: Shell, box: AgentBox, error: type[BaseException]) -> None:
    assert box.workspace is not None

    def tick() -> None:
        raise error

    with pytest.raises(error):
        run(shell("(setsid sh -c '" + HEARTBEAT + "' &) ; sleep 60"), tick=tick)
    assert not beats(box.workspace)


def test_the_tick_comes_about_once_a_second_and_may_end_the_tree(shell: Shell) -> None:
    ticks: list[float] = []

    def tick() -> bool:
        ticks.append(time.monotonic())
        return len(ticks) == 2

    finished = run(shell("sleep 60"), tick=tick)
    assert finished.stopped_by == "output"
    assert 0.8 < ticks[1] - ticks[0] < 2


def test_a_tree_is_known_by_id_and_start_time_and_by_nothing_less(shell: Shell) -> None:
    names: list[tuple[int, int]] = []
    assert run(shell("sleep 0.2"), on_start=lambda pid, started: names.append((pid, started))).exit_status == 0
    (pid, started) = names[0]
    assert started > 0
    assert not processes.alive(pid, started)
    assert not processes.kill_survivor(pid, started)


def test_a_reused_process_id_is_never_killed() -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        started = processes.start_time(stranger.pid)
        assert started is not None
        assert processes.alive(stranger.pid, started)
        assert not processes.kill_survivor(stranger.pid, started - 1)
        assert stranger.poll() is None
        assert processes.kill_survivor(stranger.pid, started)
        assert stranger.wait() == -signal.SIGKILL


def test_a_survivor_is_killed_with_all_that_descends_from_it(tmp_path: Path) -> None:
    script = f"sh -c '{HEARTBEAT.replace('{place}', str(tmp_path))}' & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as survivor:
        while not (tmp_path / "beat").exists():
            time.sleep(0.01)
        started = processes.start_time(survivor.pid)
        assert started is not None
        assert processes.kill_survivor(survivor.pid, started)
    assert not beats(tmp_path)


EVALUATOR = """
    import json, signal, sys
    from eval_tasks import processes
    from eval_tasks.processes import Boxed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kind, command = json.load(open(sys.argv[1]))
    if kind == "boxed":
        command = Boxed(*(tuple(part) for part in command))
    processes.run(
        command, environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, wall_seconds=60, stdout_bytes=1000,
        on_start=lambda pid, started: print(pid, started, flush=True),
    )
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_tree_does_not_outlive_the_evaluator(
    shell: Shell, box: AgentBox, tmp_path: Path, number: signal.Signals
) -> None:
    assert box.workspace is not None
    (box.workspace / "beat").unlink(missing_ok=True)
    command = shell("(setsid sh -c '" + HEARTBEAT + "' &) ; sleep 60")
    parts = [command.launcher, command.options, command.program] if isinstance(command, Boxed) else command
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(["boxed" if isinstance(command, Boxed) else "bare", parts]))
    evaluator = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(EVALUATOR), str(plan)],
        cwd=PROJECT.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with evaluator:
        assert evaluator.stdout is not None
        pid, started = (int(word) for word in evaluator.stdout.readline().split())
        while not (box.workspace / "beat").exists():
            time.sleep(0.01)
        evaluator.send_signal(number)
    deadline = time.monotonic() + 3
    while processes.alive(pid, started) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not processes.alive(pid, started)
    assert not beats(box.workspace)


def test_what_cannot_be_started_is_an_error_and_leaves_nothing_open(shell: Shell, box: AgentBox) -> None:
    before = len(os.listdir("/proc/self/fd"))
    if isinstance(shell("true"), Boxed):
        with pytest.raises(OSError, match="nowhere"):
            run(Boxed(("/nowhere/bwrap",), (), ("true",)))
        finished = run(Boxed(box.bubblewrap.launcher(), ("--no-such-option",), ("/bin/true",)))
        assert (finished.exit_status, finished.contained.level) == (1, Level.NONE)
        assert finished.contained.quiescent
    assert run(["/nowhere/program"]).exit_status == 127
    for _ in range(3):
        run(shell("true"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_files_in_memory_exist_inside_only_and_cannot_be_changed(box: AgentBox) -> None:
    command = box.command(["/bin/sh", "-c", "cat /h/note; echo x > /h/note"])
    finished = run(Boxed(command.launcher, command.options, command.program, (("/h/note", b"\x00by\xff\n"),)))
    assert finished.stdout == b"\x00by\xff\n"
    assert b"Read-only file system" in finished.stderr_tail or b"ermission denied" in finished.stderr_tail


def test_a_conversation_is_held_over_the_pipes_of_a_started_tree(shell: Shell) -> None:
    with processes.start(shell("while read line; do echo got $line; done"), environment=ENVIRONMENT) as running:
        for word in (b"one", b"two"):
            os.write(running.stdin, word + b"\n")
            assert select.select([running.stdout], [], [], 5)[0]
            assert os.read(running.stdout, 100) == b"got " + word + b"\n"
        assert not running.exited()
        running.kill()
        assert running.wait_gone()
        assert running.exited()
        assert not processes.alive(*running.identity)


def test_leaving_the_context_ends_the_tree(shell: Shell, box: AgentBox) -> None:
    assert box.workspace is not None
    with processes.start(shell("(setsid sh -c '" + HEARTBEAT + "' &) ; sleep 60"), environment=ENVIRONMENT) as running:
        time.sleep(0.3)
    assert not processes.alive(*running.identity)
    assert not beats(box.workspace)
