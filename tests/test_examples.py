"""The examples stand on their own: no path leads out of the project."""

import tomllib
from pathlib import Path

import pytest

import narcissus

ROOT = Path(__file__).resolve().parents[1]
STUDIES = sorted((ROOT / "examples").rglob("*.toml"))


def texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("path", STUDIES, ids=lambda p: p.stem)
def test_no_path_of_an_example_leads_out_of_the_repository(path):
    for text in texts(tomllib.loads(path.read_text(encoding="utf-8"))):
        if "\n" in text or len(text) > 200:
            continue
        place = (path.parent / text).resolve()
        assert not Path(text).is_absolute(), text
        if ".." in Path(text).parts or place.exists():
            assert place.is_relative_to(ROOT), text


@pytest.mark.parametrize("path", STUDIES, ids=lambda p: p.stem)
def test_every_example_is_ready_to_be_played(path):
    narcissus.load_study(path)


def test_every_table_is_described():
    described = (ROOT / "examples" / "data" / "README.md").read_text(encoding="utf-8")
    for table in (ROOT / "examples" / "data").iterdir():
        assert table.name == "README.md" or f"`{table.name}`" in described
