"""YAML documents that people write, read with the line of every key so that an error can name its place.

Must never construct anything but plain values, and never let a malformed document through as a traceback.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped

Place = tuple[str | int, ...]
_TEXT = "tag:yaml.org,2002:str"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml, where PyYAML has it, reads a corpus ten times faster."""


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
    if path.exists() and not path.is_file():
        raise ExperimentStopped(f"{name}: is no regular file; replace it by one")
    try:
        content = path.read_bytes()
        text = content.decode("utf-8")
    except FileNotFoundError as error:
        raise ExperimentStopped(f"{name}: there is no such file; write it or name another one") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ExperimentStopped(
            f"{name}: not valid UTF-8 at byte {error.start} (line {line}); save it as UTF-8"
        ) from error
    except OSError as error:
        raise ExperimentStopped(f"{name}: can't be read ({error.strerror})") from error
    document = parse(text, name)
    if schema is not None:
        check(document, schema)
    return document


def parse(text: str, name: str) -> Document:
    """Parse the text of one YAML document of plain values: everything in it has a JSON form.

    Raises
    ------
    ExperimentStopped
        With file, line and reason.
    """
    lines: dict[Place, int] = {}
    try:
        value = _value(text, name, lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise ExperimentStopped(f"{name}:{line}: not valid YAML: {error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        # The error's own position counts bytes in libyaml and characters in PyYAML.
        found = yaml.reader.Reader.NON_PRINTABLE.search(text)
        line = text[: found.start()].count("\n") + 1 if found is not None else 1
        raise ExperimentStopped(f"{name}:{line}: not valid YAML: a character that no text file has") from error
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, RecursionError) as error:
        # KeyError and AttributeError are what PyYAML makes of `!!bool x` and `!!timestamp x`.
        raise ExperimentStopped(f"{name}: not valid YAML: {type(error).__name__}; correct it") from error
    document = Document(name, value, lines)
    _refuse_what_json_lacks(document, value, ())
    return document


def _value(text: str, name: str, lines: dict[Place, int]) -> Any:
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_aliases(node, set())
        _note_lines(node, (), lines, name)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _refuse_aliases(node: yaml.Node, seen: set[int]) -> None:
    """Refuse a node that stands at two places: a person who reads the file would have to follow it."""
    if id(node) in seen:
        raise yaml.MarkedYAMLError(
            problem="what stands here is used again by an alias, which is not allowed", problem_mark=node.start_mark
        )
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _refuse_aliases(key, seen)
            _refuse_aliases(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_aliases(value, seen)


def _note_lines(node: yaml.Node, place: Place, lines: dict[Place, int], name: str) -> None:
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, str(key.value))
            line = key.start_mark.line + 1
            if inner in lines:
                raise ExperimentStopped(f"{name}:{line}: the key '{key.value}' stands twice")
            if key.tag != _TEXT:
                # Besides numbers and booleans (`on:` is one), this is the merge key `<<`.
                raise ExperimentStopped(f"{name}:{line}: a key must be text; put it in quotes")
            lines[inner] = line
            _note_lines(value, inner, lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _note_lines(value, (*place, index), lines, name)


def _refuse_what_json_lacks(document: Document, value: Any, place: Place) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse_what_json_lacks(document, key, place)
            _refuse_what_json_lacks(document, inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_what_json_lacks(document, inner, (*place, index))
    elif isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise document.refuse(place, "holds half a character; correct its escapes")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise document.refuse(place, "must be a finite number")
    elif value is not None and not isinstance(value, int):
        raise document.refuse(place, "must be text, a number, true, false or null; put it in quotes to make it text")


def check(document: Document, schema: str) -> None:
    """Raise `ExperimentStopped` with file, line and reason if a document breaks its schema."""
    if records.fits(schema, document.value):
        return
    errors = sorted(
        records.validator(schema).iter_errors(document.value),
        key=lambda error: (document.line(tuple(error.absolute_path)), str(error.absolute_path)),
    )
    if errors:
        place = tuple(errors[0].absolute_path)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise document.refuse(place, records.reason(errors[0]) + more)
