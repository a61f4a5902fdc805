"""The order of elimination: its steps, its width where that is known, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import TooLargeError
from narcissus.priors import elimination_order as module
from narcissus.priors.elimination_order import elimination_order


def cost(shape, scopes, order) -> int:
    """Give the joint values that an order looks at, from the definition."""
    left, total = [set(s) for s in scopes], 0
    for column in order:
        clique = {column}.union(*(s for s in left if column in s))
        total += int(np.prod([shape[c] for c in clique]))
        left = [s for s in left if column not in s] + [clique - {column}]
    return total


@given(st.integers(0, 10**6))
def test_each_step_looks_at_what_its_column_is_tied_to(seed):
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, 7))
    shape = tuple(int(s) for s in rng.integers(1, 5, columns))
    scopes = [
        tuple(sorted(rng.choice(columns, int(rng.integers(1, min(columns, 3) + 1)), replace=False)))
        for _ in range(int(rng.integers(0, 6)))
    ]
    steps = elimination_order(shape, scopes)
    assert sorted(step.column for step in steps) == list(range(columns))
    left = [set(map(int, s)) for s in scopes]
    for step in steps:
        clique = {step.column}.union(*(s for s in left if step.column in s))
        assert step.given == tuple(sorted(clique - {step.column}))
        assert step.cells(shape) == np.prod([shape[c] for c in clique])
        left = [s for s in left if step.column not in s] + [clique - {step.column}]
    # of six columns all 720 orders can be looked at: never more than twice the best
    if columns <= 5:
        least = min(cost(shape, scopes, o) for o in itertools.permutations(range(columns)))
        assert least <= sum(s.cells(shape) for s in steps) <= 2 * least


def test_a_chain_of_columns_is_taken_two_at_a_time():
    shape = (7,) * 30
    steps = elimination_order(shape, [(i, i + 1) for i in range(29)])
    assert max(step.cells(shape) for step in steps) == 49


def test_a_star_is_taken_from_its_rays():
    # the hub is small, so that the smallest step alone is a bad guide
    shape = (2, *(9,) * 12)
    steps = elimination_order(shape, [(0, i) for i in range(1, 13)])
    assert max(step.cells(shape) for step in steps) == 18


def test_what_is_tied_too_closely_is_refused_with_its_size(monkeypatch):
    shape, scopes = (10,) * 4, list(itertools.combinations(range(4), 2))
    assert elimination_order(shape, scopes)[0].cells(shape) == 10_000
    monkeypatch.setattr(module, "MAX_CLIQUE", 9_999)
    with pytest.raises(TooLargeError, match=r"ties 4 unknown columns together with 10,000 joint"):
        elimination_order(shape, scopes)
