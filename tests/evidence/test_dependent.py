"""Tests that depend on each other: half of them, at half the error."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.evidence.intervals import (
    confidence_of_each,
    half_of,
    p_value_of_half,
    refused_by_half,
)


def test_by_hand():
    assert [half_of(n) for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]
    assert confidence_of_each(0.9, 2) == pytest.approx(0.95)
    assert confidence_of_each(0.9, 3) == pytest.approx(1 - 0.2 / 3)
    assert refused_by_half([1, 2, 3]) == 2
    assert refused_by_half([1, 2]) == 2
    assert p_value_of_half([0.3]) == 0.3
    assert p_value_of_half([0.2, 0.9]) == 0.4
    assert p_value_of_half([0.9, 0.8, 1.0]) == 1


@pytest.mark.parametrize("tests", [1, 2, 3, 4, 7, 8])
def test_the_worst_dependence_reaches_the_error_and_no_more(tests):
    """With chance alpha exactly half of the p-values, drawn at random, are uniform below c."""
    rng, runs, alpha = np.random.default_rng(1), 20_000, 0.2
    need = half_of(tests)
    c = alpha * need / tests
    hit = rng.random((runs, 1)) < alpha
    chosen = rng.permuted(np.arange(tests) < need + np.zeros((runs, 1)), axis=1)
    below, above = rng.random((runs, tests)) * c, c + (1 - c) * rng.random((runs, tests))
    p_values = np.where(hit & chosen, below, above)
    # each is uniform: P(p <= c) = alpha need / tests = c
    assert np.mean(p_values <= c) == pytest.approx(c, abs=0.02)
    refused = np.mean([p_value_of_half(list(row)) <= alpha for row in p_values])
    assert refused == pytest.approx(alpha, abs=0.015)
    assert confidence_of_each(1 - alpha, tests) == pytest.approx(1 - c)


def test_nothing_is_refused():
    for combined in (refused_by_half, p_value_of_half):
        with pytest.raises(InputError, match="at least one"):
            combined([])
