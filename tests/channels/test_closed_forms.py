"""What every closed form must do: agree with its matrix, keep its digits, refuse too large ones."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels import Gaussian, Geometric, KaryRandomizedResponse, Subset
from narcissus.channels import closed_forms as calibrated
from narcissus.channels.closed_forms import intervals
from narcissus.errors import InputError, TooLargeError
from narcissus.findings import contradictions
from narcissus.guarantees import GaussianDP

from .conftest import refused

FINITE = [
    ch.KaryRandomizedResponse(7, 1.3),
    ch.KaryRandomizedResponse(2, 60.0),
    ch.Geometric(9, 0.4),
    ch.Geometric(8, 0.4),
    ch.Geometric(2, 3.0),
    ch.Geometric(150, 0.3),
    ch.Subset(7, 3, 1.2),
    ch.Subset(5, 1, 2.0),
    ch.Subset(5, 4, 0.0),
    ch.UnaryEncoding(6, 1.1),
    ch.UnaryEncoding(6, 1.1, optimized=True),
    ch.UnaryEncoding(3, 50.0),
    ch.Exponential.on_a_line(9, 2.0),
]


@pytest.mark.states("Chatzikokolakis et al. 2023", "section VI", "Equation 7")
@pytest.mark.states("Narcissus theory", "6")
@pytest.mark.parametrize("mechanism", FINITE, ids=repr)
def test_closed_forms_are_those_of_the_matrix(mechanism):
    c = mechanism.channel()
    assert mechanism.beta_star == pytest.approx(ch.beta_star(c).value, rel=1e-12, abs=0)
    assert mechanism.capacity == pytest.approx(ch.capacity(c), rel=1e-12)
    assert mechanism.bayes_risk == pytest.approx(ch.bayes_risk(c), rel=1e-11, abs=0)
    assert mechanism.guessing_error == pytest.approx(1 - 1 / c.shape[0], rel=1e-14)
    if mechanism.local_epsilon < 40:  # beyond, the matrix entries have lost the ratio
        assert mechanism.local_epsilon == pytest.approx(ch.local_dp_epsilon(c), rel=1e-9)
    for epsilon in (0, 0.05, 0.7, 1.15, 1.9, 3.0):
        assert mechanism.delta(epsilon) == pytest.approx(ch.local_dp_delta(c, epsilon), abs=1e-14)
    a, b = mechanism.pair
    i, j = c.secrets.index(a), c.secrets.index(b)
    assert ch.pairwise(c)[i, j] == pytest.approx(mechanism.beta_star, rel=1e-12, abs=0)


def test_relative_accuracy_in_the_far_tail():
    for found, exact in (
        (ch.KaryRandomizedResponse(10, 700).beta_star, 10 * math.exp(-700)),
        (ch.Gaussian(50, 1).beta_star, float(mpmath.erfc(25 / mpmath.sqrt(2)))),
        (ch.UnaryEncoding(3, 600).beta_star, 2 * math.exp(-300)),
        (ch.Subset(4, 1, 600).beta_star, 4 * math.exp(-600)),
    ):
        assert found == pytest.approx(exact, rel=1e-12, abs=0)
    assert ch.KaryRandomizedResponse(10, 5_000).beta_star == 0
    assert ch.Gaussian(1, 1).delta(200) >= 0
    assert ch.Gaussian(1, 1e-3).delta(10) == pytest.approx(1)
    assert (ch.Subset(5, 2, 0.7).pair, ch.Subset(5, 2, 0.7).local_epsilon) == (("1", "2"), 0.7)


def test_every_closed_form_keeps_the_digits_of_a_tiny_risk():
    for mechanism in (
        ch.KaryRandomizedResponse(4, 60.0),
        ch.Geometric(3, 80.0),
        ch.UnaryEncoding(4, 100.0),
        ch.Subset(5, 1, 60.0),
        ch.Exponential.on_a_line(3, 200.0),
    ):
        risk = ch.bayes_risk(mechanism.channel())
        assert 0 < risk < 1e-15
        assert mechanism.bayes_risk == pytest.approx(risk, rel=1e-11, abs=0), mechanism


def test_sizes_are_refused_with_the_size():
    refused(r"1e\+06 secrets", ch.KaryRandomizedResponse(10**6, 1).channel, error=TooLargeError)
    refused(r"1.27e\+30 outputs", ch.UnaryEncoding(100, 1).channel, error=TooLargeError)
    refused("continuous", ch.Laplace().channel)
    assert ch.UnaryEncoding(10**6, 1).beta_star > 0
    assert ch.Subset(10**5, 10**4, 1).beta_star > 0


def test_the_matrix_is_the_definition():
    weights = np.where(np.eye(4, dtype=bool), np.exp(1.5), 1.0)
    expected = weights / weights.sum(axis=1, keepdims=True)
    form = KaryRandomizedResponse(4, 1.5)
    assert np.allclose(form.channel().matrix, expected, rtol=1e-14)
    assert form.beta_star == pytest.approx(4 / (np.exp(1.5) + 3), rel=1e-14)


@pytest.mark.parametrize(("values", "size"), [(4, 1), (5, 2), (5, 4)])
def test_overlap_and_risk_by_listing_all_sets(values, size):
    sets = list(itertools.combinations(range(values), size))
    weights = np.array([[np.exp(0.9) if v in s else 1.0 for s in sets] for v in range(values)])
    rows = weights / weights.sum(axis=1, keepdims=True)
    form = Subset(values, size, 0.9)
    assert np.allclose(form.channel().matrix, rows, rtol=1e-13)
    assert form.beta_star == pytest.approx(np.minimum(rows[0], rows[1]).sum(), rel=1e-13)
    assert form.bayes_risk == pytest.approx(1 - rows.max(axis=0).sum() / values, rel=1e-12)


@pytest.mark.parametrize("values", [2, 3, 40, 100_000])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 20.0, 50.0, 300.0, 1400.0])
@pytest.mark.parametrize("optimized", [False, True])
def test_unary_encoding_in_many_digits(values, epsilon, optimized):
    mechanism = ch.UnaryEncoding(values, epsilon, optimized)
    with mpmath.workdps(800):
        e, n = mpmath.mpf(epsilon), values
        half = mpmath.exp(e / 2)
        p = mpmath.mpf(1) / 2 if optimized else half / (1 + half)
        q = 1 / (1 + mpmath.exp(e)) if optimized else 1 - p
        right = p * (1 - (1 - q) ** n) / (n * q) + (1 - p) * (1 - q) ** (n - 1) / n
        risk, likely, unlikely = 1 - right, p * (1 - q), q * (1 - p)
        assert mechanism.bayes_risk == pytest.approx(float(risk), rel=1e-12, abs=0)
        for share in (0.0, 0.3, 0.999):
            delta = float(likely - mpmath.exp(share * epsilon) * unlikely)
            assert mechanism.delta(share * epsilon) == pytest.approx(delta, rel=1e-10, abs=0)


def test_the_matrix_by_adding_up_the_noise():
    n, a = 6, np.exp(-0.4)
    noise = np.arange(-200, 201)
    chance = (1 - a) / (1 + a) * a ** np.abs(noise)
    rows = [
        np.bincount(np.clip(s + noise, 0, n - 1), weights=chance, minlength=n) for s in range(n)
    ]
    assert np.allclose(Geometric(n, 0.4).channel().matrix, rows, atol=1e-14)
    assert Geometric(5, 0.7).channel().dense[0, 0] == pytest.approx(0.668187772168166, abs=2e-15)


def test_exponential_mechanism_is_private():
    rng = np.random.default_rng(0)
    mechanism = ch.Exponential(rng.normal(size=(6, 9)), 1.5)
    assert mechanism.local_epsilon <= 1.5 + 1e-12
    assert mechanism.beta_star >= ch.from_local_dp(mechanism.local_epsilon).value - 1e-12
    refused("finite", ch.Exponential, [[0, np.inf], [0, 1]], 1)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 3", "Proposition 4")
@pytest.mark.parametrize("x", [0.01, 1.0, 7.5, 30.0])
def test_continuous_forms_by_integration(x):
    mpmath.mp.dps = 60
    gauss = mpmath.quad(mpmath.npdf, [mpmath.mpf(x) / 2, x / 2 + 1, x / 2 + 4, x / 2 + 40])
    assert ch.Gaussian(span=x, sigma=1).beta_star == pytest.approx(
        float(2 * gauss), rel=1e-13, abs=0
    )
    assert ch.Laplace(span=x, scale=1).beta_star == pytest.approx(math.exp(-x / 2), rel=1e-14)


NOISE = [ch.Laplace(3.0, 0.7, 5), ch.Gaussian(3.0, 0.7, 5), ch.Laplace(3.0, 2.0, 5)]


def density(made, x):
    places = np.linspace(0, made.span, made.points)[:, None]
    if isinstance(made, ch.Laplace):
        return stats.laplace(places, made.scale).pdf(x)
    return stats.norm(places, made.sigma).pdf(x)


@pytest.mark.parametrize("made", NOISE[:2], ids=repr)
def test_continuous_capacity_and_profile_by_a_fine_grid(made):
    x = np.linspace(-15, 18, 330_001)
    densities = density(made, x)
    assert made.capacity == pytest.approx(np.trapezoid(densities.max(axis=0), x), rel=1e-6)
    assert made.bayes_risk == pytest.approx(1 - made.capacity / 5, rel=1e-12)
    for epsilon in (0, 0.5, 2.0):
        excess = np.maximum(0, densities[0] - math.exp(epsilon) * densities[-1])
        assert made.delta(epsilon) == pytest.approx(np.trapezoid(excess, x), abs=1e-6)


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
    refused("all mass", ch.analyse, ch.Laplace(), [1.0, 0.0])
    refused("2 secrets, got 3", ch.analyse, ch.Laplace(), [0.2, 0.3, 0.5])


def test_the_classical_calibration_keeps_its_word_below_one():
    for epsilon in (0.1, 0.5, 0.99):
        assert Gaussian.classical(epsilon, 1e-5).delta(epsilon) <= 1e-5
        form, expected = Gaussian(span=2.0, sigma=3.0), GaussianDP(2 / 3).profile(epsilon)
        assert form.delta(epsilon) == pytest.approx(float(expected), rel=1e-10)


def test_noise_is_scaled_to_the_span():
    assert calibrated.laplace(span=4, epsilon=2).scale == 2
    assert calibrated.laplace(span=4, epsilon=2).local_epsilon == pytest.approx(2)
    assert calibrated.laplace(scale=3, points=5).secrets == 5
    made = calibrated.gaussian(span=4, epsilon=1, delta=1e-6)
    assert made.beta_star == pytest.approx(Gaussian.classical(1, 1e-6).beta_star)
    assert calibrated.gaussian(sigma=2).sigma == 2


def test_subsets_have_the_size_that_is_best_for_frequencies():
    assert calibrated.subset(100, 1.0).size == round(100 / (math.e + 1))
    assert calibrated.subset(4, 50.0).size == 1
    assert calibrated.subset(4, 1.0, size=3).size == 3


def test_unary_encodings_differ_by_their_flips():
    assert calibrated.unary(5, 1.0) != calibrated.optimized_unary(5, 1.0)
    assert calibrated.unary(5, 1.0).local_epsilon == pytest.approx(1.0)
    assert calibrated.optimized_unary(5, 1.0).local_epsilon == pytest.approx(1.0)
    assert calibrated.exponential(5, 1.0).secrets == 5


def test_exactly_what_is_needed_must_be_given():
    for wrong in ({}, {"scale": 1, "epsilon": 1}):
        refused("`scale` or `epsilon`", calibrated.laplace, **wrong)
    for wrong in ({}, {"epsilon": 1}, {"sigma": 1, "delta": 0.1}):
        refused("`sigma`, or", calibrated.gaussian, **wrong)
    refused("above 0", calibrated.laplace, epsilon=0)
