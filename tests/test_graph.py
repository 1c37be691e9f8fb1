from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval_tasks import actions, options, schedule, sources
from eval_tasks.registration import Registration
from tests import small_project

REPOSITORY = Path(__file__).resolve().parents[1]
GRAPH = """if True:
    import json
    import dodo
    from doit.control import TaskControl
    from doit.loader import load_tasks

    def action(of):
        return of.py_callable.__name__ if hasattr(of, "py_callable") else str(of)

    found = {}
    for name, task in TaskControl(load_tasks(vars(dodo))).tasks.items():
        found[name] = {
            "before": sorted({*task.task_dep, *task.setup_tasks, *task.calc_dep}),
            "actions": [action(each) for each in task.actions],
            "arguments": [list(getattr(each, "args", ())) for each in task.actions],
            "files": sorted(task.file_dep),
            "targets": sorted(task.targets),
            "clean": bool(task.clean_actions or task._remove_targets),
            "about": task.doc,
        }
    print(json.dumps({"tasks": found, "default": dodo.DOIT_CONFIG["default_tasks"]}))
"""
SPENDING = {"canary", "arm_run", "probe"}


@dataclass(frozen=True)
class Graph:
    """The tasks as doit itself has put them together, implicit dependencies included."""

    tasks: Mapping[str, dict[str, Any]]
    default: list[str]

    def reached(self, *names: str) -> set[str]:
        """Return every task that running some tasks may run."""
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.tasks[name]["before"]
        return found

    def doing(self, *names: str) -> set[str]:
        """Return the actions of some tasks."""
        return {action for name in names for action in self.tasks[name]["actions"]}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-B", *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": f"{folder}:{REPOSITORY}"},
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def graph_of(folder: Path) -> Graph:
    ran = run(folder, "-c", GRAPH)
    assert ran.returncode == 0, ran.stderr
    return Graph(**json.loads(ran.stdout))


@pytest.fixture(scope="module")
def unregistered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a project in which nothing was ever run."""
    return small_project.make(tmp_path_factory.mktemp("unregistered") / "p").root


@dataclass(frozen=True)
class Registered:
    graph: Graph
    registration: Registration
    folder: str
    """The experiment's folder relative to the project."""


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Registered:
    project = small_project.make(tmp_path_factory.mktemp("registered") / "p")
    value = small_project.registered(project, repeats=2)
    experiment = small_project.retain(project, value)
    return Registered(graph_of(project.root), value, experiment.root.relative_to(project.root).as_posix())


@pytest.fixture(scope="module")
def graph(registered: Registered) -> Graph:
    return registered.graph


# Without a registration


def test_an_unregistered_project_has_every_command_and_no_outcome(unregistered: Path) -> None:
    found = graph_of(unregistered)
    assert {"toolchain", "register", "digest", "gate", "recover", "prepare", "arm_run", "grade", "probe"} <= set(
        found.tasks
    )
    assert {"run_eval", "manifest", "analyze", "report", "status", "purge"} <= set(found.tasks)
    assert [name for name in found.tasks if name.startswith(("arm_run:", "grade:", "probe:"))] == []
    assert found.default == ["report"]


def test_listing_works_before_anything_is_registered_and_registers_nothing(unregistered: Path) -> None:
    ran = run(unregistered, "-m", "doit", "list")
    assert (ran.returncode, ran.stderr) == (0, "")
    listed = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines())
    assert listed["register"].startswith("Bind everything by digest")
    assert all(about.endswith(".") for about in listed.values())
    assert set(os.listdir(unregistered / "experiments")) <= {".doit.db"}


@pytest.mark.parametrize("command", ["report", "run_eval"])
def test_without_a_registration_a_command_says_in_one_line_what_to_run(unregistered: Path, command: str) -> None:
    ran = run(unregistered, "-m", "doit", command)
    assert ran.returncode == 1
    assert ran.stderr == "stopped: no experiment is registered here; run `doit register` first\n"


# Options


HELP = """if True:
    import sys
    import dodo
    from doit.cmd_base import ModuleTaskLoader
    from doit.doit_cmd import DoitMain

    for command in sys.argv[1:]:
        print("=== " + command)
        assert DoitMain(ModuleTaskLoader(vars(dodo)), config_filenames=()).run(["help", command]) == 0
"""


