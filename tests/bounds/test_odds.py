"""Odds multiplied by a guarantee, against arithmetic in many digits."""

from __future__ import annotations

import math

import mpmath
import pytest

from narcissus.bounds import posterior
from narcissus.bounds.theorem import log_odds
from narcissus.errors import InputError


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2")
@pytest.mark.parametrize("prior", [1e-300, 1e-9, 0.2, 0.5, 0.999])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 5.0, 600.0, 1e4])
def test_the_odds_are_multiplied(prior, epsilon):
    with mpmath.workdps(60):
        odds = mpmath.mpf(prior) / (1 - mpmath.mpf(prior)) * mpmath.exp(epsilon)
        truth = float(odds / (1 + odds))
    # a log of 700 has an error of 1e-13
    assert float(posterior(prior, epsilon)) == pytest.approx(truth, rel=1e-12, abs=0)


def test_what_is_certain_stays_so_and_shapes_broadcast():
    assert posterior([0.0, 1.0], 3.0).tolist() == [0, 1]
    assert log_odds([0.0, 0.5, 1.0]).tolist() == [-math.inf, 0, math.inf]
    assert posterior([[0.1], [0.2]], [0.0, 1.0, 2.0]).shape == (2, 3)
    with pytest.raises(InputError, match="prior"):
        posterior(1.1, 0.0)
