"""Diversity of secrets: against papers, against pyCANON's numbers, and against plain loops."""

import math

import numpy as np
import pandas as pd
import pytest

from narcissus.disclosure import key_classes, measure_disclosure
from narcissus.disclosure.measures import measure_secret


@pytest.mark.states("Li et al. 2007", "section 4")
@pytest.mark.parametrize(("salaries", "distance"), [((0, 1, 2), 0.375), ((3, 5, 8), 0.167)])
def test_the_ordered_distances_of_the_paper(salaries, distance):
    """Of 3 of 9 salaries, 3k to 11k: the distance of one class from the table."""
    rest = sorted(set(range(9)) - set(salaries))
    known = np.array([0] * 3 + [1] * 6)
    found = measure_secret(key_classes(known[:, None]), np.array([*salaries, *rest]), ordered=True)
    # the other six are half as far: the sum over both classes, by their sizes, is 0
    assert found.closeness == pytest.approx(distance, abs=5e-4)


def by_hand(keys, secret, key, c=2):
    own, size = secret[keys == key], int(secret.max()) + 1
    counts = np.bincount(own, minlength=size)
    share, whole = counts / counts.sum(), np.bincount(secret, minlength=size) / len(secret)
    there = share[share > 0]
    falling = sorted(counts[counts > 0], reverse=True)
    recursive = max(
        [k for k in range(1, len(falling) + 1) if falling[0] < c * sum(falling[k - 1 :])],
        default=1,
    )
    ordered = sum(abs(sum(share[: i + 1] - whole[: i + 1])) for i in range(size)) / (size - 1)
    equal = abs(share - whole).sum() / 2
    return len(there), math.exp(-(there * np.log(there)).sum()), recursive, ordered, equal


@pytest.mark.parametrize("seed", range(10))
def test_every_measure_is_that_of_a_plain_loop(seed):
    g = np.random.default_rng(seed)
    keys = np.unique(g.integers(0, 6, 80), return_inverse=True)[1]
    secret = np.unique(np.minimum(g.geometric(0.4, 80), 6), return_inverse=True)[1]
    each = np.array([by_hand(keys, secret, key) for key in range(keys.max() + 1)])
    classes = key_classes(keys[:, None])
    ordered, equal = (measure_secret(classes, secret, ordered=o) for o in (True, False))
    assert ordered.closeness == pytest.approx(each[:, 3].max())
    assert equal.closeness == pytest.approx(each[:, 4].max())
    found = ordered.distinct, ordered.entropy, ordered.recursive
    assert found == pytest.approx(each[:, :3].min(axis=0))
    assert ordered.told == sum((keys == key).sum() for key in np.flatnonzero(each[:, 0] == 1))


def test_pycanon_finds_the_same():
    """pyCANON 1.3.6 on this table: k, distinct l, floor of entropy l, t-closeness."""
    g, n = np.random.default_rng(7), 300
    table = pd.DataFrame({
        "age": g.integers(0, 4, n), "sex": g.choice(list("fm"), n), "town": g.integers(0, 3, n),
        "ill": g.choice(list("abcde"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "income": g.integers(0, 12, n) * 100,
    })  # fmt: skip
    found = measure_disclosure(table, known=["age", "sex", "town"], secrets=["ill", "income"])
    ill, income = found.secrets
    assert found.k == 6
    assert (ill.distinct, int(ill.entropy), income.distinct, int(income.entropy)) == (3, 2, 5, 4)
    assert ill.closeness == pytest.approx(0.3756410256410257)
    assert income.closeness == pytest.approx(0.21969696969696964)
    assert (ill.is_ordered, income.is_ordered) == (False, True)


def test_sdcmicro_counts_these_distinct_secrets():
    """The table of its test of `ldiversity`, where missing values are a group of their own."""
    sex, work = [0, 0, 0, 1, 1, 0, 0], [9, 9, 9, 1, 1, 2, 2]
    keys = np.stack([sex, work, [0, 0, 0, 0, 0, 1, 1]], axis=1)
    secret = np.array([1, 0, 2, 1, 0, 0, 1])
    for rows, distinct in (([0, 1, 2], 3), ([3, 4], 2), ([5, 6], 2)):
        assert measure_secret(key_classes(keys[rows]), secret[rows]).distinct == distinct
    assert measure_secret(key_classes(keys), secret).distinct == 2
