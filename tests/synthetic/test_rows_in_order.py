"""Rows of a file at the places of the data's, whatever was done to their columns."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.rows_in_order import look_at_order


def measured(n, seed):
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=(n, 1))
    frame = pd.DataFrame(100 + 10 * trait + 10 * rng.normal(size=(n, 5))).add_prefix("m").round(1)
    return frame.assign(sex=rng.choice(["f", "m"], n), age=rng.integers(18, 90, n))


def looked(real, made, control=None, **options):
    files = read_whole(real, made, control, **options)
    return look_at_order(files, np.random.default_rng(1))


def exchanged(frame):
    return frame.set_axis([*frame.columns[1:5], "m0", "sex", "age"], axis=1)


def mirrored(frame):
    return frame.assign(**{f"m{j}": 200 - frame[f"m{j}"] for j in range(5)})


def with_noise(frame):
    rng = np.random.default_rng(5)
    return frame.assign(
        **{f"m{j}": frame[f"m{j}"] + rng.normal(0, 20, len(frame)) for j in range(5)}
    )


@pytest.mark.parametrize("change", [exchanged, mirrored, with_noise])
@pytest.mark.parametrize("sorted_by", [[], ["age"], ["sex", "age"]])
def test_rows_that_keep_their_places_are_found(change, sorted_by):
    """Where both files are sorted, rows are held against what is usual around them."""
    real, other = measured(300, 1), measured(300, 2)
    if sorted_by:
        real, other = (side.sort_values(sorted_by, ignore_index=True) for side in (real, other))
    made = change(real).assign(sex=other["sex"], age=other["age"])
    assert looked(real, made) is not None


@pytest.mark.parametrize("place", [0, 200])
def test_a_block_of_the_rows_is_found_at_either_end(place):
    real = measured(300, 1)
    assert looked(real, mirrored(real[place : place + 100])) is not None
    assert looked(real[place : place + 100], mirrored(real)) is not None


def test_a_control_in_the_same_order_explains_it_and_a_declaration_settles_it():
    real, made, control = (measured(300, seed) for seed in (1, 2, 3))
    rank = np.argsort(np.argsort(made["m0"].to_numpy()))
    real, control = (
        side.sort_values("m0", ignore_index=True).iloc[rank].reset_index(drop=True)
        for side in (real, control)
    )
    assert looked(real, made, control).is_explained
    assert not looked(real, made, measured(300, 4)).is_explained
    assert looked(real, made, irrelevant=["order of rows"]) is None


def households(n, seed):
    """Households of three, the parents first."""
    frame = measured(n, seed)
    rng = np.random.default_rng(seed)
    return frame.assign(age=rng.integers(0, 18, n) + np.where(np.arange(n) % 3 < 2, 30, 0))


def drifting(n, seed):
    frame = measured(n, seed)
    rng = np.random.default_rng(seed)
    return frame.assign(m0=np.cumsum(rng.normal(size=n)).round(2), m1=np.arange(n) + frame["m1"])


def sorted_rows(n, seed):
    return measured(n, seed).sort_values(["sex", "age"])


@pytest.mark.parametrize("draw", [measured, households, drifting, sorted_rows])
@pytest.mark.parametrize("seed", range(5))
def test_rows_of_other_people_follow_no_order(draw, seed):
    real, fresh = draw(300, 10 + seed), draw(300, 20 + seed)
    rng = np.random.default_rng(seed)
    apart = real.apply(lambda column: rng.permutation(column.to_numpy()))
    for made in (fresh, apart, real.sample(frac=1, random_state=seed)):
        assert looked(real, made) is None
