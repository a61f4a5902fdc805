"""A proposed study is examined as its audit will be: cautions name what would be left open."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.table import examination, trees
from narcissus.kinds.table.examination import examine_proposal
from narcissus.kinds.table.propose import propose
from narcissus.tables.parts import sketch_table

ROWS = 900
ASKED = ("column `case_id`", "the exact value of `rent`", "the order of the rows", "refute")


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Grow few trees: all that is said here is said as well by them."""
    monkeypatch.setattr(trees, "TREES", 6)


def people(*, code=False, rent=False, order=False):
    """Return people whose illness one of three things tells that no code of the table shows."""
    rng = np.random.default_rng(3)
    towns = rng.integers(0, 4, ROWS)
    ill = (rng.random(ROWS) < 0.3 + 0.1 * towns).astype(int)
    if order:
        ill = (np.arange(ROWS) // 9 + 1) % 3 // 2
    numbers = rng.permutation(10**5)[:ROWS]
    rents = 20 * rng.integers(20, 150, ROWS)
    return pd.DataFrame(
        {
            "case_id": [f"{'KA'[s] if code else 'C'}{n:05}" for n, s in zip(numbers, ill)],
            "rent": rents + 7 * (ill ^ (rng.random(ROWS) < 0.1))
            if rent
            else rents + rng.integers(0, 20, ROWS),
            "town": towns,
            "illness": ill,
        }
    )


def cautions(frame, tmp_path, **how):
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    sketch = sketch_table(path, **how)
    found = examine_proposal(propose(sketch, unknown=["illness"]), str(path))
    return [text for text in found.cautions if any(one in text for one in (*ASKED, "examined"))]


@pytest.mark.parametrize(
    ("how", "subject", "remedy"),
    [
        ("code", "column `case_id`", '`drop = ["case_id"]` in [data]'),
        ("rent", "the exact value of `rent`", '`bins_only = ["rent"]` in [threat]'),
        ("order", "the order of the rows", "`order_hidden = true` in [threat]"),
    ],
)
def test_what_an_audit_leaves_open_is_a_caution_with_its_remedy(how, subject, remedy, tmp_path):
    """The audit asked for it an hour later, and `init` said nothing."""
    [found] = cautions(people(**{how: True}), tmp_path)
    assert found.startswith(f"{subject} is open")
    assert remedy in found


def test_what_tells_nothing_more_is_no_caution(tmp_path):
    assert cautions(people(), tmp_path) == []


def test_rows_that_were_not_read_are_said_not_to_be_examined(tmp_path, monkeypatch):
    monkeypatch.setattr(examination, "MOST_CELLS", 10)
    [found] = cautions(people(code=True), tmp_path)
    assert found.startswith("the rows were not examined: the table has too many cells")


def test_a_study_that_cannot_be_played_is_said_not_to_be_examined(tmp_path, monkeypatch):
    def refuse(*_):
        raise examination.NarcissusError("it is too large.")

    monkeypatch.setattr(examination, "prepare", refuse)
    [found] = cautions(people(), tmp_path)
    assert found.startswith("the rows were not examined: it is too large. The audit")


def test_a_sorted_file_is_a_caution(tmp_path):
    [found] = cautions(people().sort_values("illness"), tmp_path)
    assert "the order of the rows is open, and an audit will not say *met*" in found
    assert "sorted by `illness`" in found
    assert "`order_hidden = true` in [threat]" in found
