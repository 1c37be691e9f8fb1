"""The evaluator's own sources: which modules a stage imports, and the digests of their bytes.

Must never import a module to find out what it imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from eval_tasks import digests
from eval_tasks.paths import PACKAGE, SCHEMAS

PACKAGE_NAME = PACKAGE.name
EXECUTION_STAGES = ("prepare", "canary", "run_probe", "run_arm", "grade")
ANALYSIS_STAGES = ("analyze",)
OF_ANALYSIS = ("metrics.schema.json", "report.schema.json")
"""Schemas that no execution reads; the metrics' is a source of the analysis."""
FLOW = ("actions.py", "graph.py", "tasks.py")
"""What `dodo.py` is made of: its tasks, which stage an action runs, and in which order the outcomes come."""


def module_file(name: str) -> Path | None:
    """Return the file of a module of this package, or None if there is none of that name."""
    relative = Path(*name.split(".")[1:]) if "." in name else Path()
    for candidate in (
        PACKAGE / relative.with_suffix(".py") if relative.parts else None,
        PACKAGE / relative / "__init__.py",
    ):
        if candidate is not None and candidate.is_file():
            return candidate
    return None


@cache
def imports(name: str) -> frozenset[str]:
    """Return the modules of this package that a module imports."""
    path = module_file(name)
    if path is None:
        return frozenset()
    found: set[str] = set()
    for node in _statements(ast.parse(path.read_bytes()).body):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(module for module in found if module.split(".")[0] == PACKAGE_NAME and module_file(module))


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside them; expressions, most of a tree, hold no import."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _statements(handler.body)
        for case in getattr(node, "cases", ()):
            yield from _statements(case.body)


def closure(modules: Iterable[str]) -> list[str]:
    """Return the modules reached from some modules by imports, themselves and the packages around them included."""
    found: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(imports(name))
            pending.extend(name.rsplit(".", 1)[:-1])
    return sorted(found)


def _relative(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()


def _files(stages: Iterable[str]) -> list[Path]:
    modules = closure(f"{PACKAGE_NAME}.stages.{stage}" for stage in stages)
    return [path for path in map(module_file, modules) if path is not None]


def execution(dodo: Path) -> dict[str, str]:
    """Return the digest of every source that the execution of a registered experiment depends on.

    That is the import closure of the stages that pay or grade, the runtimes inside the sandbox, the schemas, and
    `dodo.py` with what it is made of.
    """
    paths = [*_files(EXECUTION_STAGES), *(PACKAGE / name for name in FLOW)]
    paths += sorted(PACKAGE.glob("**/*.cjs"))
    paths += [path for path in sorted(SCHEMAS.glob("*.json")) if path.name not in OF_ANALYSIS]
    found = {_relative(path): digests.of_file(path) for path in paths}
    found["dodo.py"] = digests.of_file(dodo)
    return dict(sorted(found.items()))


def analysis() -> dict[str, str]:
    """Return the digest of every source of the analysis that the execution does not share."""
    executed = set(_files(EXECUTION_STAGES))
    paths = [path for path in _files(ANALYSIS_STAGES) if path not in executed] + [SCHEMAS / OF_ANALYSIS[0]]
    return {_relative(path): digests.of_file(path) for path in sorted(paths)}


def selector() -> str:
    """Return the digest of the reference selector's own sources; how a library is read is bound with the others."""
    modules = [name for name in closure([f"{PACKAGE_NAME}.selection.resolver"]) if ".selection" in name]
    paths = [path for path in map(module_file, modules) if path is not None]
    return digests.of_entries({_relative(path): digests.of_file(path) for path in paths})
