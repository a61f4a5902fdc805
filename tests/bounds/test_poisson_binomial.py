"""Tails against exact arithmetic for small sums and the binomial for large ones."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import accumulate

import numpy as np
import pytest
from scipy import special, stats

from narcissus.bounds import PoissonBinomial, binomial
from narcissus.bounds.binomial import convolve
from narcissus.errors import InputError

SHOWN = 1e-290  # below this a float no longer has all its digits


def exact_mass(probabilities: np.ndarray) -> list[Decimal]:
    """The mass by the plain recurrence in 50 digits."""
    with localcontext(prec=50):
        mass = [Decimal(1)]
        for p in map(Decimal, map(float, probabilities)):
            q = 1 - p
            hit, missed = [m * p for m in mass], [m * q for m in mass]
            mass = [a + b for a, b in zip([0, *hit], [*missed, 0], strict=True)]
        return mass


def exact_tails(mass: list[Decimal]) -> list[float]:
    """The chance of at least so many, for every count and one more."""
    with localcontext(prec=50):
        return [0.0, *map(float, accumulate(reversed(mass)))][::-1]


def exact_cdf(mass: list[Decimal]) -> list[float]:
    """The chance of at most so many."""
    with localcontext(prec=50):
        return list(map(float, accumulate(mass)))


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
    upper, lower = exact_tails(mass), exact_cdf(mass)
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


def test_many_trials_with_certain_and_impossible_ones_among_them():
    rng = np.random.default_rng(11)
    inner = np.concatenate([rng.random(400), rng.random(150) * 1e-6])
    p = rng.permutation(np.concatenate([inner, np.ones(30), np.zeros(70)]))
    mass = [float(m) for m in exact_mass(inner)]
    distribution = PoissonBinomial(p)
    assert distribution.n == 650
    assert distribution.mean == pytest.approx(math.fsum(inner) + 30)
    table, own = distribution.tails(), distribution.pmf()
    assert (table.shape, own.shape) == ((652,), (651,))
    for v in [*range(0, 60, 7), *range(200, 320, 9), *range(320, 651, 30), 31, 579, 580, 581]:
        upper = math.fsum(mass[max(v - 30, 0) :])  # none are left beyond 580
        lower = math.fsum(mass[: max(v - 29, 0)])
        here = mass[v - 30] if 30 <= v <= 580 else 0.0
        for found, truth in [
            (table[v], upper),
            (distribution.tail(v), upper),
            (distribution.tail(v - 0.5), upper),
            (distribution.sf(v - 1), upper),
            (distribution.sf(v - 0.5), upper),
            (distribution.cdf(v), lower),
            (distribution.cdf(v + 0.5), lower),
            (own[v], here),
        ]:
            if truth > SHOWN or truth == 0:
                assert found == pytest.approx(truth, rel=1e-11, abs=0)
            else:
                assert found <= 2 * SHOWN
    for confidence in (1e-9, 0.3, 0.5, 1 - 1e-9):
        found = distribution.quantile(confidence)
        assert distribution.cdf(found) >= confidence > distribution.cdf(found - 1)
    assert distribution.quantile(0.0) == 30


@pytest.mark.parametrize("n", [600, 5000, 40_000])
def test_the_tilted_trials_have_the_wanted_mean_and_a_window_that_carries_all(n):
    rng = np.random.default_rng(12)
    p = np.sort(rng.beta(0.5, 2, n))
    log_p, log_q = np.log(p), np.log1p(-p)
    for v in (1, n // 50, n // 4, n - 3):
        theta = binomial._tilt(binomial._Trials(log_p, log_q), float(v))
        tilted = special.expit(log_p - log_q + theta)
        assert tilted.sum() == pytest.approx(v, rel=2e-9)
        first, mass = convolve(tilted, 1 - tilted)
        counts = first + np.arange(mass.size)
        mean, variance = tilted.sum(), (tilted * (1 - tilted)).sum()
        assert mass.sum() == pytest.approx(1, abs=1e-12)
        assert mass @ counts == pytest.approx(mean, rel=1e-11)
        assert mass @ (counts - mean) ** 2 == pytest.approx(variance, rel=1e-9)
        # no wider than what Bernstein's inequality asks for at each joining, and so quick
        assert mass.size <= 4 * (35 + math.sqrt(310 + 104 * variance)) + 2 * 32 + 10


def test_a_table_of_large_sums_is_that_of_the_binomial_over_all_counts():
    """Stretch by stretch, down to the smallest float on both sides."""
    for n, rate in ((2000, 0.3), (3000, 0.97)):
        distribution, counts = PoissonBinomial(np.full(n, rate)), np.arange(n + 1)
        log_odds = math.log(rate) - math.log1p(-rate)
        own, truth = distribution.pmf(), binomial.mass(n, counts, log_odds)
        shown = truth > SHOWN
        # a stretch is trusted down to a ten-thousandth of its largest, with four digits less
        assert own[shown] == pytest.approx(truth[shown], rel=1e-10, abs=0)
        assert (own[~shown] <= 2 * SHOWN).all()
        upper = binomial.upper_tail(n, counts, log_odds)
        seen = upper > SHOWN
        assert distribution.tails()[:-1][seen] == pytest.approx(upper[seen], rel=1e-10, abs=0)


def test_all_and_none_keep_their_digits():
    p = np.full(700, 0.6)
    assert PoissonBinomial(p).tail(700) == pytest.approx(0.6**700, rel=1e-11, abs=0)
    assert PoissonBinomial(p).cdf(0) == pytest.approx(0.4**700, rel=1e-11, abs=0)
    assert PoissonBinomial(p).tail(701) == 0
    assert PoissonBinomial(p).cdf(-1) == 0
    assert PoissonBinomial(p).cdf(700) == 1
    assert PoissonBinomial(p).tail(0) == 1
    # below the smallest float nothing is left, and nothing overflows
    tiny = PoissonBinomial(np.full(1000, 1e-5))
    assert tiny.tail(1000) == tiny.tail(500) == 0
    assert tiny.tail(999) == 0
    assert PoissonBinomial(1 - np.full(1000, 1e-5)).cdf(3) == 0


@pytest.mark.parametrize("kind", ["uniform", "small", "two scales", "extreme"])
@pytest.mark.parametrize("n", [530, 700])
def test_trials_that_share_few_chances_are_taken_together(monkeypatch, kind, n):
    """As accurate as one by one, over all counts and in both tails."""
    monkeypatch.setattr(binomial, "_MANY", 512)
    p = np.random.default_rng(5).choice(draw(kind, 30), n)
    mass = exact_mass(p)
    distribution = PoissonBinomial(p)
    assert distribution._trials.weights is not None
    assert distribution._trials.n == n
    table, own = distribution.tails(), distribution.pmf()
    assert (table.shape, own.shape) == ((n + 2,), (n + 1,))
    upper, lower = exact_tails(mass), [*exact_cdf(mass), 1.0]
    for v in range(n + 2):
        if upper[v] > SHOWN or upper[v] == 0:
            assert table[v] == pytest.approx(upper[v], rel=1e-10, abs=0)
        if v % 13 == 0:
            if upper[v] > SHOWN:
                assert distribution.tail(v) == pytest.approx(upper[v], rel=1e-10, abs=0)
            if lower[v] > SHOWN:
                assert distribution.cdf(v) == pytest.approx(lower[v], rel=1e-10, abs=0)


@pytest.mark.parametrize("many", [512, 10**9])
def test_tails_that_may_be_a_little_too_large_are_never_too_small(monkeypatch, many):
    monkeypatch.setattr(binomial, "_MANY", many)
    p = np.random.default_rng(6).choice(np.linspace(0.01, 0.6, 40), 4000)
    distribution = PoissonBinomial(p)
    assert (distribution._trials.weights is not None) == (many == 512)
    whole = distribution.tails()
    for least in (1e-3, 1e-17):
        quick = PoissonBinomial(p).tails(least)
        assert (quick >= whole * (1 - 1e-11)).all()
        assert (quick <= whole * (1 + 1e-11) + 1.001 * least).all()
        assert quick[-1] == 0
    few = PoissonBinomial(p[:500])
    np.testing.assert_array_equal(few.tails(1e-3), few.tails())


def test_a_million_trials_of_one_kind_are_a_binomial():
    n, rate = 10**6, 0.3
    tails = PoissonBinomial(np.full(n, rate)).tails(1e-17)
    counts = np.arange(298_000, 302_001)
    truth = stats.binom.sf(counts - 1, n, rate)
    assert tails[counts] == pytest.approx(truth, rel=1e-9, abs=2e-17)
