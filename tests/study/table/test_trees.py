"""A standard model: as good as it is known to be, right on what it has seen, the same anywhere."""

import numpy as np
import pytest

from narcissus.study.table.trees import tree_chances


def split(rule, *, rows=2500, columns=6, values=4, noise=0.03, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, values, size=(rows, columns))
    y = rule(x)
    return x, np.where(rng.random(rows) < noise, rng.permutation(y), y), rng


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(
    ("rule", "least"),
    [
        (lambda x: (x[:, 0] + x[:, 1]) % 4, 0.93),  # no column tells anything by itself
        (lambda x: ((x[:, 0] > 1) ^ (x[:, 1] > 1)).astype(int), 0.93),
        (lambda x: x[:, 5], 0.95),
    ],
)
def test_it_learns_what_no_column_tells_alone(rule, least, ordered):
    x, y, rng = split(rule)
    found = tree_chances(x[:1500], y[:1500], x[1500:], [ordered] * 6, size=4, rng=rng)
    assert (found.argmax(axis=1) == y[1500:]).mean() > least


def test_of_nothing_it_learns_nothing():
    x, _, rng = split(lambda x: x[:, 0])
    y = rng.integers(0, 4, size=len(x))
    found = tree_chances(x[:1500], y[:1500], x[1500:], [True] * 6, size=4, rng=rng)
    assert abs((found.argmax(axis=1) == y[1500:]).mean() - 0.25) < 5 * (0.25 * 0.75 / 1000) ** 0.5


def test_chances_are_shares_of_the_rows_that_are_alike():
    x = np.repeat([[0, 1], [1, 0]], [40, 60], axis=0)
    y = np.concatenate([np.repeat([0, 1], [10, 30]), np.repeat([0, 1], [45, 15])])
    rng = np.random.default_rng(0)
    found = tree_chances(x, y, np.array([[0, 1], [1, 0]]), [True, False], size=2, rng=rng)
    assert found == pytest.approx(np.array([[0.25, 0.75], [0.75, 0.25]]), abs=1e-5)


def test_it_answers_for_values_and_classes_that_it_never_saw():
    x, y, rng = split(lambda x: x[:, 0])
    asked = np.full((3, 6), 9)
    found = tree_chances(x, y, asked, [True, False] * 3, size=7, rng=rng)
    assert found.shape == (3, 7)
    assert not found[:, 4:].any()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-4)


def test_the_same_seed_gives_the_same_chances():
    x, y, _ = split(lambda x: x[:, 0])
    one, other = (
        tree_chances(x, y, x[:50], [False] * 6, size=4, rng=np.random.default_rng(4))
        for _ in range(2)
    )
    assert (one == other).all()
