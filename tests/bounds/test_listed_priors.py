"""What is known of priors too long to list: checks, and the prior with its rest spread out."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import ListedPriors
from narcissus.errors import InputError


def test_the_rest_goes_to_as_many_values_as_it_fills():
    priors = ListedPriors([[0.5, 0.2, 0.0], [0.6, 0.3, 0.1]], [0.04, 0.0])
    masses, counts = priors.with_rest(priors.unlisted)
    np.testing.assert_allclose(masses, [[0.5, 0.2, 0, 0.04], [0.6, 0.3, 0.1, 0]], atol=1e-15)
    np.testing.assert_allclose(counts, [[1, 1, 0, 7.5], [1, 1, 1, 0]], rtol=1e-12)
    np.testing.assert_allclose((masses * counts).sum(axis=1), 1.0, rtol=1e-12)


def test_less_than_one_value_is_one_value():
    masses, counts = ListedPriors([[0.5, 0.4]], [0.3]).with_rest([0.3])
    np.testing.assert_allclose(masses[0], [0.5, 0.4, 0.1])
    np.testing.assert_allclose(counts[0], [1, 1, 1])


@pytest.mark.parametrize(
    ("masses", "unlisted", "said"),
    [
        ([[0.5, 0.6]], [0.0], "sum to at most 1"),
        ([[0.5, 0.4]], [0.0], "to 1 where no value is left out"),
        ([[0.5, 0.2]], [0.3], "must not be above the smallest"),
        ([[0.5, 0.2]], [0.1, 0.1], "one number a target"),
        ([[0.5, -0.2]], [0.1], "probabilities"),
        ([[]], [0.1], "one row a target"),
    ],
)
def test_what_cannot_be_is_refused(masses, unlisted, said):
    with pytest.raises(InputError, match=said):
        ListedPriors(masses, unlisted)
