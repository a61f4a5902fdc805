"""The nightly check of real tables tells a file that is read well from one that is not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

SPEC = importlib.util.spec_from_file_location("real_tables", Path(__file__).with_name("run.py"))
assert SPEC is not None
assert SPEC.loader is not None
run = importlib.util.module_from_spec(SPEC)

FRAME = pd.DataFrame(
    {"who": ["Ann", "Bob", "Zoë", "Ann"], "age": [31, 42, 9, 31], "pay": [2.5, None, 0.25, 1e6]}
)


@pytest.fixture(autouse=True)
def loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "real_tables", run)
    SPEC.loader.exec_module(run)


def test_every_form_holds_the_table(tmp_path):
    found, original = run.Found(), run.meant(FRAME)
    for number, (form, write) in enumerate(run.FORMS.items()):
        (tmp_path / str(number)).mkdir()
        run.look("t", form, original, write(FRAME, tmp_path / str(number)), found)
    assert found.equal.total() == len(run.FORMS), found
    assert not found.differ + found.refused + found.broken


def test_what_differs_is_refused_or_breaks_is_told(tmp_path, monkeypatch):
    found, original = run.Found(), run.meant(FRAME)
    run.look("t", "f", original, FRAME.assign(age=[31, 42, 9, 32]), found)
    run.look("t", "f", original, tmp_path / "none.csv", found)
    monkeypatch.setattr(run, "meant", lambda source: 1 / 0)
    run.look("t", "f", original, FRAME, found)
    assert found.differ == [("t", "f", "column 2, row 4: 32 is 31")]
    assert "no such file" in found.refused[0][2]
    assert "ZeroDivisionError" in found.broken[0][2]