def test_the_help_of_a_command_explains_each_of_its_options(unregistered: Path) -> None:
    ran = run(unregistered, "-c", HELP, *options.COMMANDS)
    assert ran.returncode == 0, ran.stderr
    pages = [page.split(maxsplit=1) for page in ran.stdout.split("=== ")[1:]]
    assert [command for command, _ in pages] == list(options.COMMANDS)
    for command, page in pages:
        said = " ".join(page.split())
        for option in options.COMMANDS[command]:
            assert re.search(rf"--{option['long']}\b.*{re.escape(option['help'])}", said)


def test_an_option_that_was_not_given_is_empty() -> None:
    every = [option for command in options.COMMANDS.values() for option in command]
    assert {(option["type"], option["default"]) for option in every} <= {(str, ""), (int, 0), (bool, False)}
    assert all(option["name"] == option["long"].replace("-", "_") for option in every)


def test_an_action_takes_the_options_of_its_command_by_their_names() -> None:
    register = inspect.signature(actions.register).parameters
    assert [parameter.kind for parameter in register.values()] == [inspect.Parameter.VAR_KEYWORD]
    assert set(inspect.signature(actions.status).parameters) == {option["name"] for option in options.STATUS}


# Who can spend


def stages_that_spend() -> set[str]:
    """Return the stages that make calls, and those that use one of these."""
    trees = {
        path.stem: ast.parse(path.read_bytes()) for path in (REPOSITORY / "eval_tasks" / "stages").glob("[!_]*.py")
    }
    found = {stage for stage, tree in trees.items() if "calls.make" in attributes(tree)}
    while more := {
        stage
        for stage in trees.keys() - found
        if any(f"eval_tasks.stages.{other}" in sources.imports(f"eval_tasks.stages.{stage}") for other in found)
    }:
        found |= more
    return found


def attributes(tree: ast.AST) -> set[str]:
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_the_actions_that_make_calls_are_those_of_canaries_trials_and_probes_alone() -> None:
    spending = stages_that_spend()
    assert spending == {"canary", "select", "run_arm", "run_probe"}
    users: dict[str, set[str]] = {}
    for node in ast.parse((REPOSITORY / "eval_tasks" / "actions.py").read_bytes()).body:
        if isinstance(node, ast.FunctionDef):
            for name in attributes(node):
                users.setdefault(name.split(".")[0].removeprefix("stage_"), set()).add(node.name)
    assert users["grade"] == {"grade"}
    assert {action for stage in spending for action in users.get(stage, ())} == SPENDING


def test_the_actions_that_make_calls_stand_only_in_tasks_of_their_own_name(graph: Graph) -> None:
    for name, task in graph.tasks.items():
        if SPENDING & set(task["actions"]):
            kind, _, outcome = name.partition(":")
            assert (task["actions"], task["arguments"]) == ([kind], [[outcome] if outcome else []])


@pytest.mark.parametrize("command", ["report", "analyze", "manifest", "status", "purge", "register", "gate", "recover"])
def test_no_command_but_run_eval_reaches_a_trial_a_probe_or_an_install(graph: Graph, command: str) -> None:
    reached = graph.reached(command)
    assert [
        name for name in reached if name.split(":")[0] in {"canary", "arm_run", "probe", "prepare", "run_eval", "grade"}
    ] == []
    assert graph.doing(*reached) & {*SPENDING, "prepare", "agree", "settle"} == set()


def test_the_report_reaches_the_stages_behind_it_and_nothing_else(graph: Graph) -> None:
    assert graph.reached("report") == {"report", "analyze", "manifest"}


def test_run_eval_reaches_every_outcome_and_asks_for_agreement_first(registered: Registered) -> None:
    graph = registered.graph
    reached = graph.reached("run_eval")
    assert graph.doing("run_eval:agree") == {"agree"}
    trials = [trial.name for trial in registered.registration.trials]
    assert {f"arm_run:{name}" for name in trials} | {f"grade:{name}" for name in trials} <= reached
    assert {f"probe:{name}" for name in registered.registration.probes} <= reached
    assert {"recover", "gate", "digest", "prepare:full", "prepare:lean"} <= reached


