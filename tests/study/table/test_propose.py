"""Which study is proposed of a table."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.study.table.propose import MOST_CELLS, propose
from narcissus.tables.sketch import sketch_table


def sketch(people=300, **columns):
    rng = np.random.default_rng(1)
    made = {
        name: rng.integers(0, sizes, people) if isinstance(sizes, int) else sizes
        for name, sizes in columns.items()
    }
    return sketch_table(pd.DataFrame(made))


def test_names_say_what_is_secret_and_what_is_public():
    found = propose(sketch(sex=2, income=4, hobby=5, religion=3, target=2))
    assert found.unknown == ("income", "religion")
    assert found.public == ("sex",)
    assert found.groups == ("sex",)
    assert "keep to themselves" in found.unknown_reason


def test_an_outcome_or_the_last_column_stands_in():
    found = propose(sketch(a=2, target=2, b=3))
    assert found.unknown == ("target",)
    assert "outcome" in found.unknown_reason
    found = propose(sketch(a=2, b=3, age=5, c=25))
    assert found.unknown == ("b",)
    assert "stand-in" in found.unknown_reason
    same = np.arange(300) < 3
    assert propose(sketch(a=2, b=3, c=same.astype(int))).unknown == ("b",)
    assert propose(sketch(c=same.astype(int))).unknown == ("c",)


def test_few_unknown_columns_and_one_that_is_known():
    found = propose(sketch(a=2, income=20, salary=20, wage=20, debt=2))
    assert found.unknown == ("income", "salary")  # 8,000 joint values with the next
    assert found.secret == ("wage", "debt")
    assert propose(sketch(income=3, salary=3)).unknown == ("income",)
    assert propose(sketch(income=3)).unknown == ("income",)


def test_what_is_asked_for_is_taken():
    found = propose(sketch(a=2, b=2, income=3), unknown=["b", "a"], epsilon=[2])
    assert found.unknown == ("b", "a")
    assert found.secret == ("income",)
    assert found.epsilon == (2,)
    found = propose(sketch(a=2, b=2, income=3), drop=["income"])
    assert found.unknown == ("b",)
    assert found.drop == {"income": "as you asked"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"unknown": ["incme"]}, "no column `incme`; did you mean `income`"),
        ({"unknown": ["a"], "drop": ["a"]}, "decide for one"),
        ({"unknown": ["one"]}, "`one` cannot be unknown: one value only"),
        ({"drop": ["a", "income"]}, r"no column of the data frame can be audited.*1 more"),
    ],
)
def test_what_cannot_be_asked_for(more, message):
    with pytest.raises(InputError, match=message):
        propose(sketch(a=2, income=3, one=np.ones(300), uid=range(300)), **more)


def test_all_unique():
    with pytest.raises(InputError, match="`name`: looks like an identifier"):
        propose(sketch(name=[f"n{i}" for i in range(300)], uid=range(300)))


def test_tables_and_cells_are_those_that_are_released():
    sizes = {"a": 2, "b": 3, "income": 4, "c": 5, "debt": 2}
    found = propose(sketch(**sizes))
    shown = [t for t in combinations(sizes, 3) if {"income", "debt"} & set(t)]
    assert (found.k, found.tables) == (3, len(shown))
    assert found.cells == sum(prod(sizes[name] for name in t) for t in shown)


def test_many_columns_are_released_two_by_two():
    found = propose(sketch(**{f"c{i}": 2 for i in range(40)}))
    assert (found.k, found.tables) == (2, 39)
    found = propose(sketch(4000, **{f"c{i}": 30 for i in range(5)}))
    assert found.k == 3
    assert found.cells <= MOST_CELLS
    assert propose(sketch(4000, **{f"c{i}": 30 for i in range(6)})).k == 2


def test_delta_is_below_one_over_the_people():
    assert propose(sketch(a=2, b=2)).delta == 1e-5
    many = np.arange(1_000_000) % 2
    assert propose(sketch(a=many, b=many)).delta == 1e-7
