"""Binomial tails against mpmath over the whole range of a float, and what is built on them."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import accumulate, product

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from narcissus.bounds import (
    PoissonBinomial,
    binomial,
    swap_tail,
)
from narcissus.bounds.binomial import (
    convolve,
    log_mass,
    lower_tail,
    recurrence,
    tail_over_mass,
    upper_tail,
    waves,
)
from narcissus.errors import InputError

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


def test_a_ratio_at_a_million_trials_is_right_whatever_stands_beside_it():
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
    shares = [sum(math.comb(7, j) for j in range(v + 1)) / 128 for v in range(-1, 8)]
    assert lower_tail(7, np.arange(-1, 8), 0.0) == pytest.approx(shares, rel=1e-14, abs=0)
    ratio = tail_over_mass(50, [[45], [50]], [-1.0, 0.0, 0.1])
    assert ratio[1].tolist() == pytest.approx([1, 1, 1])


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


def test_a_table_of_large_sums_is_that_of_the_binomial_over_all_counts():
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


def whole(first, mass, n):
    """Lay a window out over all counts."""
    found = np.zeros(n + 1)
    found[first : first + mass.size] = mass
    return found


def enumerated(p):
    """The mass by listing every outcome."""
    found = np.zeros(len(p) + 1)
    for outcome in product((0, 1), repeat=len(p)):
        found[sum(outcome)] += np.prod(np.where(outcome, p, 1 - p))
    return found


@pytest.mark.parametrize("weights", [(1,), (5,), (3, 1, 4), (1, 1, 1, 1), (7, 2)])
def test_every_way_is_the_sum_over_all_outcomes(weights):
    rng = np.random.default_rng(len(weights))
    chances = rng.random(len(weights))
    p = np.repeat(chances, weights)
    truth, n = enumerated(p), len(p)
    np.testing.assert_allclose(recurrence(p, 1 - p), truth, rtol=0, atol=1e-15)
    blocks = whole(*convolve(p, 1 - p), n + 64)  # filled up with trials that never succeed
    np.testing.assert_allclose(blocks[: n + 1], truth, rtol=0, atol=1e-15)
    assert not blocks[n + 1 :].any()
    together = waves(chances, 1 - chances, np.array(weights, dtype=float))
    np.testing.assert_allclose(whole(*together, n), truth, rtol=0, atol=3e-15)


@pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0])
def test_many_alike_are_as_one_by_one(scale):
    rng = np.random.default_rng(1)
    for chances in (scale * rng.random(20), 1 - scale * rng.random(20)):
        weights = rng.integers(1, 200, 20)
        p = np.repeat(chances, weights)
        first, mass = waves(chances, 1 - chances, weights.astype(float))
        assert 0 <= first <= first + mass.size - 1 <= p.size
        truth = recurrence(p, 1 - p)
        # the recurrence itself rounds some two thousand times
        np.testing.assert_allclose(whole(first, mass, p.size), truth, rtol=0, atol=1e-13)
        tree = whole(*convolve(p, 1 - p), p.size + 64)[: p.size + 1]
        np.testing.assert_allclose(tree, truth, rtol=0, atol=1e-13)
