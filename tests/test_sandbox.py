"""What is seen and possible inside the boxes, where work may lie, and what this machine can do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eval_tasks import processes, sandbox
from eval_tasks.errors import ExperimentStopped
from eval_tasks.processes import Boxed, Finished, Level
from eval_tasks.sandbox import AgentBox, Bind, Bubblewrap, Caps, GradingBox
from tests.sealed_places import DROP, PROJECT, located, owned, work_folder

SEEN = {"bin", "dev", "etc", "h", "lib", "lib32", "lib64", "opt", "proc", "sbin", "tmp", "usr", "var", "w"}
NODE = Path(os.path.realpath(shutil.which("node") or "/usr/bin/node"))


@pytest.fixture(scope="module")
def work() -> Iterator[Path]:
    with work_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def box(work: Path) -> AgentBox:
    package = located("0.155.1", work).package
    config = work / "config.toml"
    config.write_text('model = "x"\n')
    return AgentBox(
        Bubblewrap.at(package / "codex-resources/bwrap"),
        package,
        owned(work / "calls" / "one" / "w"),
        binds=(Bind(config, "/h/.codex/config.toml"),),
        folders=("/h/.codex",),
        node=NODE,
    )


@pytest.fixture(scope="module")
def grading(box: AgentBox, work: Path) -> GradingBox:
    submission = work / "s"
    submission.mkdir()
    (submission / "index.js").write_text("module.exports = 6 * 7\n")
    sandbox.make_readable(submission)
    return GradingBox(box.bubblewrap, NODE, (Bind(submission, "/s"),))


def run(command: Boxed, **environment: str) -> Finished:
    return processes.run(
        command,
        environment={"PATH": "/opt/node/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **environment},
        wall_seconds=30,
        stdout_bytes=1_000_000,
    )


def inside(box: AgentBox | GradingBox, script: str) -> str:
    finished = run(box.command(["/bin/sh", "-c", f"exec 2>&1; {script}"]))
    return finished.stdout.decode()


def test_an_agent_sees_neutral_places_and_nothing_of_the_host(box: AgentBox, work: Path) -> None:
    assert inside(box, "pwd; cat /h/.codex/config.toml").splitlines() == ["/w", 'model = "x"']
    assert set(inside(box, "ls /").split()) <= SEEN
    for place in (PROJECT.root, work, "/root", "/home", "/var/lib", "/sys"):
        assert "No such file" in inside(box, f"ls -d {place}")
    assert inside(box, "hostname").strip() == "box"
    assert inside(box, "command -v node").strip() == "/opt/node/bin/node"


def test_a_project_among_the_systems_programs_would_be_shown() -> None:
    assert sandbox.shown(Path("/usr/src/project"))
    assert sandbox.shown(Path("/lib/project"))
    assert not sandbox.shown(PROJECT.root)
    assert not sandbox.shown(Path("/usr-not"))


def test_no_host_path_but_neutral_sources_is_visible(box: AgentBox, work: Path) -> None:
    # The kernel shows the source of each bind; it must say nothing about the project.
    seen = inside(box, "cat /proc/self/mountinfo; tr '\\0' ' ' </proc/1/cmdline")
    assert os.fspath(PROJECT.root) not in seen
    arguments = inside(box, "tr '\\0' ' ' </proc/1/cmdline")
    assert os.fspath(work / "calls") not in arguments
    assert "--args" in arguments


def test_only_the_workspace_home_and_temporary_folder_can_be_written(box: AgentBox) -> None:
    for place in ("/w/x", "/h/x", "/tmp/x", "/h/.codex/x"):
        assert inside(box, f"echo 1 > {place} && cat {place}").strip() == "1"
    for place in ("/x", "/usr/x", "/etc/x", "/opt/agent/x", "/var/tmp/x", "/h/.codex/config.toml"):
        assert "1" not in inside(box, f"echo 1 > {place} && cat {place}").splitlines()
    assert (box.workspace or Path()).joinpath("x").read_text() == "1\n"


def test_home_and_temporary_folder_are_empty_again_in_the_next_box(box: AgentBox) -> None:
    inside(box, "echo 1 > /h/left; echo 1 > /tmp/left")
    assert "left" not in inside(box, "ls /h /tmp")


@pytest.mark.skipif(not DROP, reason="only root has something to give up")
def test_nothing_runs_as_root_even_when_the_evaluator_does(box: AgentBox, grading: GradingBox) -> None:
    for each in (box, grading):
        assert inside(each, "id -u; id -g; id -G").split() == [str(sandbox.UNPRIVILEGED_ID)] * 3
    inside(box, "echo 1 > /w/mine")
    assert (box.workspace or Path()).joinpath("mine").stat().st_uid == sandbox.UNPRIVILEGED_ID


def test_the_memory_file_systems_are_capped(box: AgentBox) -> None:
    small = replace(box, caps=Caps(home_bytes=1 << 20, temp_bytes=1 << 20))
    for place in ("/h", "/tmp"):
        said = inside(small, f"head -c 3000000 /dev/zero > {place}/big; stat -c %s {place}/big")
        assert "No space left" in said
        assert int(said.split()[-1]) <= 1 << 20


def test_the_size_of_a_file_and_the_number_of_processes_are_capped(box: AgentBox) -> None:
    small = replace(box, caps=Caps(processes=20, file_bytes=1 << 20))
    inside(small, "head -c 3000000 /dev/zero > /w/big")
    assert (box.workspace or Path()).joinpath("big").stat().st_size == 1 << 20
    # Bash would retry a failed fork for seconds; python3 is not there on every system, so Node counts.
    count = (
        "const c = require('child_process'); let n = 0;"
        "for (let i = 0; i < 40; i++) { const p = c.spawn('sleep', ['9']); p.on('error', () => {}); if (p.pid) n++ }"
        "console.log(n); process.exit()"
    )
    finished = run(small.command(["/opt/node/bin/node", "-e", count]))
    assert not finished.stdout or int(finished.stdout) < 20
    assert int(run(box.command(["/opt/node/bin/node", "-e", count])).stdout) == 40


def test_an_overfull_folder_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").write_bytes(b"x" * 100_000)
    assert not sandbox.overfull(tmp_path, most_bytes=200_000, most_entries=10)
    assert sandbox.overfull(tmp_path, most_bytes=50_000, most_entries=10)
    assert sandbox.overfull(tmp_path, most_bytes=200_000, most_entries=2)
    # A sparse file takes no room, and a missing folder holds nothing.
    with open(tmp_path / "sparse", "wb") as stream:
        stream.truncate(1 << 40)
    assert not sandbox.overfull(tmp_path, most_bytes=200_000, most_entries=10)
    assert not sandbox.overfull(tmp_path / "nowhere", most_bytes=0, most_entries=0)


def test_the_preflight_passes_with_exactly_a_trials_arguments(box: AgentBox) -> None:
    assert sandbox.preflight(box)
    assert sandbox.attainable(box) is Level.SEALED


def test_the_preflight_fails_where_no_sandbox_can_start_inside(box: AgentBox) -> None:
    # What a machine without nested user namespaces does, for one box: bubblewrap itself can take them away.
    class Poor(AgentBox):
        def command(self, program: object) -> Boxed:
            whole = super().command(program)  # type: ignore[arg-type]
            return replace(whole, options=("--disable-userns", *whole.options))

    poor = Poor(**{name: getattr(box, name) for name in box.__dataclass_fields__})
    assert run(poor.command(["/bin/true"])).exit_status == 0
    assert not sandbox.preflight(poor)
    assert sandbox.attainable(poor) is Level.AGENT_SANDBOX


def test_a_machine_without_user_namespaces_attains_nothing(box: AgentBox, work: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from eval_tasks import sandbox\n"
        "package = Path(sys.argv[1])\n"
        "tool = sandbox.Bubblewrap(package / 'codex-resources/bwrap', drop=False)\n"
        "print(sandbox.attainable(sandbox.AgentBox(tool, package, None)))"
    )
    without = ["unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh"]
    ran = subprocess.run(
        [*without, sys.executable, "-c", script, os.fspath(box.package)],
        check=False,
        cwd=PROJECT.root,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.strip() == "None", ran.stderr[-300:]


def test_a_grader_reads_its_binds_and_reaches_nothing_else(grading: GradingBox) -> None:
    assert run(grading.command(["/opt/node/bin/node", "-p", "require('/s')"])).stdout == b"42\n"
    for place in ("/s/x", "/tmp/x", "/x", "/usr/x", "/dev/shm/x"):
        assert "1" not in inside(grading, f"echo 1 > {place} && cat {place}").splitlines()
    assert inside(grading, "ls /h /w /etc/passwd").count("No such file") == 3
    interfaces = inside(grading, "tail -n +3 /proc/net/dev")
    assert [line.split(":")[0].strip() for line in interfaces.splitlines()] == ["lo"]
    unshare = run(grading.command(["/usr/bin/unshare", "-U", "true"]))
    assert unshare.exit_status != 0


def test_a_graders_memory_is_capped(grading: GradingBox) -> None:
    hog = "const a = []; for (;;) a.push(Buffer.alloc(1 << 26, 1))"
    finished = run(grading.command(["/opt/node/bin/node", "-e", hog]))
    assert finished.exit_status != 0
    assert finished.elapsed_ms < 20_000


def test_the_host_environment_stays_outside(box: AgentBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_CANARY", "canary-7")
    assert "canary-7" not in inside(box, "env; cat /proc/*/environ")


def test_a_box_without_network_has_only_its_own_loopback(box: AgentBox) -> None:
    interfaces = inside(replace(box, network=False, workspace=None), "tail -n +3 /proc/net/dev")
    assert [line.split(":")[0].strip() for line in interfaces.splitlines()] == ["lo"]


def test_work_lies_below_the_state_folder_of_the_user(tmp_path: Path) -> None:
    # tmp_path is a temporary folder itself, so the rules are shown on names that need not exist.
    assert sandbox.work_root({"XDG_STATE_HOME": "/srv/state"}, root_user=False) == Path("/srv/state/workbench")
    assert sandbox.work_root({}, root_user=False) == Path.home() / ".local/state/workbench"
    assert sandbox.work_root({"XDG_STATE_HOME": "/srv/state"}, root_user=True) == Path("/var/lib/workbench")


@pytest.mark.parametrize("name", ["XDG_STATE_HOME", "TMPDIR"])
def test_work_in_a_temporary_folder_is_refused(name: str) -> None:
    environment = {"XDG_STATE_HOME": "/srv/state", name: "/tmp/state" if name != "TMPDIR" else "/srv"}
    with pytest.raises(ExperimentStopped, match="temporary folder") as stopped:
        sandbox.work_root(environment, root_user=False)
    assert "XDG_STATE_HOME" in str(stopped.value)
    assert "\n" not in str(stopped.value)


def test_work_in_a_git_repository_is_refused(work: Path) -> None:
    repository = work / "repository"
    (repository / "deep").mkdir(parents=True)
    (repository / ".git").mkdir()
    with pytest.raises(ExperimentStopped, match="git repository"):
        sandbox.check_work_root(repository / "deep" / "workbench", {"TMPDIR": "/tmp/elsewhere"})
    sandbox.check_work_root(work / "beside" / "workbench", {"TMPDIR": "/tmp/elsewhere"})


def test_a_link_into_a_temporary_folder_is_seen_through(work: Path) -> None:
    (work / "link").symlink_to("/tmp")
    with pytest.raises(ExperimentStopped, match="temporary folder"):
        sandbox.check_work_root(work / "link" / "workbench", {})


def test_names_of_the_work_root_say_nothing() -> None:
    name = sandbox.work_root({"XDG_STATE_HOME": "/srv"}, root_user=False).name
    assert not any(word in name for word in ("eval", "codex", "skill", "lean", "full", "trial", "case", "grade"))


def test_an_adopted_package_is_reachable_complete_and_linked(work: Path, tmp_path: Path) -> None:
    source = tmp_path / "hidden" / "package"
    (source / "bin").mkdir(parents=True, mode=0o700)
    (source / "bin" / "tool").write_text("#!/bin/sh\necho tool\n")
    (source / "bin" / "tool").chmod(0o700)
    (source / "note").write_text("note")
    adopted = sandbox.adopt(source, work / "adopted", "f" * 64)
    assert adopted == work / "adopted" / ("f" * 12)
    assert (adopted / "bin").stat().st_mode & 0o777 == 0o755
    assert (adopted / "bin" / "tool").stat().st_mode & 0o777 == 0o755
    command = [*sandbox.unprivileged(DROP), os.fspath(adopted / "bin" / "tool")]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"tool\n"
    linkable = source.stat().st_dev == adopted.stat().st_dev
    assert os.path.samefile(source / "note", adopted / "note") == linkable


def test_an_adopted_package_that_differs_is_made_anew(work: Path, tmp_path: Path) -> None:
    source = tmp_path / "tool"
    source.write_text("one")
    adopted = sandbox.adopt(source, work / "renewed", "a" * 64)
    adopted.unlink()
    adopted.write_text("forged")
    assert sandbox.adopt(source, work / "renewed", "a" * 64).read_text() == "one"
    assert [entry.name for entry in (work / "renewed").iterdir()] == ["a" * 12]


def test_ownership_never_follows_a_link(work: Path) -> None:
    outside = work / "outside"
    outside.write_text("mine")
    folder = work / "owned"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    sandbox.own(folder, drop=DROP)
    assert outside.stat().st_uid == os.getuid()
    assert (folder / "link").lstat().st_uid == (sandbox.UNPRIVILEGED_ID if DROP else os.getuid())


def test_options_with_awkward_paths_arrive_unharmed(box: AgentBox, work: Path) -> None:
    odd = work / "odd \u00e9 'name'\n--bind"
    odd.mkdir()
    (odd / "file").write_text(json.dumps("inside"))
    sandbox.make_readable(odd)
    assert inside(replace(box, binds=(Bind(odd, "/h/odd"),)), "cat /h/odd/file") == '"inside"'


def test_a_second_project_with_the_same_package_leaves_the_copy_alone_that_calls_run_from(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for package in (first, second):
        (package / "bin").mkdir(parents=True)
        (package / "bin" / "agent").write_bytes(b"#!/bin/sh\n")
        (package / "bin" / "agent").chmod(0o755)
    fingerprint = sandbox.fingerprint_of(first / "bin" / "agent")
    adopted = sandbox.adopt(first, tmp_path / "work", fingerprint)
    before = adopted.stat().st_ino
    assert sandbox.adopt(second, tmp_path / "work", fingerprint) == adopted
    assert adopted.stat().st_ino == before
    (second / "bin" / "agent").write_bytes(b"#!/bin/sh\n# new\n")
    assert sandbox.adopt(second, tmp_path / "work", fingerprint).stat().st_ino != before
