"""What every closed form must do: agree with its matrix, keep its digits, refuse too large ones."""

import math

import mpmath
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError, TooLargeError

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
    assert ch.KaryRandomizedResponse(10, 700).beta_star == pytest.approx(
        10 * math.exp(-700), rel=1e-12, abs=0
    )
    assert ch.KaryRandomizedResponse(10, 5_000).beta_star == 0
    assert ch.Gaussian(50, 1).beta_star == pytest.approx(
        float(mpmath.erfc(25 / mpmath.sqrt(2))), rel=1e-12, abs=0
    )
    assert ch.UnaryEncoding(3, 600).beta_star == pytest.approx(2 * math.exp(-300), rel=1e-12, abs=0)
    assert ch.Subset(4, 1, 600).beta_star == pytest.approx(4 * math.exp(-600), rel=1e-12, abs=0)
    assert ch.Gaussian(1, 1).delta(200) >= 0
    assert ch.Gaussian(1, 1e-3).delta(10) == pytest.approx(1)


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
    with pytest.raises(TooLargeError, match=r"1e\+06 secrets"):
        ch.KaryRandomizedResponse(10**6, 1).channel()
    with pytest.raises(TooLargeError, match=r"1.27e\+30 outputs"):
        ch.UnaryEncoding(100, 1).channel()
    with pytest.raises(InputError, match="continuous"):
        ch.Laplace().channel()
    assert ch.UnaryEncoding(10**6, 1).beta_star > 0
    assert ch.Subset(10**5, 10**4, 1).beta_star > 0
