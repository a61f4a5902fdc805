"""Columns that determine one another, and audits that show little."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from narcissus import audit
from narcissus.kinds.table.twins import Twins, cautions
from narcissus.tables import read_table
from narcissus.tables.parts import sketch_table

RNG = np.random.default_rng(1)
WAGE = RNG.lognormal(3, 1, 400).round(2)
COUNTY = RNG.integers(0, 30, 400)
PEOPLE = pd.DataFrame({
    "wage": WAGE, "lwage": np.log(WAGE), "minus": -WAGE, "county": COUNTY, "region": COUNTY // 10,
    "other": RNG.permutation(WAGE), "sick": RNG.random(400) < 0.02,
    "town": [f"t{c}" for c in COUNTY], "gaps": np.where(np.arange(400) < 100, np.nan, WAGE),
    "few": np.where(np.arange(400) < 10, 1, np.nan),
})  # fmt: skip


@pytest.mark.parametrize(
    ("known", "unknown", "tells"),
    [
        ("wage", "lwage", True),
        ("lwage", "wage", True),
        ("wage", "minus", True),
        ("gaps", "wage", True),
        ("county", "region", True),
        ("region", "county", False),
        ("town", "county", True),
        ("other", "wage", False),
        ("county", "sick", False),
        ("few", "sick", False),
        ("wage", "nothing", False),
    ],
)
def test_what_determines_another(known, unknown, tells):
    assert Twins(sketch_table(PEOPLE).head).tells(known, unknown) == tells


@pytest.mark.parametrize(
    ("columns", "rows", "unknown", "said"),
    [
        (["wage", "county"], 400, "county", []),
        (["sick", "region", "county"], 400, "sick", ["98 of 100 people, before any release"]),
        (["county", "region"], 400, "region", ["100 of 100 people from `county` alone"]),
        (["county"], 400, "county", ["no column is left"]),
        (["region", "county"], 49, "county", ["49 rows are few"]),
    ],
)
def test_a_weak_audit_is_told(columns, rows, unknown, said):
    table = read_table(PEOPLE[columns][:rows], max_values=500)
    found = [one.reason for one in cautions(table, [unknown])]
    assert len(found) == len(said)
    assert all(text in one for text, one in zip(said, found, strict=True))


def test_rows_that_are_counted_are_as_rows_that_are_held():
    columns = PEOPLE[["county", "region", "sick"]]
    held, counted = (read_table(columns, count_above=n) for n in (10**6, 10))
    for unknown in ("region", "sick"):
        assert list(cautions(held, [unknown])) == list(cautions(counted, [unknown])) != []


def test_a_value_of_one_person_tells_nothing_of_them():
    alone = pd.DataFrame({"own": np.arange(100) * 1.5, "coin": RNG.integers(0, 2, 100)})
    assert not list(cautions(read_table(alone), ["coin"]))


@pytest.mark.parametrize(
    ("bins", "how"),
    [
        ({"above": 90.0}, "guessed to the right side of 90 "),
        ({"edges": [95.0]}, "guessed to the right one of 2 bins "),
        ({}, "guessed right "),
    ],
)
def test_the_caution_of_a_study_says_what_is_right_of_a_secret_in_bins(bins, how):
    """It is the bin, whatever the study: its cautions are read with the bins of the study."""
    rows = np.arange(200)
    age = np.where(rows < 198, 30 + rows % 40, 99) if bins else np.where(rows < 198, 30, 99)
    people = pd.DataFrame({"age": age, "town": RNG.integers(0, 4, 200), "job": rows % 3})
    bins = {"age": bins} if bins else None
    outcome = audit(people, unknown=["age"], epsilon=1, bins=bins, trials=2, workers=1, rng=1)
    [reason] = [each.reason for each in outcome.record.not_assessed if "before any" in each.reason]
    assert how in reason
