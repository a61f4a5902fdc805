"""What reading merges, such as `NA` and an empty cell, is examined as a column of its own."""

from pathlib import Path

import numpy as np
import pytest

from narcissus.kinds.table import tested, trees
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.schema import TableStudy
from narcissus.kinds.table.written import spelling_of
from narcissus.observer import SILENT
from narcissus.tables.parts import Parts
from narcissus.tables.tally import RawColumn

ROWS = 400
TOWNS = ("Bonn", "Köln", "Ulm")
NUMBERS = ("12", "31", "47")
DATES = ("2020-03-31", "2020-04-30", "2021-05-29")


def day_first(date):
    year, month, day = date.split("-")
    return f"{int(day)}.{int(month)}.{year}"


WAYS = {
    "missing": (NUMBERS, lambda v: "" if v == "12" else v, lambda v: "NA" if v == "12" else v),
    "missing among texts": (TOWNS, lambda v: v.replace("Ulm", "null"), lambda v: v.strip("Ulm")),
    "blank behind": (TOWNS, str, "{} ".format),
    "blank before": (TOWNS, str, " {}".format),
    "blank around missing": (NUMBERS, lambda v: v.strip("12"), lambda v: v.strip("12") or " "),
    "zeros behind": (NUMBERS, str, "{}.0".format),
    "zeros before": (NUMBERS, str, "0{}".format),
    "sign": (NUMBERS, str, "+{}".format),
    "full width": (NUMBERS, str, lambda v: v.translate({n: n + 0xFEE0 for n in range(48, 58)})),
    "case of truth": (("true", "false"), str, str.upper),
    "dates": (DATES, str, day_first),
    "accents": (TOWNS, str, lambda v: v.replace("ö", "o\u0308")),
}
"""Values, and two ways to write each that are read as the same."""


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(trees, "TREES", 6)


def write_people(path, way, *, tells, seed=1, rows=ROWS):
    """Write people of whom one column is written in two ways, by the secret or by chance."""
    rng = np.random.default_rng(seed)
    values, *ways = WAYS[way]
    ill, coin = rng.integers(0, 2, (2, rows))
    drawn = rng.choice(values, rows).tolist()
    cells = [
        ways[side](value)
        for side, value in zip((ill if tells else coin).tolist(), drawn, strict=True)
    ]
    sexes = rng.choice(["f", "m"], rows).tolist()
    lines = [f"{sex};{cell};{secret}" for sex, cell, secret in zip(sexes, cells, ill, strict=True)]
    path.write_text("\n".join(["sex;value;ill", *lines, ""]), encoding="utf-8")


def examine(folder, data=(), **threat):
    """Return what of a study of the file waits for a declaration."""
    study = TableStudy.model_validate({
        "data": {"path": "people.csv", "missing": "category", **dict(data)},
        "threat": {"unknown": ["ill"], **threat},
        "prior": {"name": "bayesian-network", "parents": 2},
        "mechanism": {"name": "marginals", "k": 2, "epsilon": 0.05},
        "attacks": {"prior": {}},
    })  # fmt: skip
    return tested.tested_at(study, Path(folder), prepare(study, Path(folder), 2, SILENT), SILENT)


@pytest.mark.parametrize("way", WAYS)
def test_a_spelling_that_tells_the_secret_waits_for_one_declaration(way, tmp_path):
    """An income written `NA` for the ill and empty for others told 74 of 100, and was *met*."""
    write_people(tmp_path / "people.csv", way, tells=True)
    examined = examine(tmp_path)
    [gap] = examined.unaccounted
    assert gap.subject == "how `value` is written"
    assert "`spelling_hidden = true` in [threat]" in gap.declaration
    assert not examined.is_refuted


def test_a_spelling_that_is_declared_hidden_is_not_examined(tmp_path):
    write_people(tmp_path / "people.csv", "missing", tells=True)
    assert examine(tmp_path, spelling_hidden=True).unaccounted == ()


@pytest.mark.parametrize("way", WAYS)
def test_a_spelling_by_chance_stays_decided(way, tmp_path):
    write_people(tmp_path / "people.csv", way, tells=False)
    assert examine(tmp_path).unaccounted == ()


@pytest.mark.parametrize(
    "data", [{"bins": {"value": {"edges": [20]}}}, {"left_out": {"value": "none"}}]
)
def test_columns_in_bins_and_left_out_are_written_too(data, tmp_path):
    write_people(tmp_path / "people.csv", "blank behind", tells=True)
    text = (tmp_path / "people.csv").read_text(encoding="utf-8")
    for town, number in zip(TOWNS, NUMBERS, strict=True):
        text = text.replace(town, number)
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    [gap] = examine(tmp_path, data).unaccounted
    assert gap.subject == "how `value` is written"


def test_a_table_that_is_read_in_parts_keeps_its_spelling(tmp_path, monkeypatch):
    write_people(tmp_path / "people.csv", "missing", tells=True)
    whole = examine(tmp_path).unaccounted
    monkeypatch.setattr(Parts, "whole", lambda self, above: None)
    assert examine(tmp_path).unaccounted == whole


def test_a_column_is_no_spelling_where_each_value_is_written_in_one_way():
    column = RawColumn("town", ["Bonn ", "Ulm", "NA"], np.array([0, 1, 2, 1]), is_as_written=True)
    assert spelling_of(column, np.array([0, 1, 2, 1])) is None
    spelling = spelling_of(column, np.array([0, 0, 2, 0]))
    assert [spelling.distinct[code] for code in spelling.codes] == [
        "1:Bonn\\x20", "0:Ulm", "0:NA", "0:Ulm",
    ]  # fmt: skip
