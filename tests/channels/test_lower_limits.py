"""Lower limits from samples: they cover where they are hardest, and are near what can be had."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy import special, stats

from narcissus import channels as ch
from narcissus.channels import limits as module
from narcissus.channels.limits import (
    NOTHING,
    Assumed,
    assumed,
    below,
    may_be_monotone,
    monotone_risk_low,
    monotone_security_low,
    risk_low,
    security_low,
    shared_out,
    sum_low,
    symmetric_risk_low,
    symmetric_security,
    symmetric_security_low,
    without_lower,
)
from narcissus.channels.samples import Samples, samples
from narcissus.errors import InputError

from .conftest import refused


def law(size, p):
    return stats.binom.pmf(np.arange(size + 1), size, p)


@pytest.mark.states("Narcissus theory", "6.7")
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("size", [1, 2, 5, 20])
@pytest.mark.one_in(3)
def test_the_limit_of_a_sum_misses_no_more_than_it_may(size, alpha):
    """Exactly, over a grid of both chances."""
    limits = np.array([sum_low(k, size, alpha) for k in range(2 * size + 1)])
    assert (np.diff(limits) >= 0).all()
    for p, q in product(np.linspace(0, 1, 41), repeat=2):
        total = np.convolve(law(size, p), law(size, q))
        assert total[limits > p + q + 1e-12].sum() <= alpha + 1e-12


def test_one_error_is_no_binomial_limit():
    """At one error the limit of a binomial of twice the size would miss: so it is apart."""
    alpha, size = 0.2, 1
    wrong = np.array([2 * below(k, 2 * size, alpha) for k in range(3)])
    worst = max(
        np.convolve(law(size, p), law(size, q))[wrong > p + q + 1e-12].sum()
        for p, q in product(np.linspace(0, 1, 401)[1:], [0.0])
    )
    assert worst > alpha


@pytest.mark.states("Narcissus theory", "6.7")
@pytest.mark.parametrize(("chance", "size"), [(0.25, 200), (0.25, 2000), (0.02, 2000)])
@pytest.mark.one_in(2)
def test_two_secrets_are_limited_as_near_as_the_rule_s_errors_allow(chance, size):
    """Means over 300 samples, beside the limit of one who knows the best rule."""
    rng, found, oracle, risk = np.random.default_rng(0), [], [], []
    for _ in range(300):
        secret = rng.integers(2, size=size)
        wrong = rng.random(size) < chance
        data = samples(secret, secret ^ wrong)
        found.append(security_low(data, 0.025))
        oracle.append(2 * below(wrong.sum(), size, 0.025))
        risk.append(risk_low(data, 0.025))
        assert risk[-1] <= below(wrong.sum(), size, 0.025) + 1e-12
    truth = 2 * chance
    assert truth - np.mean(found) <= 1.1 * (truth - np.mean(oracle))
    assert np.mean(risk) == pytest.approx(np.mean(oracle) / 2, rel=0.02)


def test_unlike_numbers_cover(within):
    """Ten and fifty samples of a pair that misleads; misses at most a fifth, alarm 1e-6."""
    rows = np.array([[0.949, 0.051], [0.0, 1.0]])
    rng, misses, runs = np.random.default_rng(5), 0, 600
    for _ in range(runs):
        secret = np.repeat([0, 1], [10, 50])
        shown = (rng.random(60) > rows[secret, 0]).astype(int)
        misses += security_low(samples(secret, shown), 0.2) > 0.051
    assert misses <= stats.binom.isf(1e-6, runs, 0.2)
    assert misses > 0


@pytest.mark.nightly
def test_nearly_like_numbers_cover_exactly():
    """Five and six samples, all 2,048: which of the six is left out is told by no output."""
    secret, sent = np.repeat([0, 1], [5, 6]), np.array(list(product([0, 1], repeat=11)))
    limits = np.array(
        [security_low(Samples(secret, one, ("a", "b"), None, False), 0.025) for one in sent]
    )
    wrong = np.stack([sent[:, :5].sum(axis=1), 6 - sent[:, 5:].sum(axis=1)])[:, :, None]
    p, q = np.meshgrid(np.linspace(0, 0.6, 25), np.linspace(0, 0.6, 25))
    chance = stats.binom.pmf(wrong[0], 5, p.ravel()) / special.binom(5, wrong[0])
    chance *= stats.binom.pmf(wrong[1], 6, q.ravel()) / special.binom(6, wrong[1])
    truth = np.minimum(p + q, 2 - p - q).ravel()
    misses = (chance * (limits[:, None] > truth + 1e-12)).sum(axis=0)
    assert 0.02 < misses.max() <= 0.025


def test_the_least_over_events_is_below_each_of_them():
    """Of a pair with unlike numbers: every one of the 64 events, by hand."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        first, second = rng.integers(0, 9, 6), rng.integers(0, 30, 6)
        if not first.sum() or not second.sum() or first.sum() == second.sum():
            continue
        found = module._of_two(first, second, 0.1)
        one, other = shared_out(0.1, first.sum(), second.sum())
        each = [
            below(first[~event].sum(), first.sum(), one)
            + below(second[event].sum(), second.sum(), other)
            for event in map(np.array, product([False, True], repeat=6))
        ]
        best = min(1.0, *each)
        assert best - 0.05 <= found <= best + 1e-12


