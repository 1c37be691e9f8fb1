"""Imports that run when a module is first used, so that a command waits only for the stages that it reaches.

Must never change what an import means: whoever reads the sources, a type checker among them, sees plain imports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader
from types import ModuleType


class _Finder(MetaPathFinder):
    """Finds modules below one package, and puts off running them."""

    def __init__(self, package: str) -> None:
        self._prefix = f"{package}."

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(self._prefix):
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def below(package: str) -> Iterator[None]:
    """Put off every import of a module below a package, from here to the end of the block."""
    finder = _Finder(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def load(package: str) -> None:
    """Run what was put off below a package; before threads begin, since two could run one module at once."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith(f"{package}."):
            _ = module.__doc__
