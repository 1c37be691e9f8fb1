"""The architecture: which module stands on which floor, what it may import, and what a registration binds of it."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from eval_tasks import sources

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "eval_tasks"
DODO = PROJECT / "dodo.py"

FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "paths", "records"),
    ("digests", "documents", "files", "intervals", "journal", "processes", "sandbox", "sources"),
    (
        "agents",
        "analysis",
        "arms",
        "attempts",
        "binding",
        "corpus",
        "experiment",
        "grading",
        "installs",
        "library",
        "origin",
        "registration",
        "rehearsal",
        "schedule",
        "selection",
        "trials",
    ),
    ("report", "stages"),
    ("actions", "boundary", "deferred", "graph", "options", "progress", "tasks"),
)
"""The modules and packages of each floor, from the lowest; imports go down or stay on their floor, without a cycle."""

IMPORTED_WHERE_USED = {
    ("eval_tasks.analysis.planning", "numpy"),
    ("eval_tasks.analysis.planning", "scipy"),
    ("eval_tasks.intervals", "scipy"),
    ("eval_tasks.progress", "rich"),
    ("eval_tasks.records", "jsonschema"),
    ("eval_tasks.records", "jsonschema_rs"),
    ("eval_tasks.records", "referencing"),
    ("eval_tasks.selection.ranking", "Stemmer"),
    ("eval_tasks.selection.ranking", "bm25s"),
}
"""The only imports inside functions: packages so slow to import that every `doit list` would pay for them."""

DOIT_FLOOR = len(FLOORS) - 1
BOUND_BESIDE_ITS_CLOSURE = {"dodo.py", "eval_tasks/actions.py", "eval_tasks/graph.py", "eval_tasks/tasks.py"}


@cache
def modules() -> tuple[str, ...]:
    """Return every module of the package."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return tuple(sorted(found))


def floor(module: str) -> int:
    """Return the floor of a module; the package itself stands on the lowest."""
    parts = module.split(".")
    return 0 if len(parts) == 1 else next(level for level, names in enumerate(FLOORS) if parts[1] in names)


@cache
def tree(module: str) -> ast.Module:
    parts = module.split(".")[1:]
    path = PACKAGE.joinpath(*parts).with_suffix(".py") if parts else PACKAGE / "__init__.py"
    return ast.parse((path if path.is_file() else PACKAGE.joinpath(*parts, "__init__.py")).read_bytes())


def named(node: ast.stmt, known: Iterable[str]) -> Iterator[str]:
    """Yield the modules that one import statement names; `from package import module` names the module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "relative import"
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in known else str(node.module)


@cache
def imports(module: str) -> frozenset[str]:
    known = set(modules())
    statements = (node for node in ast.walk(tree(module)) if isinstance(node, ast.stmt))
    return frozenset(name for node in statements for name in named(node, known))


def ours(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "eval_tasks"}


def test_every_module_has_one_floor_and_every_name_of_the_table_a_module() -> None:
    table = [name for names in FLOORS for name in names]
    tops = {module.split(".")[1] for module in modules() if "." in module}
    assert sorted(table) == sorted(tops)


def test_imports_only_go_down_or_stay_on_their_floor() -> None:
    wrong = [(one, other) for one in modules() for other in ours(imports(one)) if floor(other) > floor(one)]
    assert wrong == []


def test_imports_have_no_cycle() -> None:
    pending = {module: ours(imports(module)) for module in modules()}
    while free := [module for module, needed in pending.items() if not needed & pending.keys()]:
        for module in free:
            del pending[module]
    assert pending == {}


def test_only_the_highest_floor_knows_doit() -> None:
    knowing = {module for module in modules() if any(name.split(".")[0] == "doit" for name in imports(module))}
    assert knowing
    assert {floor(module) for module in knowing} == {DOIT_FLOOR}


def test_an_import_stands_inside_a_function_only_where_it_is_declared() -> None:
    found = set()
    for module in modules():
        for function in ast.walk(tree(module)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inner = (node for node in ast.walk(function) if isinstance(node, ast.stmt))
                found |= {(module, name.split(".")[0]) for node in inner for name in named(node, ())}
    assert found == IMPORTED_WHERE_USED


def test_no_module_imports_everything_of_another() -> None:
    starred = [
        module
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    assert starred == []


# What importing does

WATCH = """
import importlib, json, sys, sysconfig
places = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
listing = ("os.listdir", "os.scandir")
harmless = ("import", "exec", "compile", "marshal.", "object.", "sys.", "code.", "cpython.", "builtins.", "ctypes.")
seen = []
def watch(event, arguments):
    if event.startswith(harmless) or event in listing:
        return
    subject = str(arguments[0]) if arguments else ""
    source = event == "open" and (subject.startswith(places) or subject.endswith((".py", ".pyc")))
    if not source:
        seen.append(f"{event} {subject}")
