"""Binomial tails against mpmath over the whole range of a float, and what is built on them."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from narcissus.bounds import (
    THEOREMS,
    domination,
    one_run_p_value,
    swap_tail,
    threat,
)
from narcissus.bounds.binomial import log_mass, lower_tail, mass, tail_over_mass, upper_tail
from narcissus.guarantees import PureDP

DIGITS = 1e-11  # relative; ten thousand trials have no more than this in their log odds


def exact(r: int, v: int, log_odds: float) -> tuple[mp.mpf, mp.mpf]:
    """Tail and mass of the binomial in 40 digits, from the sum of its terms."""
    with mp.workdps(40):
        odds = mp.exp(mp.mpf(float(log_odds)))
        mass = mp.binomial(r, v) * odds**v / (1 + odds) ** r
        term, total = mass, mp.mpf(0)
        for j in range(v, r + 1):
            total += term
            term *= odds * (r - j) / (j + 1)
            if j > v and j * (1 + odds) > r * odds and term < total * mp.mpf(10) ** -36:
                break
        return total, mass


def exact_swap(
    n: int, p: float, e: float, d: float, v: int, *, guesses: int, inseparable: float
) -> mp.mpf:
    """The swap bound of theory 4.3 in 40 digits, from the same floats."""
    with mp.workdps(40):
        odds = mp.log(mp.mpf(p) / (1 - mp.mpf(p))) + mp.mpf(e)
        term = mp.exp(odds)
        mass = mp.binomial(guesses, v) * term**v / (1 + term) ** guesses
        tail, t = mp.mpf(0), mass
        for j in range(v, guesses + 1):
            tail += t
            t *= term * (guesses - j) / (j + 1)
        c = (1 - mp.mpf(inseparable)) / (1 - mp.mpf(p))
        whole = c * n * mp.mpf(d) / v * tail / mass
        return tail + whole * (1 - tail) if whole <= 1 else mp.mpf(1)


def counts(rng: np.random.Generator, most: float) -> tuple[int, int, float]:
    r = int(10 ** rng.uniform(0, most))
    v = int(rng.integers(1, r + 1))
    return r, v, float(rng.choice([3 * rng.normal(), -(10 ** rng.uniform(-2, 2.5))]))


def test_tails_and_masses_keep_their_digits_down_to_1e_300():
    rng = np.random.default_rng(1)
    reached = []
    for _ in range(1500):
        r, v, log_odds = counts(rng, 3.7)
        tail, mass = exact(r, v, log_odds)
        if mass > 1e-305:
            assert float(log_mass(r, v, log_odds)) == pytest.approx(float(mp.log(mass)), abs=DIGITS)
        if tail > 1e-305:
            reached.append(float(mp.log10(tail)))
            assert float(upper_tail(r, v, log_odds)) == pytest.approx(
                float(tail), rel=DIGITS, abs=0
            )
        if tail < 1e-10:  # far above the mean, however small
            ratio = float(tail_over_mass(r, v, log_odds))
            assert ratio == pytest.approx(float(tail / mass), rel=DIGITS, abs=0)
    # every stretch of exponents was met, those where the incomplete beta function fails included
    assert np.histogram(reached, bins=np.arange(-305, 1, 20))[0].min() >= 5


@pytest.mark.parametrize("r", [16, 20, 32, 33, 40, 200, 3000])
def test_masses_near_the_peak_are_right_to_the_last_digit(r):
    """Where no log is large: Stirling's series has errors of a unit in the last place."""
    for v in {r // 2, r // 2 + 1, r // 3, 16, r - 16} - {0, r}:
        for off in (-0.2, 0.0, 0.1):
            log_odds = math.log(v / (r - v)) + off
            with mp.workdps(40):
                odds = mp.exp(mp.mpf(log_odds))
                truth = mp.log(mp.binomial(r, v)) + v * mp.mpf(log_odds) - r * mp.log(1 + odds)
            # below 16 the logs of factorials themselves have an error of 1e-14
            last = 5e-15 if min(v, r - v) >= 16 else 2e-14
            found = float(log_mass(r, v, log_odds))
            assert found == pytest.approx(float(truth), abs=last * (1 + r * off**2 + r / 1000))


def test_a_mass_is_the_exponential_of_its_log():
    assert mass(5, [0, 2, 5], 0.0) == pytest.approx([1 / 32, 10 / 32, 1 / 32], rel=1e-14)
    assert mass(5, 5, -1e4) == 0


def test_counts_and_odds_broadcast():
    found = upper_tail(6, [[1], [3]], np.array([-np.inf, -1.0, 0.0, 30.0]))
    assert found.shape == (2, 4)
    for i, v in enumerate((1, 3)):
        for j, odds in enumerate((-np.inf, -1.0, 0.0, 30.0)):
            assert found[i, j] == upper_tail(6, v, odds)
    assert log_mass(6, [[1], [6]], [0.0, 1.0]).shape == (2, 2)
    ratio = tail_over_mass(50, [[45], [50]], [-1.0, 0.0, 0.1])
    assert ratio.shape == (2, 3)
    assert ratio[1].tolist() == pytest.approx([1, 1, 1])


def test_a_ratio_at_a_million_trials_is_right_whatever_stands_beside_it():
    """Each element stops by itself: together they took all steps, and lost digits to them."""
    rng = np.random.default_rng(0)
    counts, log_odds = 600_000 + rng.integers(0, 1000, 60), rng.uniform(0.2, 0.34, 60)
    found = tail_over_mass(10**6, counts, log_odds)
    for v, odds, ratio in zip(counts.tolist(), log_odds.tolist(), found.tolist(), strict=True):
        with mp.workdps(30):
            term, truth, more = mp.mpf(1), mp.mpf(0), 0
            while term > mp.mpf(10) ** -22:
                truth += term
                term *= mp.exp(mp.mpf(odds)) * (10**6 - v - more) / (v + more + 1)
                more += 1
        assert ratio == pytest.approx(float(truth), rel=4e-14, abs=0)
    assert tail_over_mass(10**6, np.empty(0), np.empty(0)).shape == (0,)


# Where SciPy 1.17's incomplete beta function is off by a tenth to a factor of three.
WRONG_IN_SCIPY = [
    (230, 205, -3.6079821607542515),
    (222, 187, -3.965186344735095),
    (254, 240, -3.0448323505900783),
    (2083, 2045, 0.9007413631558094),
    (2165, 2128, 0.9446301724454909),
]


@pytest.mark.parametrize(("r", "v", "log_odds"), WRONG_IN_SCIPY)
def test_tails_where_the_incomplete_beta_function_is_wrong(r, v, log_odds):
    tail = float(exact(r, v, log_odds)[0])
    assert 1e-305 < tail < 1e-240
    assert float(upper_tail(r, v, log_odds)) == pytest.approx(tail, rel=DIGITS, abs=0)


def test_the_ends_of_the_range():
    assert upper_tail(5, [0, 6, 1, 5], 0.0).tolist() == [1, 0, 31 / 32, 1 / 32]
    assert float(upper_tail(5, 5, np.inf)) == 1
    assert float(upper_tail(5, 1, -np.inf)) == 0
    assert float(upper_tail(5, 5, 800.0)) == 1
    assert float(upper_tail(5, 1, -1e5)) == 0
    assert log_mass(4, [0, 4, 2], -np.inf).tolist() == [0, -np.inf, -np.inf]
    assert log_mass(4, [0, 4, 2], np.inf).tolist() == [-np.inf, 0, -np.inf]
    for v in range(8):
        assert math.exp(float(log_mass(7, v, 0.0))) == pytest.approx(math.comb(7, v) / 128)


def test_no_trials_and_all_lower_tails():
    assert upper_tail(0, [0, 1], 0.0).tolist() == [1, 0]
    assert lower_tail(0, [-1, 0], 0.0).tolist() == [0, 1]
    for v in range(-1, 8):
        share = sum(math.comb(7, j) for j in range(v + 1)) / 128
        assert float(lower_tail(7, v, 0.0)) == pytest.approx(share, rel=1e-14, abs=0)


def test_the_swap_bound_where_the_incomplete_beta_function_failed():
    value = float(swap_tail(1000, 0.1, 1.3, 0.001, 592, guesses=620, inseparable=0.1))
    assert value == pytest.approx(0.00172232, abs=5e-9)


def test_the_swap_bound_is_right_over_the_whole_range():
    rng = np.random.default_rng(2)
    informative = 0
    for _ in range(800):
        n = int(10 ** rng.uniform(0.3, 3.2))
        r = int(rng.integers(1, n + 1))
        v = int(rng.integers(1, r + 1))
        p = float(rng.choice([rng.uniform(0.01, 0.9), 10 ** rng.uniform(-6, -1)]))
        e, d = float(rng.uniform(0, 4)), float(10 ** rng.uniform(-300, -1))
        kappa = float(rng.choice([0.0, 0.1]))
        ours = float(swap_tail(n, p, e, d, v, guesses=r, inseparable=kappa))
        truth = exact_swap(n, p, e, d, v, guesses=r, inseparable=kappa)
        informative += 1e-300 < truth < 1e-100
        if truth > 1e-300:
            assert ours == pytest.approx(float(truth), rel=DIGITS, abs=0), (n, p, e, d, v, r, kappa)
        else:
            assert ours <= 1e-300
    assert informative > 50


@pytest.mark.parametrize(
    ("n", "p", "d", "v", "guesses"),
    [
        (1000, 0.1, 0.001, 592, 620),
        (500, 0.5, 1e-12, 495, 500),
        (5000, 0.01, 1e-5, 400, 3000),
        (200, 1e-3, 1e-250, 150, 200),
        (1000, 0.1, 0.0, 592, 620),
    ],
)
def test_the_swap_bound_rises_with_epsilon_without_a_dent(n, p, d, v, guesses):
    values = swap_tail(n, p, np.linspace(0, 6, 4001), d, v, guesses=guesses, inseparable=0.01)
    assert (np.diff(values) >= -DIGITS * values[1:]).all()


def test_the_other_binomial_tails_share_the_repair():
    r, v, log_odds = WRONG_IN_SCIPY[1]
    p = float(special.expit(log_odds))
    tail = float(exact(r, v, float(special.logit(p)))[0])
    theorem_3_2 = THEOREMS["swanberg-3.2"].bound(threat(prior=p, targets=r), PureDP(0.0), v)
    assert theorem_3_2.value == pytest.approx(tail, rel=DIGITS, abs=0)
    values = [p] * int(1 / p) + [1 - p * int(1 / p)]
    assert domination([values] * r, PureDP(0.0), v).value == pytest.approx(tail, rel=DIGITS, abs=0)
    r, v, epsilon = WRONG_IN_SCIPY[4]
    tail = float(exact(r, v, epsilon)[0])
    assert one_run_p_value(r, r, v, epsilon) == pytest.approx(tail, rel=DIGITS, abs=0)