def test_neither_registering_nor_reporting_registers_on_its_way(graph: Graph) -> None:
    """A target of `register` would let doit register whenever a registration is missing."""
    assert graph.tasks["register"]["targets"] == []
    assert [name for name, task in graph.tasks.items() if "register" in task["before"]] == []


# The order


def test_every_outcome_waits_for_the_one_before_it_in_the_registered_order(registered: Registered) -> None:
    """One chain: doit runs tasks that had to wait in any order, and another order would undo the rotation."""
    graph, found = registered.graph, registered.registration
    chain = [name for trial in found.trials for name in (f"arm_run:{trial.name}", f"grade:{trial.name}")]
    chain += [f"probe:{name}" for name in found.probes]
    assert len(chain) == 2 * 2 * 3 * 2 + 2
    assert graph.tasks[chain[0]]["before"] == ["canary"]
    assert graph.tasks["canary"]["before"] == ["prepare"]
    for before, name in pairwise(chain):
        assert before in graph.tasks[name]["before"]
    assert found.trials == schedule.trials(["bread", "cake"], ["full", "manual-lean", "auto-lean"], 2)


def test_installs_wait_for_the_gate_and_for_what_a_killed_run_left(graph: Graph) -> None:
    for name in ("prepare:full", "prepare:lean"):
        assert {"gate", "recover"} <= set(graph.tasks[name]["before"])
    assert "digest" in graph.tasks["gate"]["before"]


# What the tasks read and leave


def test_no_outcome_is_a_target_and_none_can_be_cleaned(registered: Registered) -> None:
    """What was paid for must not go with `doit clean`, and a lost target must not run anything again."""
    targets = {target for task in registered.graph.tasks.values() for target in task["targets"]}
    folder = registered.folder
    assert targets == {
        "toolchain/node_modules/.package-lock.json",
        *(f"{folder}/{name}.json" for name in ("digests", "gate", "manifest", "metrics")),
    }
    assert [name for name, task in registered.graph.tasks.items() if task["clean"]] == []


def test_an_outcome_depends_on_its_registration_and_on_its_own_install(registered: Registered) -> None:
    folder = registered.folder
    for trial in registered.registration.trials:
        install = "full" if trial.arm == "full" else "lean"
        files = [f"{folder}/inventory/{install}.json", f"{folder}/registration.json"]
        assert registered.graph.tasks[f"arm_run:{trial.name}"]["files"] == files
        graded = [f"{folder}/arm-runs/{trial.name}.json", f"{folder}/registration.json"]
        assert registered.graph.tasks[f"grade:{trial.name}"]["files"] == graded


def test_the_database_of_doit_holds_no_place_of_this_machine(graph: Graph) -> None:
    for task in graph.tasks.values():
        assert [name for name in [*task["files"], *task["targets"]] if Path(name).is_absolute()] == []


def test_the_flow_file_holds_no_logic_but_one_loop_and_the_choice_to_settle() -> None:
    text = (REPOSITORY / "eval_tasks" / "tasks.py").read_text("utf-8")
    allowed = {"task_run_eval": 1, "task_prepare": 1}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            choices = [each for each in ast.walk(node) if isinstance(each, ast.If | ast.For | ast.While | ast.Try)]
            assert len(choices) <= allowed.get(node.name, 0), node.name


def test_a_command_that_only_reads_makes_no_task_of_an_outcome_and_every_other_does(tmp_path: Path) -> None:
    project = small_project.make(tmp_path / "p")
    small_project.retain(project, small_project.registered(project))
    program = (
        "import sys; sys.argv = ['doit', *sys.argv[1:]]; import dodo;"
        "print(sum(1 for _ in dodo.task_arm_run()), sum(1 for _ in dodo.task_probe()), len(dodo.graph.outcomes()))"
    )
    counts = {
        command: run(project.root, "-c", program, *command.split()).stdout.split()
        for command in ("report", "status --json", "run_eval", "list", "report run_eval", "run report")
    }
    none, every = ["0", "0", "2"], ["6", "2", "16"]
    assert counts == {
        "report": none,
        "status --json": none,
        "run_eval": every,
        "list": every,
        "report run_eval": every,
        "run report": every,
    }
