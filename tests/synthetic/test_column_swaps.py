"""Values of people under the names of other columns."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.column_swaps import people_elsewhere
from narcissus.synthetic.full_files import read_whole


def couples(n, seed):
    rng = np.random.default_rng(seed)
    pay = rng.normal(0, 0.4, (n, 1)) + rng.normal(8.5, 0.4, (n, 2))
    frame = pd.DataFrame(np.exp(pay).astype(int), columns=["pay_a", "pay_b"])
    wealth = rng.lognormal(10, 1, (n, 2)).astype(int)
    return frame.assign(
        wealth_a=wealth[:, 0], wealth_b=wealth[:, 1], town=rng.choice(list("ABC"), n)
    )


def months(n, seed):
    rng = np.random.default_rng(seed)
    level = (
        rng.normal(150, 30, (n, 1)) + 40 * np.cos(np.arange(13) / 2) + rng.normal(0, 15, (n, 13))
    )
    return pd.DataFrame((4 * level).round().astype(int), columns=[f"m{j:02d}" for j in range(13)])


def partners_exchanged(frame):
    names = {"pay_a": "pay_b", "pay_b": "pay_a", "wealth_a": "wealth_b", "wealth_b": "wealth_a"}
    return frame.rename(columns=names)


def a_month_later(frame):
    return frame.set_axis([*frame.columns[1:], frame.columns[0]], axis=1)


def looked(real, made, control=None):
    files = read_whole(real, made, control)
    return people_elsewhere(files, (files.rows("real"), files.rows("control")))


@pytest.mark.parametrize(
    ("draw", "change"), [(couples, partners_exchanged), (months, a_month_later)]
)
def test_values_under_other_names_are_found_in_any_order(draw, change):
    real, made, control = (draw(300, seed) for seed in (1, 2, 3))
    made = pd.concat([change(real[:100])[list(real)], made[100:]]).sample(frac=1, random_state=1)
    people = looked(real, made, control)
    assert people is not None
    assert people.standing > 2 * people.expected + 10
    assert not people.is_explained
    assert looked(real, made, real[:100]).is_explained


@pytest.mark.parametrize("draw", [couples, months])
@pytest.mark.parametrize("seed", range(5))
def test_rows_of_other_people_share_no_more_than_people(draw, seed):
    real, fresh = draw(300, 10 + seed), draw(300, 20 + seed)
    rng = np.random.default_rng(seed)
    apart = real.apply(lambda column: rng.permutation(column.to_numpy()))
    for made in (fresh, apart, partners_exchanged(fresh)):
        assert looked(real, made) is None


def test_copies_under_their_own_names_are_counted_elsewhere():
    real = couples(300, 1)
    assert looked(real, real.sample(frac=1, random_state=1)) is None
