import math

import mpmath
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError, TooLargeError

FINITE = [
    ch.RandomizedResponse(7, 1.3),
    ch.RandomizedResponse(2, 60.0),
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


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 3", "Proposition 4")
@pytest.mark.parametrize("x", [0.01, 1.0, 7.5, 30.0])
def test_continuous_forms_by_integration(x):
    mpmath.mp.dps = 60
    gauss = mpmath.quad(mpmath.npdf, [mpmath.mpf(x) / 2, x / 2 + 1, x / 2 + 4, x / 2 + 40])
    assert ch.Gaussian(span=x, sigma=1).beta_star == pytest.approx(
        float(2 * gauss), rel=1e-13, abs=0
    )
    assert ch.Laplace(span=x, scale=1).beta_star == pytest.approx(math.exp(-x / 2), rel=1e-14)


@pytest.mark.parametrize("mechanism", [ch.Laplace(3, 0.7, 5), ch.Gaussian(3, 0.7, 5)], ids=repr)
def test_continuous_capacity_and_profile_by_a_fine_grid(mechanism):
    import numpy as np
    from scipy import stats

    noise = stats.laplace(scale=0.7) if isinstance(mechanism, ch.Laplace) else stats.norm(scale=0.7)
    x = np.linspace(-15, 18, 330_001)
    densities = np.array([noise.pdf(x - s) for s in np.linspace(0, 3, 5)])
    assert mechanism.capacity == pytest.approx(np.trapezoid(densities.max(axis=0), x), rel=1e-6)
    assert mechanism.bayes_risk == pytest.approx(1 - mechanism.capacity / 5, rel=1e-12)
    for epsilon in (0, 0.5, 2.0):
        excess = np.maximum(0, densities[0] - math.exp(epsilon) * densities[-1])
        assert mechanism.delta(epsilon) == pytest.approx(np.trapezoid(excess, x), abs=1e-6)


def test_relative_accuracy_in_the_far_tail():
    assert ch.RandomizedResponse(10, 700).beta_star == pytest.approx(
        10 * math.exp(-700), rel=1e-12, abs=0
    )
    assert ch.RandomizedResponse(10, 5_000).beta_star == 0
    assert ch.Gaussian(50, 1).beta_star == pytest.approx(
        float(mpmath.erfc(25 / mpmath.sqrt(2))), rel=1e-12, abs=0
    )
    assert ch.UnaryEncoding(3, 600).beta_star == pytest.approx(2 * math.exp(-300), rel=1e-12, abs=0)
    assert ch.Subset(4, 1, 600).beta_star == pytest.approx(4 * math.exp(-600), rel=1e-12, abs=0)
    assert ch.Gaussian(1, 1).delta(200) >= 0
    assert ch.Gaussian(1, 1e-3).delta(10) == pytest.approx(1)


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


def test_every_closed_form_keeps_the_digits_of_a_tiny_risk():
    for mechanism in (
        ch.RandomizedResponse(4, 60.0),
        ch.Geometric(3, 80.0),
        ch.UnaryEncoding(4, 100.0),
        ch.Subset(5, 1, 60.0),
        ch.Exponential.on_a_line(3, 200.0),
    ):
        risk = ch.bayes_risk(mechanism.channel())
        assert 0 < risk < 1e-15
        assert mechanism.bayes_risk == pytest.approx(risk, rel=1e-11, abs=0), mechanism


def test_sizes_are_refused_with_the_size():
    with pytest.raises(TooLargeError, match=r"1e\+06 secrets"):
        ch.RandomizedResponse(10**6, 1).channel()
    with pytest.raises(TooLargeError, match=r"1.27e\+30 outputs"):
        ch.UnaryEncoding(100, 1).channel()
    with pytest.raises(InputError, match="continuous"):
        ch.Laplace().channel()
    assert ch.UnaryEncoding(10**6, 1).beta_star > 0
    assert ch.Subset(10**5, 10**4, 1).beta_star > 0


def test_exponential_mechanism_is_private():
    import numpy as np

    rng = np.random.default_rng(0)
    mechanism = ch.Exponential(rng.normal(size=(6, 9)), 1.5)
    assert mechanism.local_epsilon <= 1.5 + 1e-12
    assert mechanism.beta_star >= ch.from_local_dp(mechanism.local_epsilon).value - 1e-12
    with pytest.raises(InputError, match="finite"):
        ch.Exponential([[0, np.inf], [0, 1]], 1)
