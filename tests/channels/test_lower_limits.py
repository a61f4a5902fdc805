"""Lower limits from samples: they cover where they are hardest, and are near what can be had."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import special, stats

from narcissus.channels import lower_limits as module
from narcissus.channels.lower_limits import (
    below,
    risk_low,
    security_low,
    shared_out,
    sum_low,
)
from narcissus.channels.samples import Samples, samples


def law(size, p):
    return stats.binom.pmf(np.arange(size + 1), size, p)


@pytest.mark.states("Narcissus theory", "6.7")
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("size", [1, 2, 5, 20])
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
