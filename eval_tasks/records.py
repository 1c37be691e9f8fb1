"""Canonical JSON, the schemas' allowlists, and files that are written whole or not at all.

Must never write a value that its schema does not allow, nor return one read from disk unchecked.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Iterator
from functools import cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import SCHEMAS

if TYPE_CHECKING:
    import jsonschema
    import jsonschema_rs

SUFFIX = ".schema.json"


def canonical(value: Any) -> bytes:
    """Return the one byte form of a JSON value: UTF-8, sorted keys, no insignificant space.

    Raises
    ------
    ValueError
        For NaN, an infinity, or text that is no valid Unicode (a lone surrogate).
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def pretty(value: Any) -> bytes:
    """Return a JSON value as a person reads it: sorted keys, two spaces, a newline at the end."""
    return (_indented(value, "\n") + "\n").encode("utf-8")


_scalar = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_NAMED = {None: "null", True: "true", False: "false"}


def _indented(value: Any, margin: str) -> str:
    """Return what `json.dumps` does with `indent=2`, which Python leaves to a slow encoder; reports have megabytes."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return int.__repr__(value)
    if value is None or kind is bool:
        return _NAMED[value]
    if isinstance(value, dict) and value:
        inner = margin + "  "
        pairs = [f"{encode_basestring(key)}: {_indented(item, inner)}" for key, item in sorted(value.items())]
        return "{" + inner + f",{inner}".join(pairs) + margin + "}"
    if isinstance(value, list | tuple) and value:
        inner = margin + "  "
        return "[" + inner + f",{inner}".join([_indented(item, inner) for item in value]) + margin + "]"
    return _scalar(value)


def parse(text: str | bytes, what: str) -> Any:
    """Parse strict JSON: no duplicate keys, no NaN, no infinities.

    Parameters
    ----------
    what
        How the error names the text, e.g. `registration.json`.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ExperimentStopped(f"{what} is not valid JSON ({type(error).__name__}); restore it from a copy") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


@cache
def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of that name from `eval_tasks/schemas/`."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}{SUFFIX}").read_bytes())
    return found


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """Return the validator of that schema that can say what is wrong; the others can be referred to by their `$id`."""
    # Slow to import, and wanted only where something is wrong.
    import jsonschema  # noqa: PLC0415
    import referencing  # noqa: PLC0415

    def pattern(_validator: Any, wanted: str, instance: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
        # As JSON Schema means it: `$` is the very end, where Python's would let a newline follow.
        if isinstance(instance, str) and re.search(re.sub(r"\$$", r"\\Z", wanted), instance) is None:
            yield jsonschema.ValidationError("does not match")

    exact: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
        jsonschema.Draft202012Validator, {"pattern": pattern}
    )
    resources = [(content["$id"], referencing.Resource.from_contents(content)) for content in _schemas()]
    registry: Any = referencing.Registry()
    found: jsonschema.Draft202012Validator = exact(schema(name), registry=registry.with_resources(resources))
    return found


@cache
def _schemas() -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(SCHEMAS.glob(f"*{SUFFIX}"))]


@cache
def _quick(name: str) -> jsonschema_rs.Draft202012Validator:
    """Return a compiled validator, which answers only yes or no but in a hundredth of the time."""
    # A command that checks nothing does not wait for it.
    import jsonschema_rs  # noqa: PLC0415

    resources = [(content["$id"], content) for content in _schemas()]
    registry = jsonschema_rs.Registry(resources, draft=jsonschema_rs.Draft202012)
    return jsonschema_rs.Draft202012Validator(schema(name), registry=registry)


def fits(name: str, value: Any) -> bool:
    """Return whether a value fits a schema."""
    try:
        return bool(_quick(name).is_valid(value))
    except ValueError:  # A value without a JSON form, which the other validator can speak about.
        return False


def problems(name: str, value: Any) -> list[str]:
    """Return what a value breaks in a schema, one phrase each, `place: what`, in a stable order.

    The phrases name keys and rules but never repeat a value, since a value may be private.
    """
    if fits(name, value):
        return []
    found = sorted(validator(name).iter_errors(value), key=lambda error: [str(part) for part in error.absolute_path])
    return [f"{_place(error)}: {reason(error)}" for error in found]


def _place(error: jsonschema.ValidationError) -> str:
    return ".".join(str(part) for part in error.absolute_path) or "the top level"


def reason(error: jsonschema.ValidationError) -> str:  # noqa: PLR0911 - one phrase a rule
    """Return in words which rule of its schema a value breaks, without repeating the value."""
    rule: Any = error.validator
    wanted: Any = error.validator_value
    instance: Any = error.instance
    if rule == "additionalProperties":
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        extra = sorted(set(instance) - set(known))
        return f"unknown key {', '.join(repr(key[:64]) for key in extra)}"
    if rule == "required" and isinstance(wanted, list):
        return f"missing key {', '.join(repr(key) for key in wanted if key not in instance)}"
    if rule == "enum":
        return f"must be one of {', '.join(str(choice) for choice in wanted)}"
    if rule == "const":
        return f"must be {wanted}"
    if rule == "type":
        return f"must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    if rule in ("oneOf", "anyOf"):
        return "fits none of the allowed forms" if not error.context else _closest(error)
    return f"breaks {rule} {wanted}"


def _closest(error: jsonschema.ValidationError) -> str:
    """Return the first fault of the form that the value breaks in the fewest places."""
    forms: dict[Any, list[jsonschema.ValidationError]] = {}
    for inner in error.context or ():
        forms.setdefault(inner.schema_path[0], []).append(inner)
    return reason(min(forms.values(), key=len)[0])


def check(name: str, value: Any, what: str, advice: str = "correct it") -> None:
    """Raise `ExperimentStopped` with one line if a value breaks its schema."""
    found = problems(name, value)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ExperimentStopped(f"{what}: {found[0]}{more}; {advice}")


def read(path: Path, name: str) -> Any:
    """Read a JSON file and check it against its schema.

    Raises
    ------
    ExperimentStopped
        If the file is missing, is not JSON or breaks the schema.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ExperimentStopped(f"{path.name} is missing; run the stage that writes it") from error
    value = parse(content, path.name)
    check(name, value, path.name, "the file was changed by hand or by another version; restore it from a copy")
    return value


def write(path: Path, name: str, value: Any) -> None:
    """Check a value against its schema, then write it whole: temporary file, fsync, rename, fsync of the folder."""
    check(name, value, path.name, "this is a fault of the evaluator; please report it")
    write_bytes(path, pretty(value))


def write_bytes(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file by these bytes atomically and durably; the old file stays whole if anything fails.

    Raises
    ------
    ExperimentStopped
        If the disk is full or the folder can't be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        cause = error.strerror or type(error).__name__
        raise ExperimentStopped(
            f"{path.name} can't be written ({cause}); make room or mend the folder, then run again"
        ) from error


def write_if_different(path: Path, content: bytes) -> bool:
    """Write a file only if its bytes would change, so that doit sees an unchanged dependency; return whether it did."""
    if path.is_file() and path.read_bytes() == content:
        return False
    write_bytes(path, content)
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
