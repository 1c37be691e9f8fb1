"""The reference of every file format, as one Markdown page that follows from the schemas alone.

Must never say what no schema says: a sentence that is missing on the page belongs into its schema.

`python -m eval_tasks.reference > docs/reference.md` writes the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from eval_tasks import records
from eval_tasks.paths import SCHEMAS

Schema = Mapping[str, Any]
Row = tuple[str, str, str, str]
"""A key, what its value is, whether it must be there, and what it says."""

WRITTEN = ("experiment", "corpus", "case", "probes", "profile")
"""The schemas of what people write, in the order in which they meet it."""
SPOKEN = ("selector-task", "selector-answer")

_BOUNDS = {
    "minLength": "{} or more characters",
    "maxLength": "at most {} characters",
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "minItems": "{} or more entries",
    "maxItems": "at most {} entries",
    "pattern": "`{}`",
}
_SEVERAL = ("oneOf", "anyOf")
_HEAD = """# Reference of the file formats

This page follows from the JSON Schemas in `docs/schemas/`; `python -m eval_tasks.reference` writes it. A key that is
not listed is refused. `a.b` is the key `b` inside `a`, `a[]` an entry of the list `a`, `a.*` any key of `a`.
"""


def page() -> str:
    """Return the page."""
    names = sorted(path.name.removesuffix(records.SUFFIX) for path in SCHEMAS.glob(f"*{records.SUFFIX}"))
    rest = [name for name in names if name not in WRITTEN + SPOKEN]
    parts = [_HEAD]
    for title, chosen in (
        ("What people write", WRITTEN),
        ("What a selector of one's own reads and says", SPOKEN),
        ("What the evaluator writes", rest),
    ):
        parts += [f"## {title}\n", *(_section(name) for name in chosen)]
    return "\n".join(parts)


def _section(name: str) -> str:
    schema = records.schema(name)
    version = f"`{schema['$id']}`, [{name}{records.SUFFIX}](schemas/{name}{records.SUFFIX})."
    parts = [f"### {name}\n", f"{schema.get('description', '')} {version}\n", _table(rows(schema, name))]
    for part, definition in sorted(schema.get("$defs", {}).items()):
        parts += [f"#### {name}: {part}\n", f"{_kind(definition, name)}.\n"]
        found = rows(definition, name)
        parts += [_table(found)] if found else []
    return "\n".join(parts)


def _table(found: list[Row]) -> str:
    lines = ["| key | value | may lack | says |", "| --- | --- | --- | --- |"]
    lines += [f"| `{key}` | {_cell(kind)} | {needed} | {_cell(words)} |" for key, kind, needed, words in found]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def rows(schema: Schema, name: str, prefix: str = "") -> list[Row]:
    """Return one row for every key below a schema, in the schema's order; what two forms share has one.

    Parameters
    ----------
    name
        The schema's name, for links to its own parts.
    prefix
        Under which key it stands.
    """
    return list(dict.fromkeys(_rows(schema, name, prefix)))


def _rows(schema: Schema, name: str, prefix: str) -> Iterator[Row]:
    if "items" in schema:
        yield from _rows(schema["items"], name, f"{prefix}[]")
    for form in (form for several in _SEVERAL for form in schema.get(several, ())):
        yield from _rows(form, name, prefix)
    required = schema.get("required", ())
    for key, inner in schema.get("properties", {}).items():
        place = f"{prefix}.{key}" if prefix else key
        yield place, _kind(inner, name), "" if key in required else "yes", inner.get("description", "")
        yield from _rows(inner, name, place)
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        place = f"{prefix}.*" if prefix else "*"
        yield place, _kind(others, name), "", others.get("description", "")
        yield from _rows(others, name, place)


def _kind(schema: Schema, name: str) -> str:
    """Return what a value may be, with its bounds."""
    for several in _SEVERAL:
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(form, name) for form in schema[several]))
    if "$ref" in schema:
        return _link(schema["$ref"], name)
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    kind = schema.get("type", "any value")
    words = [" or ".join(kind) if isinstance(kind, list) else _typed(kind, schema, name)]
    words += [text.format(schema[bound]) for bound, text in _BOUNDS.items() if bound in schema]
    words += ["no entry twice"] if schema.get("uniqueItems") else []
    words += [f"{_kind(schema['contains'], name)} among them"] if "contains" in schema else []
    return ", ".join(words)


def _typed(kind: str, schema: Schema, name: str) -> str:
    items = schema.get("items")
    if kind == "object" and "properties" in schema:
        return "object with " + ", ".join(f"`{key}`" for key in schema["properties"])
    return str(kind) if items is None else f"list of ({_kind(items, name)})"


def _link(reference: str, name: str) -> str:
    identity, _, place = reference.partition("#")
    owner = _owner(identity) if identity else name
    part = place.rpartition("/")[2]
    return f"[{part}](#{_anchor(f'{owner}: {part}' if part else owner)})"


def _owner(identity: str) -> str:
    names = (path.name.removesuffix(records.SUFFIX) for path in SCHEMAS.glob(f"*{records.SUFFIX}"))
    return next(name for name in names if records.schema(name)["$id"] == identity)


def _anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MkDocs make it."""
    return heading.lower().replace(":", "").replace(" ", "-")


if __name__ == "__main__":
    sys.stdout.write(page())
