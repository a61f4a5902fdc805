"""The picture of a report that pages begin with is that of the record which it says it shows."""

import importlib.util
import json
from pathlib import Path

import pytest

from narcissus.study.reading import read_record

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
PICTURES = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PICTURES)
KEPT = json.loads(PICTURES.KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("picture", PICTURES.RECORDS)
def test_a_picture_shows_the_first_screen_of_its_record(picture):
    """Whoever changes words of that screen draws it anew: `python docs/pictures.py`."""
    assert KEPT[picture]["screen"] == PICTURES.screen_of(picture)
    assert KEPT[picture]["sha256"] == PICTURES.digest_of(DOCS / picture)


def test_the_picture_of_the_readme_is_of_the_study_that_make_audit_plays():
    record = read_record(DOCS.parent / PICTURES.RECORDS["report.png"])
    study = (DOCS.parent / "examples" / "affairs.toml").read_text(encoding="utf-8")
    assert record.title in study
    assert "docs/report.png" in (DOCS.parent / "README.md").read_text(encoding="utf-8")
