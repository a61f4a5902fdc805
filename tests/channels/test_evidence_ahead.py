"""Betting on secrets: it wins where they leak, and seldom where they do not, whenever one stops."""

import numpy as np
import pytest
from scipy import stats

from narcissus.channels import evidence_ahead as module
from narcissus.channels.evidence_ahead import evidence_of_leakage
from narcissus.channels.paid_ahead import paid_ahead
from narcissus.errors import InputError

REPEATS = pytest.mark.parametrize(
    "repeats", [120, pytest.param(5000, marks=pytest.mark.nightly)], ids=["few", "many"]
)


@pytest.mark.states("Narcissus theory", "6.16")
@pytest.mark.coverage_claim
@REPEATS
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.1, 0.2, 0.7]])
def test_the_largest_capital_of_all_times_is_seldom_large(prior, repeats):
    """The level .2, by the largest value in 150 samples; false alarm 1e-6."""
    rng, alarms = np.random.default_rng(2), 0
    names = [str(i) for i in range(len(prior))]
    for _ in range(repeats):
        secret = rng.choice(names, 150, p=prior)
        shown = rng.integers(3, size=150)
        given = dict(zip(names, prior, strict=True))
        found = evidence_of_leakage(secret, shown, given, estimators=["frequentist"])
        alarms += found.p_value <= 0.2
    assert alarms <= stats.binom.isf(1e-6, repeats, 0.2)


def test_secrets_that_never_came_are_among_those_bet_on(monkeypatch):
    """To leave them out would be to know beforehand that they never come."""
    known = []

    def watched(data, *more):
        known.extend(data.names)
        return paid_ahead(data, *more)

    monkeypatch.setattr(module, "paid_ahead", watched)
    evidence_of_leakage(["a", "b"] * 40, np.zeros(80), {"a": 0.25, "b": 0.25, "c": 0.5})
    assert known == ["a", "b", "c"]


def test_what_is_bet_does_not_depend_on_what_comes_later():
    rng = np.random.default_rng(1)
    secret = rng.integers(2, size=600)
    shown = secret ^ (rng.random(600) < 0.35)
    half = [0.5, 0.5]
    least = [evidence_of_leakage(secret[:n], shown[:n], half).log_capital for n in (200, 400, 600)]
    assert 0 < least[0] < least[1] < least[2]
    changed = np.r_[shown[:200], 1 - shown[200:]]
    again = evidence_of_leakage(secret[:200], changed[:200], half)
    assert again.log_capital == least[0]
    assert evidence_of_leakage(secret, changed, half).log_capital >= least[0]


def test_leaks_are_found_and_priors_checked():
    rng = np.random.default_rng(3)
    secret = rng.integers(2, size=400)
    found = evidence_of_leakage(secret, rng.normal(secret), [0.5, 0.5])
    assert found.p_value < 0.001
    assert "whenever one stops" in str(found)
    with pytest.raises(InputError, match="above 0"):
        evidence_of_leakage(secret, secret, {"0": 1.0, "1": 0.0})
    with pytest.raises(InputError, match="lacks"):
        evidence_of_leakage(secret, secret, {"0": 1.0})
