"""Sums, shares and ratios of numbers tell a secret that no column, pair or cell shows."""

import numpy as np
import pytest

from narcissus.kinds.table.linear import linear_chances, linear_scores, one_of_each

ROWS, FITTED = 1500, 1000


def amounts(rng, many=6, common=0.0):
    """Return amounts of money, which grow together by a common factor."""
    together = common * rng.normal(size=(ROWS, 1))
    return np.exp(rng.normal(4, 0.5, (ROWS, many)) + together)


def item_of_a_total(rng):
    items = amounts(rng).round(2)
    total = items.sum(axis=1).round(2)
    return np.column_stack([items[:, 1:], total]), items[:, 0]


def item_that_falls_as_others_rise(rng):
    items = amounts(rng, common=0.6)
    items[:, 0] = (items[:, 0] / items[:, 1]).round(2)
    return np.column_stack([items[:, 1:], items.sum(axis=1)]), items[:, 0]


def last_share(rng):
    shares = rng.dirichlet(np.full(6, 2.0), ROWS)
    return shares[:, 1:], shares[:, 0]


def weight_of_a_ratio(rng):
    height, weight = rng.normal(1.7, 0.1, ROWS), np.exp(rng.normal(4.3, 0.2, ROWS))
    return np.column_stack([height, weight / height**2, rng.integers(0, 9, ROWS)]), weight


RELATIONS = (item_of_a_total, item_that_falls_as_others_rise, last_share, weight_of_a_ratio)


def right(numbers, classes, exact=None):
    chances = linear_chances(
        numbers, classes[:FITTED], size=int(classes.max()) + 1, rng=np.random.default_rng(0),
        exact=exact,
    )  # fmt: skip
    assert chances.shape[0] == ROWS - FITTED
    assert chances.sum(axis=1) == pytest.approx(1)
    return (chances.argmax(axis=1) == classes[FITTED:]).mean()


@pytest.mark.parametrize("cuts", [[0.5], [0.3, 0.6, 0.85]])
@pytest.mark.parametrize("make", RELATIONS)
def test_a_sum_is_found_behind_the_classes_of_its_secret(make, cuts):
    numbers, secret = make(np.random.default_rng(2))
    classes = np.searchsorted(np.quantile(secret, cuts), secret)
    assert right(numbers, classes) > 0.9
    assert right(numbers, classes, secret[:FITTED, None]) > 0.94


def test_of_numbers_that_tell_nothing_nothing_is_learned():
    rng = np.random.default_rng(3)
    numbers, classes = amounts(rng), rng.integers(0, 2, ROWS)
    assert abs(right(numbers, classes) - 0.5) < 5 * (0.25 / (ROWS - FITTED)) ** 0.5


def test_secrets_of_rows_to_be_guessed_are_not_seen():
    """The scores of all rows follow from the classes of the first ones."""
    rng = np.random.default_rng(4)
    numbers, classes = amounts(rng), rng.integers(0, 3, FITTED)
    scores = linear_scores(numbers, classes)
    again = linear_scores(np.concatenate([numbers, 7 * numbers[:9]]), classes)
    assert scores.shape[0] == ROWS
    assert again[:ROWS] == pytest.approx(scores, rel=1e-6, abs=1e-9)


def test_missing_endless_and_constant_numbers_do_no_harm():
    rng = np.random.default_rng(5)
    numbers, secret = item_of_a_total(rng)
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    numbers[:3, 0] = np.inf
    spoilt = np.column_stack([numbers, np.full(ROWS, np.nan), np.ones(ROWS)])
    classes = (secret > np.median(secret)).astype(int)
    assert right(spoilt, classes) > 0.85


def test_common_values_of_codes_are_told_apart():
    codes = np.array([4, 4, 1, 1, 1, 0])
    assert one_of_each(codes).tolist() == [
        [0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1],
    ]  # fmt: skip
