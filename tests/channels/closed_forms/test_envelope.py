"""The best guess under noise on a line: by a fine grid, by the uniform forms, in the far tail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.closed_forms.location import intervals
from narcissus.errors import InputError
from narcissus.findings import contradictions

NOISE = [ch.Laplace(3.0, 0.7, 5), ch.Gaussian(3.0, 0.7, 5), ch.Laplace(3.0, 2.0, 5)]


def density(made, x):
    places = np.linspace(0, made.span, made.points)[:, None]
    if isinstance(made, ch.Laplace):
        return stats.laplace(places, made.scale).pdf(x)
    return stats.norm(places, made.sigma).pdf(x)


@pytest.mark.states("Narcissus theory", "6.11")
@pytest.mark.parametrize("made", NOISE, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_the_risk_by_a_fine_grid(made, seed):
    prior = np.random.default_rng(seed).dirichlet(np.full(5, 0.5))
    prior = np.sort(prior) if seed == 3 else prior
    x = np.linspace(-50, 53, 600_001)
    right = np.trapezoid((prior[:, None] * density(made, x)).max(axis=0), x)
    assert made.bayes_risk_of(prior) == pytest.approx(1 - right, abs=1e-7)
    assert contradictions(ch.analyse(made, prior).findings()) == []


@pytest.mark.parametrize("made", NOISE, ids=repr)
def test_the_uniform_prior_and_numbers_that_never_are(made):
    assert made.bayes_risk_of(np.full(5, 0.2)) == pytest.approx(made.bayes_risk, rel=1e-13)
    ends = made.bayes_risk_of(np.array([0.5, 0, 0, 0, 0.5]))
    assert ends == pytest.approx(made.beta_star / 2, rel=1e-13)


def test_a_number_too_unlikely_is_never_the_guess():
    found = intervals(
        np.array([0.0, 1.0, 2.0]),
        np.array([0.5, 1e-9, 0.5 - 1e-9]),
        ch.Laplace(2, 1.0, 3)._crossing,
    )
    assert [i for i, _, _ in found] == [0, 2]
    assert (found[0][1], found[-1][2]) == (-math.inf, math.inf)
    assert found[0][2] == found[1][1] == pytest.approx(1, abs=1e-8)


def test_a_tiny_risk_keeps_its_digits():
    made = ch.Gaussian(40.0, 1.0, 2)
    # the boundary lies at 20 + ln(9) / 40
    cut = 20 + math.log(9) / 40
    exact = 0.9 * stats.norm.sf(cut) + 0.1 * stats.norm.sf(40 - cut)
    assert 0 < exact < 1e-80
    assert made.bayes_risk_of(np.array([0.9, 0.1])) == pytest.approx(exact, rel=1e-10, abs=0)


def test_a_summary_under_a_prior():
    found = ch.analyse(ch.Gaussian(1.0, 1.0, 2), {"1": 0.3, "2": 0.7})
    assert (found.prior, found.shannon) == ("given", None)
    assert found.beta_star == ch.Gaussian(1.0, 1.0, 2).beta_star
    assert found.beta >= found.beta_star
    assert found.beta == pytest.approx(found.bayes_risk / 0.3)
    assert found.leakage == pytest.approx((1 - found.bayes_risk) / 0.7)
    assert ch.prior_of(ch.Laplace(), {"2": 0.7, "1": 0.3}).tolist() == [0.3, 0.7]
    assert ch.prior_of([[0.5, 0.5]], None).tolist() == [1]
    with pytest.raises(InputError, match="needs the channel as a matrix"):
        ch.prior_of(ch.KaryRandomizedResponse(10**6, 1.0), None)
    with pytest.raises(InputError, match="all mass"):
        ch.analyse(ch.Laplace(), [1.0, 0.0])
    with pytest.raises(InputError, match="2 secrets, got 3"):
        ch.analyse(ch.Laplace(), [0.2, 0.3, 0.5])
