"""The parts, described: the JSON Schema accepts what the reader accepts, the page has them all."""

from __future__ import annotations

import tomllib
from pathlib import Path

import jsonschema
import pytest

from narcissus.cli.studies import study_schema
from narcissus.study.kinds import KINDS
from narcissus.study.listing import as_page, as_text, listed
from narcissus.study.registry import ROOMS
from narcissus.study.shipped import shipped_studies

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STUDIES = [*EXAMPLES.rglob("*.toml"), *(study.path for study in shipped_studies())]
SCHEMAS = {kind: study_schema(kind) for kind in KINDS}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_schema_accepts_every_shipped_study(fit, path):
    study = tomllib.loads(path.read_text(encoding="utf-8"))
    fit(study, SCHEMAS[study.get("kind", "table")])


TABLE = {
    "data": {"path": "people.csv"},
    "threat": {"unknown": ["ill"]},
    "prior": {"name": "independent", "smoothing": 1},
    "mechanism": {"name": "marginals", "epsilon": [1, 2]},
    "attacks": {"prior": {}, "rap": {"steps": 3, "trials": 2}},
}
WRONG = [
    ("prior", {"name": "independent", "parents": 2}),
    ("prior", {"name": "independant"}),
    ("mechanism", {"name": "marginals", "epsilon": "1"}),
    ("mechanism", {"name": "marginals", "epsilon": 1, "noise": "gausian"}),
    ("attacks", {"rap": {"name": "rap", "step": 3}}),
    ("attacks", {"rap": {"name": "rap", "steps": 3.5}}),
]


@pytest.mark.parametrize(("section", "value"), WRONG)
def test_the_schema_refuses_what_a_part_does_not_take(fit, section, value):
    fit(TABLE, SCHEMAS["table"])
    fit({**TABLE, "prior": {"name": "mine:Prior", "any": 1}}, SCHEMAS["table"])
    with pytest.raises(jsonschema.ValidationError):
        fit({**TABLE, section: value}, SCHEMAS["table"])


def test_the_page_and_the_text_have_every_part_and_option():
    page = as_page()
    for room in ROOMS:
        assert f"## {room}" in page
        text = as_text(room)
        for name, summary, options in listed(room):
            assert f"### `{name}`" in page
            assert f"  {name}: {summary}" in text
            for option in options:
                assert f"| `{option.name}` |" in page
                assert f"      {option.name}  (" in text
