"""The law of the right columns of a guess, against the listed joint and the binomial."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.priors.best_guess import at_least_right, right_columns
from narcissus.priors.factors import Factors


@given(st.integers(0, 10**6))
def test_it_is_the_law_over_the_listed_joint(draw_factors, all_values, seed):
    factors = draw_factors(seed)
    values, chances = all_values(factors)
    guesses = values[np.random.default_rng(seed).integers(0, len(values), factors.people)]
    right = (values[None] == guesses[:, None]).sum(axis=2)
    law = right_columns(factors, guesses)
    for k in range(len(factors.shape) + 1):
        truth = (chances * (right == k)).sum(axis=1)
        np.testing.assert_allclose(law[:, k], truth, rtol=1e-11)
        tail = (chances * (right >= k)).sum(axis=1)
        np.testing.assert_allclose(at_least_right(factors, guesses, k), tail, rtol=1e-11)


def test_forty_independent_columns_are_binomial_far_into_the_tail():
    columns = 40
    table = np.log([[0.2, 0.8]])
    factors = Factors(
        (2,) * columns,
        tuple((c,) for c in range(columns)),
        (table,) * columns,
        np.zeros(2, dtype=np.intp),
    )
    guesses = np.array([[0] * columns, [0, 1] * (columns // 2)])
    law = right_columns(factors, guesses)
    np.testing.assert_allclose(
        law[0], stats.binom.pmf(np.arange(columns + 1), columns, 0.2), rtol=1e-11
    )
    assert law[0, -1] == pytest.approx(0.2**40, rel=1e-11)
    # half of the guesses are right with .2 and half with .8
    mean = law[1] @ np.arange(columns + 1)
    assert mean == pytest.approx(20.0, rel=1e-12)


def test_guesses_and_counts_that_are_not_there_are_refused():
    factors = Factors((2,), ((0,),), (np.zeros((1, 2)),), np.array([0, 0]))
    with pytest.raises(InputError, match="shape"):
        right_columns(factors, [[0]])
    with pytest.raises(InputError, match="at_least"):
        at_least_right(factors, [[0], [1]], 2)
