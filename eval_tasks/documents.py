"""YAML documents that people write, read with the line of every key so that an error can name its place.

Must never construct anything but plain values, and never let a malformed document through as a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A parsed document: its value and the line (from 1) on which each part of it begins."""

    name: str
    value: Any
    lines: Mapping[Place, int] = field(repr=False)

    def line(self, place: Place) -> int:
        """Return the line of a part, or of the nearest part around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def refuse(self, place: Place, reason: str) -> ExperimentStopped:
        """Return the error that names this document, the line of a part and what is wrong with it."""
        where = ".".join(str(part) for part in place)
        return ExperimentStopped(f"{self.name}:{self.line(place)}: {where + ': ' if where else ''}{reason}")


class _UniqueKeys(yaml.SafeLoader):
    """The safe loader, which besides refuses a key that stands twice, aliases and merges."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="an alias is not allowed here", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def read(path: Path, name: str, schema: str | None = None) -> Document:
    """Read a YAML file, and check it against a schema if one is named.

    Parameters
    ----------
    path
        The file.
    name
        How messages name it, relative to the project.
    schema
        A schema of `eval_tasks/schemas/`.

    Raises
    ------
    ExperimentStopped
        With file, line and reason, for a file that is missing, is no UTF-8, is no YAML or breaks the schema.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise ExperimentStopped(f"{name}: there is no such file; write it or name another one") from error
    except UnicodeDecodeError as error:
        raise ExperimentStopped(f"{name}: not valid UTF-8 at byte {error.start}; save it as UTF-8") from error
    except OSError as error:
        raise ExperimentStopped(f"{name}: can't be read ({error.strerror})") from error
    document = parse(text, name)
    if schema is not None:
        check(document, schema)
    return document


def parse(text: str, name: str) -> Document:
    """Parse the text of one YAML document."""
    loader = _UniqueKeys(text)
    try:
        node = loader.get_single_node()
        lines: dict[Place, int] = {}
        if node is not None:
            _note_lines(node, (), lines, name)
        value = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise ExperimentStopped(f"{name}:{line}: not valid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ExperimentStopped(f"{name}: not valid YAML: {type(error).__name__}; correct it") from error
    finally:
        loader.dispose()
    return Document(name, value, lines)


def _note_lines(node: yaml.Node, place: Place, lines: dict[Place, int], name: str) -> None:
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, str(key.value))
            if inner in lines:
                raise ExperimentStopped(f"{name}:{key.start_mark.line + 1}: the key '{key.value}' stands twice")
            lines[inner] = key.start_mark.line + 1
            _note_lines(value, inner, lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _note_lines(value, (*place, index), lines, name)


def check(document: Document, schema: str) -> None:
    """Raise `ExperimentStopped` with file, line and reason if a document breaks its schema."""
    errors = sorted(
        records.validator(schema).iter_errors(document.value),
        key=lambda error: (document.line(tuple(error.absolute_path)), str(error.absolute_path)),
    )
    if errors:
        place = tuple(errors[0].absolute_path)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise document.refuse(place, records.reason(errors[0]) + more)
