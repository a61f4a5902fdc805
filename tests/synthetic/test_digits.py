"""People who stand in the file to the last digit, beside people with swapped digits."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic.copies import Views
from narcissus.synthetic.digits import Swapped, swapped_digits
from narcissus.synthetic.full_files import read_whole

ERROR = 0.0025


def paid(n, seed, places=2):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "pay": np.round(rng.lognormal(8, 0.5, n), places), "age": rng.integers(20, 60, n),
        "sex": rng.choice(["f", "m"], n),
    })  # fmt: skip


def swapped(real, made, seed=1):
    rng = np.random.default_rng(seed)
    files = read_whole(real, made)
    return swapped_digits(files, Views(files, rng), files.rows("real"), rng)


@pytest.mark.parametrize("copies", [5, 20, 200])
def test_copies_are_more_than_with_swapped_digits(copies):
    real, fresh = paid(400, 1), paid(1500, 2)
    found = swapped(real, pd.concat([fresh, real[:copies]]))
    assert found.standing == copies
    assert found.excess(ERROR)[1] > 0
    assert swapped(real, fresh).excess(ERROR)[1] <= 0


def test_a_list_of_prices_has_no_last_digits():
    """Other people pay the same prices, and nobody pays a price with swapped digits."""
    prices = np.round(np.random.default_rng(3).lognormal(8, 0.5, 150), 2)
    real, made = (paid(400, seed).assign(
        pay=np.random.default_rng(seed).choice(prices, 400)) for seed in (1, 2))  # fmt: skip
    assert swapped(real, made) is None


def test_round_numbers_are_swapped_among_themselves():
    """Most earn whole thousands, in the file as well: that is no copy."""
    real, made = (paid(600, seed, places=0)[["pay", "sex"]] for seed in (1, 2))
    for frame in (real, made):
        frame.loc[:400, "pay"] = np.round(frame["pay"][:401], -3)
    found = swapped(real, made)
    assert found is None or found.excess(ERROR)[1] <= 0


def test_numbers_of_few_values_have_no_last_digits():
    assert swapped(paid(400, 1)[["age", "sex"]], paid(400, 2)[["age", "sex"]]) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_follows_from_another_hides_no_coincidence(seed):
    """With swapped digits no pay fits its tax: so only columns of few values must agree."""
    real, made = (paid(800, 10 * seed + k, places=-1).assign(
        pay=lambda f: f["pay"] + 1, tax=lambda f: 3 * f["pay"])[["pay", "tax"]]
        for k in range(2))  # fmt: skip
    found = swapped(real, made)
    assert found is None or found.excess(ERROR)[1] <= 0


def test_gaps_are_left_out():
    real, made = paid(400, 1), paid(400, 2)
    real.loc[:50, "pay"] = np.nan
    made.loc[:50, "pay"] = np.nan
    assert swapped(real, pd.concat([made, real[100:130]])).excess(ERROR)[1] > 0


def test_the_limit_is_a_rank_among_all_orders():
    """By hand: of 99 swaps and the digits as they are, at most 2 in 100 pass the 98th."""
    found = Swapped(500, 40, tuple(range(99)))
    assert found.most_coincidences(0.02) == 97
    assert found.most_coincidences(0.001) == 500
    assert found.expected == 49


@pytest.mark.parametrize("seed", range(4))
def test_fresh_people_stand_in_the_file_as_often_with_swapped_digits(seed):
    """Of numbers so coarse that many stand there by chance, on average."""
    real, made = (paid(600, 10 * seed + k, places=0)[["pay", "sex"]] for k in range(2))
    found = swapped(real, made)
    assert found is None or found.excess(ERROR)[1] <= 0
