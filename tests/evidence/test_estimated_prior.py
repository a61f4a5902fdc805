"""Priors known from samples only: the formula, the required family, coverage against the rarest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import estimated_tail, upper_priors


def test_estimated_priors_use_all_limits_at_once():
    limits = upper_priors([3, 0, 50], 50, error=0.03, attempts=1)
    assert limits[0] == pytest.approx(stats.beta.isf(0.01, 4, 47), rel=1e-9)
    assert limits[1] == pytest.approx(1 - 0.01 ** (1 / 50), rel=1e-9)
    assert limits[2] == 1
    several = upper_priors([3, 0, 50], 50, error=0.03, attempts=5)
    assert several[0] == pytest.approx(stats.beta.isf(0.002, 4, 47), rel=1e-9)
    bound = estimated_tail([3] * 20, 50, 1.0, 0.0, 15, error=0.01, attempts=1)
    at_limits = stats.beta.isf(0.01 / 20, 4, 47)
    fall = math.e * at_limits / (1 + (math.e - 1) * at_limits)
    assert bound.value == pytest.approx(stats.binom.sf(14, 20, fall) + 0.01, rel=1e-9)
    spent = estimated_tail([3] * 20, 50, 1.0, 1e-4, 15, error=0.01, attempts=1).value
    assert spent == pytest.approx(bound.value + 20e-4, rel=1e-9)
    wider = estimated_tail([3] * 20, 50, 1.0, 0.0, 15, error=0.01, attempts=9)
    assert wider.value > bound.value
    assert estimated_tail([3] * 20, 50, 1.0, 0.0, 21, error=0.01, attempts=1).value == 0
    for hits, samples in [([60], 50), ([2.5], 50), ([2], 50.5), ([-1], 50), ([0], 0), ([[1]], 50)]:
        with pytest.raises(InputError, match="hits"):
            upper_priors(hits, samples, error=0.05, attempts=1)
    assert upper_priors([0, 1], 1, error=0.1, attempts=1).tolist() == pytest.approx([0.95, 1.0])


def test_the_number_of_attempts_has_no_default():
    """With a default of 1, limits made from the sample that chose the attempt covered .40."""
    with pytest.raises(TypeError, match="attempts"):
        upper_priors([3], 50, error=0.05)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="attempts"):
        estimated_tail([3], 50, 1.0, 0.0, 1, error=0.05)  # pyright: ignore[reportCallIssue]


@pytest.mark.coverage_claim
@pytest.mark.parametrize(("values", "samples"), [(10, 30), (10, 100), (4, 20)])
def test_limits_for_every_attempt_survive_an_attacker_who_picks_the_rarest(values, samples):
    """Equally likely values; the attacker names the one seen least. False-alarm rate 1e-6."""
    rng = np.random.default_rng(31)
    repeats, error = 4000, 0.05
    counts = rng.multinomial(samples, np.full(values, 1 / values), repeats).min(axis=1)
    seen = np.arange(samples + 1)
    one, several = (
        np.array([upper_priors([h], samples, error=error, attempts=a)[0] for h in seen])
        for a in (1, values)
    )
    assert (several[counts] < 1 / values).sum() <= stats.binom.isf(1e-6, repeats, error)
    assert (one[counts] < 1 / values).mean() > 2 * error  # the test has power


@pytest.mark.parametrize("hits", [[1, 11], [1, -1], [1, 0.5], [[1, 2]]])
def test_one_impossible_count_among_good_ones_is_refused(hits):
    for samples in (10, [10, 10]):
        with pytest.raises(InputError, match="hits"):
            upper_priors(hits, samples, error=0.05, attempts=3)
    with pytest.raises(InputError, match="hits"):
        upper_priors([0, 0], [1, 0], error=0.05, attempts=3)
    assert upper_priors([0, 10], 10, error=0.05, attempts=3)[1] == 1