def test_many_secrets_with_unlike_numbers_keep_a_limit():
    rng = np.random.default_rng(8)
    secret = np.repeat(np.arange(45), rng.integers(100, 400, 45))
    shown = np.where(rng.random(secret.size) < 0.4, secret % 5, rng.integers(5, size=secret.size))
    data = samples(secret, shown)
    assert 0 < security_low(data, 0.025) < 0.6
    alike = samples(np.tile(np.arange(45), 300), np.tile(np.arange(45), 300) % 5)
    assert security_low(alike, 0.025) == 0
    assert math.isclose(risk_low(alike, 0.025), 1 - 5 / 45, rel_tol=0.02)


def test_the_chance_of_error_goes_where_it_helps_most():
    one, other = shared_out(0.05, 100, 2_500)
    assert one + other == pytest.approx(0.05)
    half = stats.norm.isf([one, other]) @ [1 / 10, 1 / 50]
    assert half < stats.norm.isf([0.025, 0.025]) @ [1 / 10, 1 / 50]
    others = np.linspace(0.001, 0.049, 97)
    best = (stats.norm.isf(others) / 10 + stats.norm.isf(0.05 - others) / 50).min()
    assert half == pytest.approx(best, rel=5e-3)
    assert shared_out(0.05, 70, 70) == (0.025, 0.025)


def data_of(names, size=1_200, seed=0):
    rng = np.random.default_rng(seed)
    secret = rng.integers(len(names), size=size)
    output = np.where(rng.random(size) < 0.5, secret, rng.integers(len(names), size=size))
    return np.array(names)[secret], np.array(names)[output]


def test_a_known_pair_has_a_nearer_lower_limit_and_says_on_what():
    secret, output = data_of([f"v{k}" for k in range(12)], 6_000)
    plain = ch.estimate(secret, output, rng=1)
    pair = ch.estimate(secret, output, rng=1, pair=("v3", "v7"))
    among = ch.estimate(secret, output, rng=1, among=["v3", "v7", "v5"])
    assert plain.beta_star.low < among.beta_star.low
    assert plain.beta_star.low < pair.beta_star.low
    assert pair.pair == ("v3", "v7")
    assert set(among.pair) <= {"v3", "v5", "v7"}
    assert "no other two secrets are easier" in str(pair)
    assert "'v3', 'v7'" in pair.assumptions[0]
    assert pair.bayes_risk == plain.bayes_risk
    assert pair.secrets == 12
    assert pair.beta_star.high >= plain.beta_star.low