sys.addaudithook(watch)
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps([seen, sorted(name for name in sys.modules if "." not in name)]))
"""
SLOW = {"scipy", "numpy", "doit", "bm25s", "Stemmer", "jsonschema", "referencing"}


def run(program: str, *arguments: str, folder: Path = PROJECT) -> str:
    """Run a Python program of its own in a project's folder and return what it prints."""
    ran = subprocess.run(
        [sys.executable, "-B", "-c", program, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return ran.stdout


@pytest.fixture(scope="module")
def watched() -> tuple[list[str], set[str]]:
    """Return what importing all but the highest floor did beside reading sources, and what it has loaded."""
    below = [module for module in modules() if floor(module) < DOIT_FLOOR]
    seen, loaded = json.loads(run(WATCH, *below))
    return seen, set(loaded)


def test_importing_reads_sources_and_does_nothing_else(watched: tuple[list[str], set[str]]) -> None:
    assert watched[0] == []


def test_importing_loads_no_slow_package_and_no_doit(watched: tuple[list[str], set[str]]) -> None:
    assert "eval_tasks" in watched[1]
    assert watched[1] & SLOW == set()


def test_whatever_else_an_import_did_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "restless.py").write_text(
        "import os, socket\nopen('notes.txt').close()\nsocket.socket().close()\nos.mkdir('made')\n"
    )
    seen, loaded = json.loads(run(WATCH, "restless", folder=tmp_path))
    assert [line.split()[0] for line in seen] == ["open", "socket.__new__", "os.mkdir"]
    assert "restless" in loaded


# What is bound


def loaded_by(stages: Iterable[str]) -> set[str]:
    """Return the files of this package that importing some stages really loads."""
    lines = [f"import eval_tasks.stages.{stage}" for stage in stages]
    found = "sorted(module.__file__ for name, module in sys.modules.items() if name.split('.')[0] == 'eval_tasks')"
    printed = run("\n".join(["import json, sys", *lines, f"print(json.dumps({found}))"]))
    return {Path(name).relative_to(PROJECT).as_posix() for name in json.loads(printed)}


@pytest.fixture(scope="module")
def executed() -> set[str]:
    return loaded_by(sources.EXECUTION_STAGES)


def test_the_execution_binds_what_its_stages_load_what_doit_reads_and_the_runtimes_and_schemas(
    executed: set[str],
) -> None:
    bytes_only = {
        path.relative_to(PROJECT).as_posix()
        for path in [*PACKAGE.rglob("*.cjs"), *PACKAGE.rglob("*.schema.json")]
        if path.name not in sources.OF_ANALYSIS
    }
    assert any(name.endswith(".cjs") for name in bytes_only)
    assert set(sources.execution(DODO)) == executed | BOUND_BESIDE_ITS_CLOSURE | bytes_only


def test_the_analysis_binds_what_its_stage_loads_beside_what_the_execution_loads(executed: set[str]) -> None:
    schema = "eval_tasks/schemas/metrics.schema.json"
    assert set(sources.analysis()) == (loaded_by(sources.ANALYSIS_STAGES) - executed) | {schema}
    assert "eval_tasks/intervals.py" in sources.analysis()


def test_the_stages_that_spend_or_grade_are_bound_and_those_that_only_show_are_not() -> None:
    execution, analysis = sources.execution(DODO), sources.analysis()
    assert execution.keys().isdisjoint(analysis)
    for stage in ("prepare", "run_probe", "run_arm", "grade", "calls", "session"):
        assert f"eval_tasks/stages/{stage}.py" in execution
    for stage in ("report", "status", "publish", "manifest"):
        assert f"eval_tasks/stages/{stage}.py" not in {*execution, *analysis}
    assert not any(name.startswith("eval_tasks/report/") for name in {*execution, *analysis})


def test_each_digest_is_that_of_the_files_bytes() -> None:
    for name, digest in {**sources.execution(DODO), **sources.analysis()}.items():
        assert hashlib.sha256((PROJECT / name).read_bytes()).hexdigest() == digest


def test_the_selectors_digest_follows_the_selection_alone(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "eval_tasks", ignore=shutil.ignore_patterns("__pycache__"))
    program = """if True:
        from pathlib import Path
        from eval_tasks import sources
        print(sources.selector())
        for name in ("schedule.py", "selection/ranking.py"):
            path = Path("eval_tasks", name)
            path.write_bytes(path.read_bytes() + b"\\n")
            print(sources.selector())
    """
    before, other, ranking = run(program, folder=tmp_path).split()
    assert before == other == sources.selector() != ranking


def test_a_module_is_bound_as_soon_as_a_bound_module_imports_it(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "eval_tasks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(DODO, tmp_path / "dodo.py")
    extra = tmp_path / "eval_tasks" / "novel"
    extra.mkdir()
    (extra / "__init__.py").write_text("")
    (extra / "ways.py").write_text("import eval_tasks.novel.means\n")
    (extra / "means.py").write_text("")
    program = (
        "import json; from pathlib import Path; from eval_tasks import sources;"
        "print(json.dumps(sorted(sources.execution(Path('dodo.py')))))"
    )
    before = set(json.loads(run(program, folder=tmp_path)))
    schedule = tmp_path / "eval_tasks" / "schedule.py"
    schedule.write_text(schedule.read_text("utf-8") + "\n\ndef late() -> None:\n    import eval_tasks.novel.ways\n")
    after = set(json.loads(run(program, folder=tmp_path)))
    assert after - before == {f"eval_tasks/novel/{name}.py" for name in ("__init__", "ways", "means")}
