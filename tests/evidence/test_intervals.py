"""Confidence limits: against independent formulas, and by seeded coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus import clopper_pearson, mean_limits
from narcissus.errors import InputError
from narcissus.evidence import bernstein_limits


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_against_scipy(counts):
    successes, trials = counts
    ours = clopper_pearson(successes, trials, confidence=0.9)
    theirs = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
    assert ours.low == pytest.approx(theirs.low, abs=1e-9)
    assert ours.high == pytest.approx(theirs.high, abs=1e-9)


def coverage_floor(level: float, repeats: int, false_alarm: float = 1e-6) -> int:
    """Fewest hits that a method of true coverage `level` shows, but for `false_alarm`."""
    return int(stats.binom.ppf(false_alarm, repeats, level))


@pytest.mark.states("Waudby-Smith and Ramdas 2023", "Theorem 3")
@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    "draw",
    [
        lambda g, n: g.binomial(100, 0.6, n) / 100,
        lambda g, n: g.random(n) < 0.03,
        lambda g, n: g.beta(0.2, 0.1, n),
    ],
    ids=["shares of 100", "rare successes", "two-humped"],
)
@pytest.mark.parametrize("n", [5, 120])
def test_mean_limits_cover(draw, n):
    """5,000 repeats at 95%; false alarm 1e-6 each."""
    truth = float(np.mean(draw(np.random.default_rng(1), 4_000_000)))
    rng = np.random.default_rng(20261121)
    hits = 0
    for _ in range(5000):
        limits = mean_limits(draw(rng, n).astype(float))
        hits += limits.low <= truth <= limits.high
    assert hits >= coverage_floor(0.95, 5000)


def test_mean_limits_are_near_the_normal_ones():
    values = np.random.default_rng(3).binomial(100, 0.6, 400) / 100
    limits = mean_limits(values)
    normal = 1.96 * values.std(ddof=1) / 20
    assert normal < (limits.high - limits.low) / 2 < 2.2 * normal


@pytest.mark.parametrize("bad", [[], [1.2], [[0.5]], [np.nan]])
def test_mean_limits_refuse(bad):
    with pytest.raises(InputError):
        mean_limits(bad)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_mean_limits_hold_the_mean(values):
    limits = mean_limits(values)
    assert 0 <= limits.low <= limits.high <= 1


@pytest.mark.parametrize("values", [[0.0] * 60 + [1.0] * 60, [1.0] * 60 + [0.0] * 60])
def test_a_drifting_run_keeps_its_mean(values):
    limits = mean_limits(values)
    assert limits.low <= limits.value <= limits.high


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_limits_mirror(values):
    ours, mirrored = mean_limits(values), mean_limits([1 - v for v in values])
    assert ours.low == pytest.approx(1 - mirrored.high, abs=1e-9)
    assert ours.high == pytest.approx(1 - mirrored.low, abs=1e-9)


@pytest.mark.states("Maurer and Pontil 2009", "Theorem 4")
@pytest.mark.coverage_claim
def test_bernstein_limits_cover():
    """2,000 repeats of 3,000 values at 95%; false alarm 1e-6."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(2000):
        values = rng.beta(0.3, 0.7, 3000)
        limits = bernstein_limits(values.sum(), (values**2).sum(), values.size)
        hits += limits.low <= 0.3 <= limits.high
    assert hits >= coverage_floor(0.95, 2000)


@pytest.mark.states("Maurer and Pontil 2009", "Theorem 4")
def test_bernstein_limits_follow_the_theorem():
    """Maurer and Pontil 2009, Theorem 4, at half of alpha a side, from the values themselves."""
    values = np.random.default_rng(5).random(500)
    log = np.log(2 / 0.025)
    reach = np.sqrt(2 * values.var(ddof=1) * log / 500) + 7 * log / (3 * 499)
    limits = bernstein_limits(values.sum(), (values**2).sum(), 500)
    assert limits.low == pytest.approx(values.mean() - reach, abs=1e-12)
    assert limits.high == pytest.approx(values.mean() + reach, abs=1e-12)