def test_nothing_assumed_is_the_default():
    assert assumed() == NOTHING == Assumed()
    assert not NOTHING.texts()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"symmetric": True, "monotone": True}, "leave the other assumptions out"),
        ({"symmetric": True, "pair": ("v0", "v1")}, "leave the other assumptions out"),
        ({"among": ["v0", "v1"], "pair": ("v0", "v1")}, "not both"),
        ({"pair": ("v0", "v0")}, "two different secrets"),
        ({"pair": ("v0", "v1", "v2")}, "two different secrets, got 3"),
        ({"among": "v0"}, "must be a list"),
        ({"among": ["v0", "w1"]}, "'w1'; did you mean `v1`"),
        ({"monotone": True}, "secrets that are numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    refused(words, ch.estimate, *data_of(["v0", "v1", "v2"]), rng=1, **given)


def test_outputs_that_fit_no_assumption_are_refused():
    secret = np.arange(60) % 3
    refused("some outputs are none of them", ch.estimate, secret, np.arange(60) % 4, symmetric=True)
    with pytest.raises(InputError, match="some outputs are none of them"):
        ch.estimate([f"a{s}" for s in secret], np.arange(60) % 3, symmetric=True)
    refused("one column of numbers", ch.estimate, secret, np.c_[secret, secret], monotone=True)


def test_numbers_are_ordered_as_numbers():
    secret, output = data_of([str(k) for k in (2, 10, 9)])
    found = ch.estimate(secret, output.astype(float), rng=1, monotone=True)
    assert set(found.pair) == {"2", "10"}


def test_the_reason_names_what_would_help_where_it_fits():
    rng = np.random.default_rng(1)
    numbers = samples(rng.integers(2, size=80), rng.normal(size=80))
    assert may_be_monotone(numbers)
    assert "monotone" in without_lower(numbers)
    words = samples(["a", "b"] * 40, rng.normal(size=80))
    assert not may_be_monotone(words)
    assert "monotone" not in without_lower(words)


@pytest.mark.states("Narcissus theory", "6.10")
@pytest.mark.coverage_claim
@pytest.mark.repeats(60, 5_000, "runs")
@pytest.mark.parametrize("turned", [1, -1])
@pytest.mark.parametrize("numbers", [(80, 80, 80), (200, 60, 40)])
@pytest.mark.one_in(2)
def test_they_cover_for_continuous_outputs(runs, turned, numbers):
    """Misses at most a fifth on each; false alarm one in a million."""
    truth = ch.Gaussian(2, 1).beta_star
    prior = np.array(numbers) / sum(numbers)
    grid = np.linspace(-9, 9, 40_001)
    densities = stats.norm.pdf(grid[:, None] - np.arange(3))
    risk = 1 - (densities * prior).max(axis=1).sum() * (grid[1] - grid[0])
    rng, misses, far = np.random.default_rng([1, *numbers]), np.zeros(2), []
    for _ in range(runs):
        secret = rng.choice(3, sum(numbers), p=prior)
        data = samples(secret, turned * (rng.normal(size=len(secret)) + secret), fewest=1)
        security = monotone_security_low(data, 0, 2, 0.2)
        misses += (security > truth, monotone_risk_low(data, [0, 1, 2], 0.2) > risk)
        far.append(truth - security)
    assert (misses <= stats.binom.isf(1e-6, runs, 0.2)).all()
    assert 0 < np.mean(far) < 0.2


def test_the_staircase_is_the_best_of_all():
    rng = np.random.default_rng(3)
    for _ in range(10):
        secret, output = rng.integers(3, size=60), rng.integers(5, size=60)
        data = samples(secret, output, fewest=1)
        counts = np.zeros((5, 3))
        np.add.at(counts, (output, secret), 1)
        rules = list(combinations_with_replacement(range(3), 5))
        right = max(
            counts[np.arange(5), list(rule)[::step]].sum() for rule in rules for step in (1, -1)
        )
        assert monotone_risk_low(data, [0, 1, 2], 0.1) == below(60 - right, 60, 0.1)


def test_estimate_gives_a_limit_for_continuous_outputs():
    rng = np.random.default_rng(4)
    secret = rng.integers(5, size=3_000)
    output = rng.normal(secret, 2.0)
    found = ch.estimate(secret, output, rng=1, monotone=True, estimators="templates")
    truth = ch.Gaussian(4, 2).beta_star
    assert found.continuous
    assert found.pair == ("0", "4")
    assert truth - 0.1 < found.beta_star.low < truth < found.beta_star.high < truth + 0.1
    assert found.bayes_risk.low > 0.55
    assert not found.beta_star.why
    plain = ch.estimate(secret, output, rng=1, estimators="templates")
    assert plain.beta_star.low is None
    assert "`monotone` gives one" in plain.beta_star.why


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
