"""Two candidates: the laws of the attacks against listing, and values computed apart."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import TooLargeError
from narcissus.profiles.closed_forms.candidates import bayes_success, candidates_success


def listed(n, d):
    """Success of the raw and the centred inner product of d columns, by convolving them."""
    one = defaultdict(float)
    for first, second, c in itertools.product((0, 1), (0, 1), range(n + 1)):
        others = c - first
        if not 0 <= others <= n - 1:
            continue
        ones = first + second + others
        beta = math.factorial(ones) * math.factorial(n + 1 - ones) / math.factorial(n + 2)
        chance = math.comb(n - 1, others) * beta
        one[(first - second) * c, (first - second) * (2 * c - n)] += chance
    law = {(0, 0): 1.0}
    for _ in range(d):
        grown = defaultdict(float)
        for (a, b), p in law.items():
            for (x, y), q in one.items():
                grown[a + x, b + y] += p * q
        law = grown
    return [sum(p * (1 + np.sign(key[place])) / 2 for key, p in law.items()) for place in range(2)]


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 4), (3, 5), (4, 4)])
def test_inner_products_without_noise_by_listing(n, d):
    raw, centred = listed(n, d)
    assert candidates_success(n, d, math.inf) == pytest.approx(raw, abs=1e-12)
    assert candidates_success(n, d, math.inf, "centred") == pytest.approx(centred, abs=1e-12)


def test_the_best_attacker_without_noise_by_convolution():
    """Three rows: the ratios are steps of log(4 / 3), so many columns can be convolved."""
    d = 60
    # sums 1 and 2 where the candidates differ: 3/60 and 4/60 where the first is in; sum 3 decides
    column = np.array([2 * 3 / 60, 2 / 3, 2 * 4 / 60])
    law = np.array([1.0])
    for _ in range(d):
        law = np.convolve(law, column)
    wrong = law[:d].sum() + law[d] / 2
    assert wrong > 1e-5
    assert bayes_success(3, d, math.inf) == pytest.approx(1 - wrong, abs=2e-8)


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [(20, 5000, (0.872381, 0.914711, 0.943246)), (100, 1000, (0.563958, 0.634016, 0.637949))],
)
def test_values_of_the_theory_with_noise(n, d, expected):
    found = (
        candidates_success(n, d, 0.1),
        candidates_success(n, d, 0.1, "centred"),
        bayes_success(n, d, 0.1),
    )
    assert found == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        (1000, (0.566025, 0.656910, 0.747415)),
        (5000, (0.645057, 0.816972, 0.951462)),
        (10_000, (0.700605, 0.899439, 0.992239)),
    ],
)
def test_values_of_the_theory_without_noise(d, expected):
    found = (
        candidates_success(100, d, math.inf),
        candidates_success(100, d, math.inf, "centred"),
        bayes_success(100, d, math.inf),
    )
    assert found == pytest.approx(expected, abs=6e-7)


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(("n", "d", "epsilon"), [(20, 5000, 0.1), (100, 10_000, math.inf)])
def test_laws_are_nearly_normal(n, d, epsilon):
    """``Phi(sqrt(d) / 6 / sqrt(E X^2 - 1 / 36))`` of the theory, whose moments are listed here."""
    noise = 0.0 if math.isinf(epsilon) else 2 / (3 * epsilon**2)
    c = np.arange(1, n + 1)
    weight = c * (n + 1 - c) / (n * (n + 1) * (n + 2))
    moments = {"centred": (n**2 + 2 * n + 2) / 60, "raw": (3 * n**2 + n + 1) / 30}
    exact = {
        "centred": 2 * (weight * (c - n / 2) ** 2).sum(),
        "raw": (weight * (c**2 + (n - c) ** 2)).sum(),
    }
    for attack, square in moments.items():
        assert square == pytest.approx(exact[attack], rel=1e-12)
        normal = stats.norm.cdf(math.sqrt(d) / 6 / math.sqrt(exact[attack] + noise - 1 / 36))
        assert candidates_success(n, d, epsilon, attack) == pytest.approx(normal, abs=2e-3)


@pytest.mark.parametrize(("d", "step"), [(1000, 1e-4), (5000, 1e-4)])
def test_the_best_attacker_of_exact_averages_on_a_grid_of_ratios(d, step):
    n = 100
    c = np.arange(1, n)
    weight = 2 * c * (n + 1 - c) / (n * (n + 1) * (n + 2))
    place = np.log(c * (n + 1 - c) / ((c + 1) * (n - c))) / step
    low = np.floor(place).astype(int)
    law = np.zeros(1 << 21)
    np.add.at(law, low % law.size, weight * (1 - place + low))
    np.add.at(law, (low + 1) % law.size, weight * (place - low))
    law[0] += 2 / 3
    total = np.fft.irfft(np.fft.rfft(law) ** d, law.size)
    success = 1 - total[law.size // 2 :].sum() - total[0] / 2
    assert bayes_success(n, d, math.inf) == pytest.approx(success, abs=1e-6)


def test_few_columns_with_noise_by_sampling_and_what_is_too_long():
    rng = np.random.default_rng(8)
    n, d, epsilon, size = 4, 6, 1.0, 200_000
    p = rng.random((size, d))
    first, second = rng.random((size, d)) < p, rng.random((size, d)) < p
    y = first + rng.binomial(n - 1, p) + rng.laplace(scale=1 / epsilon, size=(size, d))
    for attack, middle in (("raw", 0.0), ("centred", n / 2)):
        score = ((first.astype(float) - second) * (y - middle)).sum(axis=1)
        won = float((score > 0).mean() + (score == 0).mean() / 2)
        assert candidates_success(n, d, epsilon, attack) == pytest.approx(won, abs=5e-3)
    with pytest.raises(TooLargeError, match="more attributes"):
        bayes_success(2, 2, math.inf)
