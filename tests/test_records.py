import json
import os
import stat

import pytest

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.paths import SCHEMAS

NAMES = sorted(path.name.removesuffix(records.SUFFIX) for path in SCHEMAS.glob(f"*{records.SUFFIX}"))
GATE = {"schemaVersion": "context-eval.gate.v1", "registration": "0" * 64, "design": "1" * 64}


def objects_of(schema):
    """Yield every object schema inside a schema that names properties."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects_of(value)


def test_canonical_json_sorts_keys_and_wastes_no_byte():
    assert records.canonical({"b": [1, "ä"], "a": None}) == '{"a":null,"b":[1,"ä"]}'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud835"])
def test_canonical_json_refuses_what_has_no_json_form(value):
    with pytest.raises(ValueError, match=r".+"):
        records.canonical({"x": value})


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}', "{", "[" * 100_000])
def test_parsing_refuses_duplicate_keys_and_numbers_that_are_none(text):
    with pytest.raises(ExperimentStopped, match=r"^some\.json is not valid JSON"):
        records.parse(text, "some.json")


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_has_an_id_a_version_and_no_object_that_admits_other_keys(name):
    schema = json.loads((SCHEMAS / f"{name}{records.SUFFIX}").read_bytes())
    records.validator(name).check_schema(schema)
    assert schema["$id"] == f"context-eval.{name}.v1"
    open_objects = [value for value in objects_of(schema) if value.get("additionalProperties") is not False]
    assert open_objects == []


def test_the_codes_of_the_schemas_are_the_closed_set():
    codes = [str(code) for code in FailureCode]
    for name in ("arm-run", "grade", "probe"):
        assert records.schema(name)["$defs"]["failure"]["enum"] == codes


def test_a_key_that_is_not_allowed_can_be_neither_written_nor_read(tmp_path):
    path = tmp_path / "gate.json"
    with pytest.raises(ExperimentStopped, match=r"unknown key 'prompt'"):
        records.write(path, "gate", {**GATE, "prompt": "secret"})
    assert not path.exists()
    path.write_text(json.dumps({**GATE, "prompt": "secret"}))
    with pytest.raises(ExperimentStopped, match=r"unknown key 'prompt'"):
        records.read(path, "gate")


def test_a_problem_names_the_place_but_never_the_value():
    found = records.problems("gate", {**GATE, "design": "a secret"})
    assert found == ["design: breaks pattern ^[0-9a-f]{64}$"]


def test_a_record_is_written_whole_with_mode_0600_and_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "deep" / "gate.json"
    records.write(path, "gate", GATE)
    assert records.read(path, "gate") == GATE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["gate.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "gate.json"
    records.write(path, "gate", GATE)

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ExperimentStopped, match=r"gate\.json can't be written \(No space left on device\)"):
        records.write(path, "gate", {**GATE, "design": "2" * 64})
    assert records.read(path, "gate") == GATE
    assert os.listdir(tmp_path) == ["gate.json"]


def test_an_unchanged_file_is_not_written_again(tmp_path):
    path = tmp_path / "x"
    assert records.write_if_different(path, b"one")
    before = path.stat()
    assert not records.write_if_different(path, b"one")
    assert path.stat().st_ino == before.st_ino
    assert records.write_if_different(path, b"two")
