"""What every bound for given priors takes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds.threat import likeliest_first, prior_rows, success_matrix
from narcissus.errors import InputError


def test_a_vector_is_one_row():
    assert prior_rows("priors", [0.25, 0.75]).tolist() == [[0.25, 0.75]]
    rows = [[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]
    assert prior_rows("priors", rows).tolist() == rows


def test_rows_sum_to_one_but_for_rounding():
    assert prior_rows("priors", [0.5, 0.5 + 0.9e-9]).shape == (1, 2)
    assert prior_rows("priors", [0.5, 0.5 - 0.9e-9]).shape == (1, 2)
    for wrong in (0.5 + 1.1e-9, 0.5 - 1.1e-9, 0.7):
        with pytest.raises(InputError, match=r"`chances` must sum to 1 .* in row 1"):
            prior_rows("chances", [[0.5, 0.5], [0.5, wrong], [0.1, 0.1]])
    with pytest.raises(InputError, match=r"got 0\.75 in row 0"):
        prior_rows("priors", [0.5, 0.25])


@pytest.mark.parametrize("wrong", [[], [[]], np.full((1, 2, 2), 0.5), [1.5, -0.5]])
def test_what_are_no_rows_of_distributions_is_refused(wrong):
    with pytest.raises(InputError, match="priors"):
        prior_rows("priors", wrong)


def test_a_guess_that_comes_twice_counts_once():
    found = success_matrix([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 0]], 3)
    assert sorted(map(tuple, found.T.tolist())) == [(0, 1, 0), (0, 1, 1), (1, 0, 1)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([1, 0], "one row for each of the 2 values"),
        ([[1, 0]], r"got shape \(1, 2\)"),
        ([[], []], r"got shape \(2, 0\)"),
        (np.ones((2, 1, 1)), "one column a guess"),
        ([[1, 0], [0, 0.5]], "only 0 and 1"),
    ],
)
def test_what_is_no_success_matrix_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        success_matrix(wrong, 2)


def test_rows_and_counts_are_sorted_together():
    rows, counts = likeliest_first(np.array([[0.1, 0.4, 0.0]]), [[6, 1, 0]])
    assert rows.tolist() == [[0.4, 0.1, 0.0]]
    assert counts.tolist() == [[1, 6, 0]]
    assert prior_rows("priors", [0.1, 0.4], [6, 1]).shape == (1, 2)
    with pytest.raises(InputError, match="sum to 1"):
        prior_rows("priors", [0.1, 0.4], [5, 1])


@pytest.mark.parametrize(
    ("wrong", "said"), [([1], "shape"), ([0.5, 1], "at least 1"), ([np.inf, 1], "finite")]
)
def test_what_are_no_counts_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        likeliest_first(np.array([[0.5, 0.5]]), wrong)
