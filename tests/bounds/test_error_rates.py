"""Error rates and precision: closed forms, explicit tests of explicit pairs, and peers' numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from narcissus.bounds import precision, true_positive_rate
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_asked,
    from_losses,
)

EVERY = [
    PureDP(0.8),
    ApproximateDP(0.8, 1e-3),
    GaussianDP(0.7),
    ZeroConcentratedDP(0.2),
    RenyiDP(4.0, 0.4),
    BayesSecurity(0.8),
    ProfileCurve((0.0, 0.5, 2.0), (0.2, 0.05, 1e-4)),
]


@pytest.mark.states("Dong, Roth and Su 2022", "Definition 2.3")
@given(st.floats(1e-3, 4), st.floats(1e-12, 1, exclude_max=True))
def test_of_a_gaussian_it_is_the_closed_form_rounded_outwards(mu, rate):
    truth = float(special.ndtr(special.ndtri(rate) + mu))
    found = true_positive_rate(GaussianDP(mu), rate).value
    assert truth <= found <= min(1.0, truth * (1 + 1e-11))


@pytest.mark.parametrize("known", EVERY)
def test_rates_lie_between_a_coin_and_certainty_and_rise(known):
    rates = [0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0]
    found = [true_positive_rate(known, rate).value for rate in rates]
    assert all(rate <= value <= 1 for rate, value in zip(rates, found, strict=True))
    assert found == sorted(found)
    sure = [precision(known, recall, 0.2).value for recall in (1e-6, 0.01, 0.3, 0.9)]
    assert sure == sorted(sure, reverse=True)
    assert all(0.2 <= value <= 1 for value in sure)
    assert precision(known, 0.3, 0.1).value < precision(known, 0.3, 0.4).value


@pytest.mark.states("Dong, Roth and Su 2022", "Definition 2.3")
@pytest.mark.states("Narcissus theory", "4.8")
@pytest.mark.parametrize("pair", [([0.9, 0.1], [0.5, 0.5]), ([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])])
@pytest.mark.parametrize("base_rate", [0.01, 0.5])
def test_no_test_of_a_pair_does_better_and_one_does_as_well(pair, base_rate):
    """All tests in both orders, and mixtures of two of them: every rate and every precision."""
    p, q = map(np.array, pair)
    epsilons = np.linspace(0, 3, 3001)
    sticks = [
        np.maximum(a[:, None] - np.exp(epsilons) * b[:, None], 0).sum(axis=0)
        for a, b in ((p, q), (q, p))
    ]
    known = ProfileCurve(tuple(epsilons.tolist()), tuple(np.maximum(*sticks).tolist()))
    tests = np.array(list(itertools.product((0.0, 1.0), repeat=p.size)))
    points = np.concatenate([np.stack([tests @ b, tests @ a], axis=1) for a, b in ((p, q), (q, p))])
    share = np.linspace(0, 1, 101)[:, None, None, None]
    mixed = share * points[:, None] + (1 - share) * points
    false, true = mixed.reshape(-1, 2).T
    called = base_rate * true + (1 - base_rate) * false
    sure = np.divide(base_rate * true, called, out=np.zeros_like(true), where=called > 0)
    reached = {rate: true[false <= rate + 1e-12].max() for rate in (0.05, 0.3, 0.7)}
    surest = {recall: sure[true >= recall - 1e-12].max() for recall in (0.05, 0.3, 0.7)}
    for rate, most in reached.items():
        found = true_positive_rate(known, rate).value
        assert most - 1e-9 <= found <= most + 0.01  # mixtures are tried on a grid
    for recall, most in surest.items():
        found = precision(known, recall, base_rate).value
        assert most - 1e-9 <= found <= most * 1.02


def test_randomised_response_reaches_its_rates():
    keep = 1 / (1 + np.exp(-1.0))
    for known in (PureDP(1.0), from_losses([1.0, -1.0], [keep, 1 - keep])):
        assert true_positive_rate(known, 1 - keep).value == pytest.approx(keep, abs=1e-9)
        assert precision(known, keep, 0.5).value == pytest.approx(keep, abs=1e-9)
        # beyond it nothing is surer than the loss itself
        assert precision(known, 0.01, 0.5).value == pytest.approx(keep, abs=1e-9)


def test_delta_makes_few_calls_sure_and_many_not():
    known = ApproximateDP(0.0, 0.01)
    assert true_positive_rate(known, 0.0).value == pytest.approx(0.01)
    assert precision(known, 0.01, 1e-6).value == 1
    assert precision(known, 0.02, 0.5).value == pytest.approx(2 / 3)


def test_a_question_is_needed_and_rates_are_rates():
    added = GaussianDP(1.0, adjacency="add-remove")
    with pytest.raises(InputError, match="membership"):
        true_positive_rate(added, 0.1)
    inside = as_asked(added, "membership")
    assert true_positive_rate(inside, 0.1).value == true_positive_rate(GaussianDP(1), 0.1).value
    assert "in or out" in precision(inside, 0.1, 0.1).assumptions[0]
    for wrong in (0.0, 1.0):
        with pytest.raises(InputError, match="recall"):
            precision(inside, wrong, 0.5)
        with pytest.raises(InputError, match="base_rate"):
            precision(inside, 0.5, wrong)
    with pytest.raises(InputError, match="fpr"):
        true_positive_rate(inside, 1.1)
