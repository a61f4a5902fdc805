"""Published numbers about DP-SGD, against Gaussian tests and the exact profile."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from narcissus.bounds import cherubin, sampled_reconstruction
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, dp_sgd


@pytest.mark.states("Narcissus theory", "4.7")
def test_cherubin_is_not_a_bound():
    claimed = cherubin(0.5, 0.002, 10_000)
    assert claimed.value == pytest.approx(0.311, abs=6e-4)
    assert not claimed.valid
    exact = float(dp_sgd(0.5, 0.002, 10_000, interval=1e-3).profile(0.0))
    assert exact == pytest.approx(0.598, abs=6e-4)


@pytest.mark.parametrize(("noise", "steps"), [(0.5, 1), (3.0, 1), (20.0, 50)])
def test_without_sampling_it_is_exact(noise, steps):
    """Steps with all records are one Gaussian mechanism; replacing moves twice as far."""
    exact = GaussianDP(2 * math.sqrt(steps) / noise).profile(0.0)
    assert cherubin(noise, 1.0, steps).value == pytest.approx(float(exact), rel=1e-12)
    # and it takes a step at some rate for that much less of a step
    assert cherubin(noise, 0.25, 16 * steps).value == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.states("Narcissus theory", "4.7")
def test_reconstruction_by_sampling_estimates_the_exact_success():
    """One step of full sampling is a Gaussian test: success Phi(Phi^-1(p) + 1/sigma)."""
    draws, p, sigma = 200_000, 0.1, 1.0
    found = sampled_reconstruction(sigma, 1.0, 1, p, samples=draws, rng=11)
    assert not found.valid
    exact = stats.norm.cdf(stats.norm.ppf(p) + 1 / sigma)
    # Its variance is that of max(ratio - t, 0), at most var(ratio) = exp(1/sigma^2) - 1.
    # 4.9 deviations: false-alarm rate 1e-6.
    assert abs(found.value - exact) <= 4.9 * math.sqrt((math.e - 1) / draws)
    # Never sampled: nothing is learnt.
    never = sampled_reconstruction(sigma, 0.0, 3, p, samples=1000, rng=11)
    assert never.value == pytest.approx(p, abs=1e-12)
    # It lies on both sides of the truth, so that it is no bound.
    few = [sampled_reconstruction(sigma, 1.0, 1, p, samples=300, rng=s).value for s in range(20)]
    assert min(few) < exact < max(few)


@pytest.mark.parametrize(("rate", "steps"), [(0.3, 1), (1.0, 5)])
def test_reconstruction_estimates_the_best_test_of_that_size(rate, steps):
    """The likelihood ratio rises with what is seen, so that the best test is a threshold."""
    p, sigma, draws = 0.2, 1.5, 200_000
    far = math.sqrt(steps) / sigma
    where = stats.norm.isf(p)
    exact = (1 - rate) * p + rate * stats.norm.sf(where - far)
    found = sampled_reconstruction(sigma, rate, steps, p, samples=draws, rng=3).value
    # 4.9 deviations of a mean of terms whose variance is at most exp(far^2) - 1
    assert abs(found - exact) <= 4.9 * math.sqrt(math.expm1(far**2) / draws)


def test_everything_is_found_where_all_is_guessed_and_shown():
    assert sampled_reconstruction(1.0, 0.0, 1, 1.0, samples=10, rng=1).value == 1
    assert sampled_reconstruction(0.01, 1.0, 1, 0.5, samples=100, rng=1).value <= 1
    # a part of a sample counts as a whole one
    assert sampled_reconstruction(1.0, 0.0, 1, 0.11, samples=10, rng=1).value == 0.2
    same = [sampled_reconstruction(1.0, 0.5, 2, 0.3, samples=9, rng=4).value for _ in range(2)]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"noise": 0.0}, "noise"),
        ({"rate": 1.5}, "rate"),
        ({"steps": 0}, "steps"),
        ({"prior": -0.1}, "prior"),
        ({"samples": 0}, "samples"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    told = {"noise": 1.0, "rate": 0.1, "steps": 1, "prior": 0.5, "samples": 1, **wrong}
    with pytest.raises(InputError, match=said):
        sampled_reconstruction(**told)
    if said in ("noise", "rate", "steps"):
        with pytest.raises(InputError, match=said):
            cherubin(told["noise"], told["rate"], told["steps"])
    sampled_reconstruction(1.0, 0.1, 1, 0.5, samples=1)
    cherubin(1.0, 0.1, 1)
