"""Lower limits under a declared symmetry: exactly as often wrong as they may be, at most."""

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.assumed import (
    symmetric_risk_low,
    symmetric_security,
    symmetric_security_low,
)
from narcissus.channels.samples import samples


@pytest.mark.parametrize("values", [2, 3, 10])
@pytest.mark.parametrize("kept", [0.0, 0.05, 0.1, 0.4, 0.9, 1.0])
def test_the_formula_is_that_of_the_matrix(values, kept):
    rows = np.full((values, values), (1 - kept) / (values - 1))
    np.fill_diagonal(rows, kept)
    assert symmetric_security(kept, values) == pytest.approx(ch.beta_star(rows).value, abs=1e-12)


def shown(right, size, values):
    """Samples of which so many show the secret itself."""
    secret = np.arange(size) % values
    return samples(secret, np.where(np.arange(size) < right, secret, (secret + 1) % values))


@pytest.mark.states("Narcissus theory", "6.10")
@pytest.mark.parametrize("values", [2, 4])
def test_it_misses_no_more_than_it_may(values):
    """Exactly, over all chances and counts."""
    size, side = 40, 0.1
    limits = np.array([
        symmetric_security_low(shown(right, size, values), side) for right in range(size + 1)
    ])  # fmt: skip
    worst = 0.0
    for kept in np.linspace(0, 1, 201):
        missed = limits > symmetric_security(kept, values) + 1e-12
        worst = max(worst, stats.binom.pmf(np.arange(size + 1), size, kept)[missed].sum())
    assert worst <= side
    assert worst > side / 3


@pytest.mark.parametrize("kept", [0.5, 0.1])
def test_the_bayes_risk_is_limited_by_the_few_rules_that_can_be_best(kept):
    rng, values, size = np.random.default_rng(0), 30, 3_000
    prior = rng.dirichlet(np.full(values, 5.0))
    rows = np.full((values, values), (1 - kept) / (values - 1))
    np.fill_diagonal(rows, kept)
    truth, misses = ch.bayes_risk(rows, prior), 0
    for _ in range(60):
        secret = rng.choice(values, size, p=prior)
        other = (secret + rng.integers(1, values, size)) % values
        data = samples(secret, np.where(rng.random(size) < kept, secret, other))
        low = symmetric_risk_low(data, 0.2)
        misses += low > truth
        assert low > truth - 0.06
    assert misses <= stats.binom.isf(1e-6, 60, 0.2)


@pytest.mark.states("Narcissus theory", "6.10")
def test_randomised_response_with_many_values_has_a_near_limit_then_and_says_on_what():
    rng = np.random.default_rng(1)
    secret = np.repeat(np.arange(100), 300)
    kept = rng.random(30_000) < 0.16
    output = np.where(kept, secret, (secret + rng.integers(1, 100, 30_000)) % 100)
    truth = symmetric_security(0.16, 100)
    plain = ch.estimate(secret, output, rng=1, estimators="frequentist")
    known = ch.estimate(secret, output, rng=1, estimators="frequentist", symmetric=True)
    assert plain.beta_star.low < 0.6
    assert truth - 0.01 < known.beta_star.low <= truth
    assert known.beta_star.high == plain.beta_star.high
    assert not plain.assumptions
    assert "assuming for the lower limits that the secrets are alike" in str(known)
    assert known.to_dict()["assumptions"] == list(known.assumptions)
    assert "assumptions" not in plain.to_dict()
    words = ch.estimate(
        [f"v{one}" for one in secret], [f"v{one}" for one in output], symmetric=True, rng=1
    )
    assert words.beta_star.low == pytest.approx(known.beta_star.low, rel=1e-12)


def test_samples_that_refute_the_symmetry_say_so():
    rng = np.random.default_rng(2)
    secret = rng.integers(4, size=20_000)
    output = np.where(rng.random(20_000) < 0.3, secret, rng.integers(4, size=20_000))
    leaky = secret < 2
    output[leaky] = secret[leaky]
    found = ch.estimate(secret, output, rng=1, symmetric=True)
    assert any("Refuted" in line and "alike" in line for line in found.contradictions)
