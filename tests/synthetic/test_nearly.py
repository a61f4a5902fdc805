"""Rows that are a person's but for a little of each number, and people who are alike by chance."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Copies, Views
from narcissus.synthetic.nearly import EXPECTED, nearly_copied
from narcissus.synthetic.whole import read_whole


def earners(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n),
        "income": 1_000 + rng.integers(0, 2_500, n),
        "town": rng.choice(list("ABCDEFGHIJKLMNOP"), n),
        "ill": rng.choice(["no", "flu", "hiv"], n),
    })  # fmt: skip


def found(real, made, control):
    files = read_whole(real, made, control)
    sides = files.rows("real"), files.rows("control")
    views = Views(files, np.random.default_rng(1))
    return list(nearly_copied(files, views, sides, Copies(len(real), 0, 0, len(made), 0)))


def test_rows_near_a_person_are_counted_beside_moved_ones():
    """A year more and a franc: the rows of other people are beside nobody in particular."""
    real, made, control = (earners(200, seed) for seed in (1, 2, 3))
    made.loc[:59] = real.loc[:59]
    made.loc[:59, ["age", "income"]] += 1
    each = found(real, made, control)
    assert len(each) == len(EXPECTED)
    best = max(each, key=lambda one: one[0].standing - one[0].most_coincidences(0.001))
    assert best[0].standing > best[0].most_coincidences(0.001)
    assert min(one.fisher for _, one in each) < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_other_people_are_no_nearer_than_by_chance(seed):
    for copies, beside in found(*(earners(200, 10 * seed + k) for k in range(3))):
        assert copies.standing <= copies.most_coincidences(0.001)
        assert beside.fisher > 1e-4


def test_texts_and_few_values_alone_are_near_nobody():
    real, made, control = (earners(200, seed)[["town"]].assign(sex="f") for seed in (1, 2, 3))
    assert found(real, made, control) == []
