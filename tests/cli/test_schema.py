"""``narcissus schema``: what it prints is valid JSON Schema and accepts what it describes."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest


def schema_of(narcissus, *arguments):
    code, out, err = narcissus("schema", *arguments)
    assert (code, err) == (0, "")
    schema = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def test_study_schema_accepts_a_study_and_refuses_unknown_keys(toy, narcissus):
    schema = schema_of(narcissus, "study", "toy")
    jsonschema.validate({"kind": "toy", "trials": 3}, schema)
    for wrong in ({"trials": 3}, {"kind": "toy", "trails": 3}, {"kind": "toy", "trials": "3"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


@pytest.mark.parametrize("kind", [(), ("toy",)])
def test_record_schema_accepts_a_record(toy, narcissus, kind):
    _, write = toy
    narcissus("audit", write(), "--quiet")
    record = json.loads(Path("results/toy/record.json").read_text())
    schema = schema_of(narcissus, "record", *kind)
    jsonschema.validate(record, schema)
    for key in record:
        short = {k: v for k, v in record.items() if k != key}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(short, schema)


def test_record_schema_of_a_kind_holds_its_results(toy, narcissus):
    _, write = toy
    narcissus("audit", write(), "--quiet")
    record = json.loads(Path("results/toy/record.json").read_text())
    record["results"] = {"answer": "many"}
    jsonschema.validate(record, schema_of(narcissus, "record"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, schema_of(narcissus, "record", "toy"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("studdy",), "study"),
        (("study", "toi"), "did you mean `toy`?"),
        (("record", "toi"), "did you mean `toy`?"),
    ],
)
def test_wrong_names_are_usage_errors(toy, narcissus, arguments, says):
    code, out, err = narcissus("schema", *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_parts_are_listed_by_room(narcissus):
    code, out, err = narcissus("schema", "parts")
    assert (code, err) == (0, "")
    assert out.startswith("world: [world] of a game")
    code, one, err = narcissus("schema", "parts", "table-attack")
    assert (code, err) == (0, "")
    assert one in out
    assert "steps  (whole number; 1000 if left out)  Gradient steps, at least 1." in one
    code, out, err = narcissus("schema", "parts", "table-attak")
    assert (code, out) == (2, "")
    assert "did you mean `table-attack`?" in err


def test_study_fits_its_schema(town, narcissus):
    schema = json.loads(narcissus("schema", "study")[1])
    document = tomllib.loads(Path(town("[1, 2]")).read_text())
    jsonschema.validate(document, schema)
    document["threat"]["unknwon"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)
