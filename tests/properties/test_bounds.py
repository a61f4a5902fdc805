"""Inequalities of the bounds, and their behaviour at extreme arguments (Hypothesis)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.bounds import (
    THEOREMS,
    PoissonBinomial,
    bounds_on,
    domination,
    exact_match_optimum,
    follow_attempts,
    optimum,
    posterior,
    swap_tail,
    threat,
)
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)

ROUNDING = 1e-12
fractions = st.floats(0, 1)
small = st.floats(0, 5)
deltas = st.sampled_from([0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.5])


@st.composite
def priors(draw, most=5):
    weights = draw(st.lists(st.floats(1e-6, 1), min_size=2, max_size=most))
    return np.array(weights) / np.sum(weights)


@given(st.integers(1, 60), st.data(), fractions, small, small, deltas, deltas, fractions)
def test_the_swap_bound_is_monotone(n, data, p, e, more, d, d2, kappa):
    r = data.draw(st.integers(0, n))
    v = data.draw(st.integers(0, n))
    kwargs = {"guesses": r, "inseparable": kappa}
    here = float(swap_tail(n, p, e, d, v, **kwargs))
    assert 0 <= here <= 1
    assert here <= float(swap_tail(n, p, e + more, d, v, **kwargs)) + ROUNDING
    assert here <= float(swap_tail(n, p, e, max(d, d2), v, **kwargs)) + ROUNDING
    assert here >= float(swap_tail(n, p, e, d, v + 1, **kwargs)) - ROUNDING
    assert here <= float(swap_tail(n, p, e, d, v, guesses=r)) + ROUNDING
    if r < n:
        more_guesses = float(swap_tail(n, p, e, d, v, guesses=r + 1, inseparable=kappa))
        assert here <= more_guesses + ROUNDING


@given(priors(), small, small)
def test_the_exact_match_optimum_is_between_the_prior_and_beta(prior, e, more):
    here = exact_match_optimum(prior, e)[0]
    top = prior.max()
    assert top - ROUNDING <= here <= float(posterior(min(top, 1.0), e)) + ROUNDING
    assert here <= exact_match_optimum(prior, e + more)[0] + ROUNDING


@given(priors(), st.floats(0, 4), st.floats(0, 2))
def test_the_one_target_optimum_is_monotone_in_mu_and_below_the_simpler_bound(prior, mu, more):
    here = optimum(prior, GaussianDP(mu))[0]
    assert prior.max() - ROUNDING <= here <= 1
    assert here <= optimum(prior, GaussianDP(mu + more))[0] + 1e-9
    kappa = float((prior**2).sum())
    danger = threat(prior=float(prior.max()), inseparable=kappa)
    simple = THEOREMS["one-target"].bound(danger, GaussianDP(mu)).value
    assert here <= simple + 1e-5


@given(priors(4), priors(4), st.floats(0, 1), st.floats(0, 3))
def test_the_one_target_optimum_is_convex_in_the_prior(first, second, share, e):
    size = max(first.size, second.size)
    a, b = np.pad(first, (0, size - first.size)), np.pad(second, (0, size - second.size))
    middle = share * a + (1 - share) * b
    middle /= middle.sum()
    ends = share * exact_match_optimum(a, e)[0] + (1 - share) * exact_match_optimum(b, e)[0]
    assert exact_match_optimum(middle, e)[0] <= ends + 1e-9


@given(priors(), st.integers(1, 12), st.data(), small, deltas)
def test_domination_falls_with_the_count_and_rises_with_the_guarantee(prior, n, data, e, d):
    v = data.draw(st.integers(1, n))
    rows = [prior] * n
    here = domination(rows, ApproximateDP(e, d), v).value
    assert 0 <= here <= 1
    assert here >= domination(rows, ApproximateDP(e, d), v + 1).value - ROUNDING
    assert here <= domination(rows, ApproximateDP(e, min(1.0, 2 * d)), v).value + ROUNDING
    # never below the attacker who guesses without the release
    blind = PoissonBinomial(np.full(n, min(1.0, prior.max()))).tail(v)
    assert here >= blind - 1e-9


@given(st.lists(fractions, min_size=1, max_size=8), small, deltas, st.data())
def test_following_the_attempts_is_never_worse_than_corollary_3_4(p, e, d, data):
    v = data.draw(st.integers(1, len(p)))
    ours = follow_attempts([p], e, d, v, least=min(p)).value
    beta = posterior(p, e)
    assert ours <= min(1.0, PoissonBinomial(beta).tail(v) + len(p) * d) + ROUNDING


@given(st.lists(fractions, min_size=0, max_size=40))
def test_tails_fall_and_end_at_one_and_zero(p):
    tails = PoissonBinomial(p).tails()
    assert tails[0] == 1
    assert tails[-1] == 0
    assert (np.diff(tails) <= ROUNDING).all()
    assert tails[1:].sum() == pytest.approx(sum(p), abs=1e-9)


EXTREME = list(
    itertools.product(
        [0.0, 1e-9, 1e-3, 1.0, 30.0, 800.0, 1e4],
        [0.0, 1e-300, 1e-16, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-16, 1.0],
        [0.0, 1e-300, 1e-12, 1e-3, 0.5],
    )
)


@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.0])
def test_extreme_arguments_give_no_nan_and_nothing_below_the_prior(kappa):
    for e, p, d in EXTREME:
        guarantee = ApproximateDP(e, d) if d > 0 else PureDP(e)
        for bound in bounds_on(threat(prior=p, inseparable=kappa), guarantee):
            assert p <= bound.value <= 1, (bound, e, p, d)
        for n, v in [(1, 1), (5, 3), (1000, 1), (1000, 900), (10**6, 10**6)]:
            value = float(swap_tail(n, p, e, d, v, inseparable=kappa))
            assert 0 <= value <= 1
        for bound in bounds_on(threat(prior=p, targets=50), guarantee, 20):
            assert 0 <= bound.value <= 1


@pytest.mark.parametrize(
    "guarantee",
    [
        GaussianDP(0.0),
        GaussianDP(1e-9),
        GaussianDP(1.0),
        GaussianDP(1e3),
        RenyiDP(1.0001, 1e-9),
        RenyiDP(2, 0.0),
        RenyiDP(1e4, 50.0),
        ZeroConcentratedDP(0.0),
        ZeroConcentratedDP(1e-12),
        ZeroConcentratedDP(1e4),
        BayesSecurity(0.0),
        BayesSecurity(1.0),
        PureDP(0.0),
        PureDP(1e4),
        ApproximateDP(1e4, 0.5),
        ApproximateDP(0.0, 1.0),
    ],
)
def test_extreme_guarantees_give_no_nan_and_nothing_below_the_prior(guarantee):
    for p in [0.0, 1e-300, 1e-16, 0.3, 1 - 1e-16, 1.0]:
        for bound in bounds_on(threat(prior=p), guarantee):
            assert p <= bound.value <= 1, bound
    for values in ([0.5, 0.5], [1 - 1e-16, 1e-16], [1.0], [0.25, 0.25, 0.25, 0.25], [1.0, 0.0]):
        danger = threat(values=values, targets=6)
        for bound in bounds_on(danger, guarantee):
            assert max(values) - 1e-9 <= bound.value <= 1, bound
        for bound in bounds_on(danger, guarantee, 4):
            blind = PoissonBinomial(np.full(6, max(values))).tail(4)
            assert bound.value <= 1, bound
            assert not bound.valid or bound.value >= blind - 1e-9, bound


def test_the_closed_form_is_vectorised():
    p = np.array([0.1, 0.5, 0.9])[:, None]
    e = np.array([0.0, 1.0, 3.0, 800.0])[None, :]
    table = swap_tail(50, p, e, 1e-3, 30, inseparable=0.1)
    assert table.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        assert table[i, j] == float(swap_tail(50, p[i, 0], e[0, j], 1e-3, 30, inseparable=0.1))
