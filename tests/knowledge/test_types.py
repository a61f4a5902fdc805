"""People who are alike, against comparing everybody with everybody."""

import numpy as np
import pytest

from narcissus.attacks.table import Targets
from narcissus.knowledge import types
from narcissus.knowledge.types import Types, row_keys
from narcissus.mechanisms import MarginalQueries
from narcissus.success import exact_match


def alike(rows):
    """Tell of each pair of people whether their rows are equal."""
    return (rows[:, None] == rows[None]).all(axis=2)


@pytest.mark.parametrize("sizes", [(2, 3), (2**20, 2**21, 3, 2**22, 2), (1,), ()])
def test_keys_are_equal_where_rows_are(sizes):
    """Also where the rows have more combinations than a whole number of 64 bits."""
    rng = np.random.default_rng(1)
    few = [rng.integers(0, size, 3) for size in sizes]
    codes = np.array([[rng.choice(column) for column in few] for _ in range(60)], dtype=np.int32)
    codes = codes.reshape(60, len(sizes))
    keys = row_keys(codes, sizes)
    np.testing.assert_array_equal(keys[:, None] == keys, alike(codes))


@pytest.mark.parametrize("block", [7, 1000])
def test_types_are_equal_known_columns_and_equal_priors(monkeypatch, block):
    monkeypatch.setattr(types, "BLOCK", block)
    rng = np.random.default_rng(2)
    queries = MarginalQueries((2, 3, 4), (2,), 2)
    codes = np.stack([rng.integers(0, s, 80) for s in (2, 3, 1)], axis=1).astype(np.int32)
    prior = rng.dirichlet(np.ones(4), 3)[rng.integers(0, 3, 80)]
    found = Targets(queries, codes, prior, exact_match((4,))).types
    same = alike(np.hstack([codes, prior]))
    np.testing.assert_array_equal(found.of[:, None] == found.of, same)
    np.testing.assert_array_equal(found.first[found.of], same.argmax(axis=1))
    np.testing.assert_array_equal(found.people[found.of], same.sum(axis=1))
    assert 6 < found.number == len(np.unique(found.of)) < 80


def test_equal_rows_leave_types_as_they_are():
    some = Types.by(np.array([4, 4, 1]))
    assert some.split(np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]])) is some
    assert some.number == 2


@pytest.mark.parametrize("block", [7, 1000])
def test_equal_rows_are_found_among_numbers(monkeypatch, block):
    monkeypatch.setattr(types, "BLOCK", block)
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(3), 9)[rng.integers(0, 9, 100)]
    found = Types.of_rows(rows)
    same = alike(rows)
    np.testing.assert_array_equal(found.of[:, None] == found.of, same)
    np.testing.assert_array_equal(rows[found.first][found.of], rows)
    assert found.number == 9


def test_rows_whose_keys_collide_are_told_apart(monkeypatch):
    monkeypatch.setattr(types, "MIX", np.uint64(0))  # every key is 0
    rows = np.array([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])
    assert Types.of_rows(rows).of.tolist() == Types.of_rows(rows[::-1]).of.tolist() == [0, 1, 0]
