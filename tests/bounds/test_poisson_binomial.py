"""Tails against exact arithmetic for small sums and the binomial for large ones."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from narcissus.bounds import PoissonBinomial
from narcissus.errors import InputError

SHOWN = 1e-290  # below this a float no longer has all its digits


def exact_mass(probabilities: np.ndarray) -> list[mpmath.mpf]:
    """The mass by the plain recurrence in 50 digits."""
    with mpmath.workdps(50):
        mass = [mpmath.mpf(1)]
        for p in map(mpmath.mpf, map(float, probabilities)):
            longer = [mpmath.mpf(0)] * (len(mass) + 1)
            for i, m in enumerate(mass):
                longer[i] += m * (1 - p)
                longer[i + 1] += m * p
            mass = longer
        return mass


def draw(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    if kind == "uniform":
        return rng.random(n)
    if kind == "small":
        return rng.random(n) * 1e-3
    if kind == "two scales":
        return np.where(rng.random(n) < 0.5, 1e-10 * rng.random(n), rng.random(n))
    return np.where(
        rng.random(n) < 0.2, 10.0 ** rng.uniform(-300, -1, n), 1 - 10.0 ** rng.uniform(-15, -1, n)
    )


@pytest.mark.states("Narcissus theory", "4.9")
@pytest.mark.parametrize("kind", ["uniform", "small", "two scales", "extreme"])
@pytest.mark.parametrize("n", [1, 40, 530])
def test_every_tail_is_relatively_accurate(kind, n):
    p = draw(kind, n)
    mass = exact_mass(p)
    distribution = PoissonBinomial(p)
    upper = [float(mpmath.fsum(mass[v:])) for v in range(n + 2)]
    lower = [float(mpmath.fsum(mass[: v + 1])) for v in range(n + 1)]
    table = distribution.tails()
    assert table.shape == (n + 2,)
    for v in range(n + 2):
        if upper[v] > SHOWN or upper[v] == 0:
            assert table[v] == pytest.approx(upper[v], rel=1e-11, abs=0)
    for v in range(0, n + 1, 1 + n // 50):
        if upper[v] > SHOWN:
            assert distribution.tail(v) == pytest.approx(upper[v], rel=1e-11, abs=0)
        if lower[v] > SHOWN:
            assert distribution.cdf(v) == pytest.approx(lower[v], rel=1e-11, abs=0)
        assert distribution.sf(v) == distribution.tail(v + 1)
        assert distribution.pmf()[v] == pytest.approx(float(mass[v]), rel=1e-11, abs=1e-290)


@pytest.mark.states("Narcissus theory", "4.9")
@pytest.mark.parametrize("n", [10**4, 10**5])
@pytest.mark.parametrize("deviations", [-20, -2, 0, 3, 12, 30])
def test_equal_probabilities_give_the_binomial(n, deviations):
    v = round(0.3 * n + deviations * np.sqrt(0.21 * n))
    distribution = PoissonBinomial(np.full(n, 0.3))
    assert distribution.tail(v) == pytest.approx(stats.binom.sf(v - 1, n, 0.3), rel=3e-11, abs=0)
    assert distribution.cdf(v) == pytest.approx(stats.binom.cdf(v, n, 0.3), rel=3e-11, abs=0)


def test_certain_and_impossible_trials_shift_the_count():
    distribution = PoissonBinomial([1.0, 1.0, 0.0, 0.5])
    assert distribution.tails().tolist() == [1, 1, 1, 0.5, 0, 0]
    assert distribution.pmf().tolist() == [0, 0, 0.5, 0.5, 0]
    assert distribution.cdf(1) == 0
    assert distribution.cdf(2.5) == 0.5
    assert distribution.tail(2.5) == 0.5
    assert PoissonBinomial([]).tails().tolist() == [1, 0]


def test_the_quantile_is_the_smallest_count_not_exceeded():
    rng = np.random.default_rng(3)
    for n in (30, 900):
        distribution = PoissonBinomial(rng.random(n))
        for confidence in (0.0, 0.05, 0.5, 0.95, 1 - 1e-12):
            found = distribution.quantile(confidence)
            assert distribution.sf(found) <= 1 - confidence
            assert found == 0 or distribution.sf(found - 1) > 1 - confidence


@pytest.mark.parametrize("bad", [[0.5, 1.5], [[0.5]], [float("nan")], ["x"]])
def test_bad_probabilities_are_refused(bad):
    with pytest.raises(InputError, match="probabilities"):
        PoissonBinomial(bad)


def test_a_million_trials_of_two_kinds():
    # Two binomials: their convolution is summed directly where it matters.
    n, v = 10**6, 265_000
    p = np.where(np.arange(n) < n // 2, 0.2, 0.3)
    distribution = PoissonBinomial(p)
    x = np.arange(n // 2 + 1)
    first = stats.binom.pmf(x, n // 2, 0.2)
    second = stats.binom.sf(v - x - 1, n // 2, 0.3)
    truth = float(first @ second)
    assert 0 < truth < 1e-100
    assert distribution.tail(v) == pytest.approx(truth, rel=1e-9, abs=0)
