"""Every reader refuses a file in which an object has a key twice: two readers would differ."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus._files import BadContentError
from narcissus._json import read_json
from narcissus._number_table import read_number_table
from narcissus.errors import InputError
from narcissus.extraction.files import headers_of
from narcissus.extraction.model_weights import settings_of
from narcissus.extraction.unet import UNet
from narcissus.study import load_study
from narcissus.study.reading import read_record
from narcissus.tables import read_table

PACKAGE = Path(narcissus.__file__).parent
KEPT = Path(__file__).parent / "study" / "kept"


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]'])
def test_a_key_twice_is_refused_at_any_depth(text):
    with pytest.raises(ValueError, match="the key 'a' twice"):
        read_json(text)


@pytest.mark.parametrize("key", ["status", "grade", "digest", "kind"])
def test_a_record_with_a_key_twice_is_no_record(tmp_path, key):
    text = (KEPT / "table.json").read_text(encoding="utf-8")
    value = json.dumps(json.loads(text)[key])
    for forged in (value, '"met"'):
        path = tmp_path / "record.json"
        path.write_text(text.replace("{", f'{{"{key}": {forged},', 1), encoding="utf-8")
        with pytest.raises(InputError, match=f"the key '{key}' twice"):
            read_record(path)


def _safetensors(path):
    entry = '{"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}'
    header = f'{{"a": {entry}, "a": {entry}}}'.encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"x")
    return path


READERS = {
    "settings of a model": ("config.json", '{"n_layer": 1, "n_layer": 2}', settings_of),
    "numbers": ("numbers.json", '{"x": [1], "x": [2]}', read_number_table),
    "rows": ("rows.jsonl", '{"x": 1, "x": 2}\n{"x": 3}\n', read_table),
    "a U-Net": ("unet.json", '{"shape": [1], "shape": [2]}', lambda p: UNet.load(p.parent)),
    "a study": ("study.toml", '[data]\npath = "a.csv"\npath = "b.csv"\n', load_study),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_refuses_it(tmp_path, name):
    file, text, read = READERS[name]
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"twice|Cannot overwrite"):
        read(path)


def test_a_header_of_arrays_refuses_it(tmp_path):
    with pytest.raises(InputError, match="twice"):
        headers_of(_safetensors(tmp_path / "a.safetensors"))
    np.save(tmp_path / "a.npy", np.zeros(1))
    assert headers_of(tmp_path / "a.npy")


OF_THIS_PROCESS = {
    "_fork.py",
    "_guard.py",
    "_json.py",
    "extraction/_jail.py",
    "extraction/_model_trial.py",
    "extraction/_runs.py",
    "extraction/_serving.py",
    "extraction/bench.py",
    "game/loop.py",
    "mechanisms/table/kept.py",
    "study/engines/dask.py",
    "study/store.py",
}
"""Modules that parse what this program itself wrote a moment before, or in its own store."""


def test_no_other_module_parses_json_by_itself():
    modules = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("loads", "load")
        and isinstance(node.value, ast.Name)
        and node.value.id == "json"
    }
    assert modules == OF_THIS_PROCESS


@pytest.mark.parametrize(
    "text",
    ["[" + "{}," * 100 + "{}]", "[" * 101 + "]" * 101, '{"a":1' + ',"b":2' * 100 + "}"],
)
@pytest.mark.parametrize("form", [str, str.encode])
def test_too_many_values_are_refused_before_they_are_made(text, form, monkeypatch):
    """A value of three characters takes a hundred times as much memory."""
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(BadContentError, match="more than 100 values"):
        read_json(form(text), most=100)


MANY = 200_000


@pytest.mark.parametrize("place", [0, MANY - 1])
def test_many_keys_of_which_one_comes_twice_are_refused_in_one_pass(place):
    """Time for each pair of so many keys would be an hour."""
    keys = [f'"{number}": 0' for number in range(MANY)]
    text = "{" + ", ".join([*keys, keys[place]]) + "}"
    with pytest.raises(BadContentError, match=f"the key '{place}' twice"):
        read_json(text)


def test_a_key_twice_is_shown_in_part():
    key = "x" * 10**6
    with pytest.raises(BadContentError) as failure:
        read_json(f'{{"{key}": 1, "{key}": 2}}')
    assert len(str(failure.value)) < 300


def test_rows_of_json_that_would_be_nearly_all_empty_are_refused(tmp_path):
    """A long row and many short ones: each other cell would be made, and hold nothing."""
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps([[1] * 10**6, *([1] for _ in range(10**5))]), encoding="utf-8")
    with pytest.raises(InputError, match="cells would be empty"):
        read_number_table(path)
