"""The limit of a mean: it covers values of any law, and reaches near the binomial one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import special, stats

from narcissus.channels import limits as module
from narcissus.channels.limits import (
    convex_high,
    evenly,
    fewest,
    mean_high,
    rounds_high,
    security_high,
    upper,
)
from narcissus.channels.samples import samples
from narcissus.observer import SILENT


@pytest.mark.parametrize("size", [5, 40])
@pytest.mark.parametrize("alpha", [0.025, 0.2])
def test_it_covers_zeros_and_ones_exactly(size, alpha):
    limits = np.array([mean_high(k, size, alpha) for k in range(size + 1)])
    assert (np.diff(limits) >= 0).all()
    for p in np.linspace(0, 1, 101):
        missed = stats.binom.pmf(np.arange(size + 1), size, p)[limits < p - 1e-12].sum()
        assert missed <= alpha + 1e-12


@pytest.mark.parametrize("law", ["thirds", "unequal", "adaptive"])
def test_it_covers_other_values(law):
    """Thousands of runs at once; false alarm 1e-6."""
    rng, size, runs, alpha = np.random.default_rng(3), 12, 20_000, 0.2
    if law == "thirds":
        totals, mean = rng.choice([0, 1 / 3, 1], (runs, size)).sum(axis=1), 4 / 9
    elif law == "unequal":
        chances = np.linspace(0, 0.6, size)
        totals, mean = (rng.random((runs, size)) < chances).sum(axis=1), 0.3
    else:  # larger than .3 once it was lucky
        totals, mean = np.zeros(runs), 0.3
        for _ in range(size):
            totals += rng.random(runs) < np.where(totals > 2, 0.3, 0.35)
    found = {total: mean_high(total, size, alpha) for total in np.unique(totals)}
    misses = sum(found[total] < mean for total in totals)
    assert misses <= stats.binom.isf(1e-6, runs, alpha)


def test_it_is_near_the_binomial_limit_and_keeps_its_range():
    for hits, size in ((10, 100), (500, 2000), (3, 2000)):
        binomial = special.betainccinv(hits + 1, size - hits, 0.025)
        found = mean_high(hits, size, 0.025)
        assert binomial <= found <= hits / size + 1.25 * (binomial - hits / size)
    assert mean_high(30, 100, 0.025, most=0.3) == 0.3
    assert mean_high(100, 100, 0.025) == 1.0


def brute(total, rounds, beta, points=9):
    """Try every way to choose p after every history of misses and hits, told apart."""
    grid = np.linspace(max(0, beta - 1), min(1, beta), points)

    @cache
    def best(history):
        if sum(map(sum, history)) > total:
            return 0.0
        if len(history) == rounds:
            return 1.0
        after = {(x, y): best((*history, (x, y))) for x in (0, 1) for y in (0, 1)}
        return max(
            sum(
                (p if x else 1 - p) * (beta - p if y else 1 - beta + p) * chance
                for (x, y), chance in after.items()
            )
            for p in grid
        )

    return best(())


@pytest.mark.states("Narcissus theory", "6.8")
@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("beta", [0.05, 0.4, 0.77, 1.0])
def test_it_is_the_worst_of_all_adaptive_ways(rounds, beta):
    for total in range(2 * rounds):
        assert fewest(total, rounds, beta) == pytest.approx(brute(total, rounds, beta), abs=1e-12)


def simulated(rounds, beta, total, rng, runs):
    """Play the worst way: share out where the chances still needed bend upwards."""
    table = [(np.arange(-2, 2 * rounds + 1) >= 0).astype(float)]
    for _ in range(rounds):
        v = np.r_[0.0, 0.0, table[-1]]
        bend = v[2:] - 2 * v[1:-1] + v[:-2]
        share = np.where(bend > 0, beta**2 / 4, 0.0)
        table.append((1 - beta) * v[2:] + beta * v[1:-1] + share * bend)
    left = np.full(runs, total)
    for still in range(rounds, 0, -1):
        v = np.r_[0.0, 0.0, table[still - 1]]
        at = np.maximum(left, -2) + 2
        even = v[at + 2] - 2 * v[at + 1] + v[at] > 0
        p = np.where(even, beta / 2, beta)
        left = left - (rng.random(runs) < p) - (rng.random(runs) < beta - p)
    return float(np.mean(left >= 0))


@pytest.mark.coverage_claim
@pytest.mark.repeats(500, 5_000, "runs")
def test_it_covers_against_the_worst_way_and_pooling_does_not(runs):
    """False alarm: one in a million."""
    rng, size, alpha, beta = np.random.default_rng(0), 40, 0.1, 0.9
    limits = np.array([rounds_high(k, size, alpha) for k in range(2 * size + 1)])
    missed = int(np.flatnonzero(limits >= beta)[0]) - 1  # totals up to here would miss
    rate = simulated(size, beta, missed, rng, runs)
    assert rate * runs <= stats.binom.ppf(1 - 1e-6, runs, alpha)


def test_the_binomial_limit_of_both_together_would_miss():
    size, alpha = 40, 0.025
    totals = np.arange(2 * size)
    pooled = np.minimum(2 * stats.beta.ppf(1 - alpha, totals + 1, 2 * size - totals), 1.0)
    ours = np.array([rounds_high(k, size, alpha) for k in totals])
    worst = {"pooled": 0.0, "ours": 0.0}
    for beta in np.linspace(0.5, 0.999, 60):
        for name, limits in (("pooled", pooled), ("ours", ours)):
            missed = int(np.flatnonzero(limits >= beta)[0]) - 1
            worst[name] = max(worst[name], fewest(missed, size, beta))
    assert worst["pooled"] > alpha >= worst["ours"]


@pytest.mark.parametrize("total", [0, 1, 37, 199, 250])
def test_the_closed_form_is_wider_but_not_much(total):
    for size in (250, 1_000):
        exact, wider = rounds_high(total, size, 0.025), convex_high(total, size, 0.025)
        assert exact <= wider
        assert wider - total / size <= 1.2 * (exact - total / size)


def test_chances_beyond_the_band_are_rounded_up(monkeypatch):
    exact = fewest(20, 60, 0.5)
    monkeypatch.setattr(module, "BAND", -4.0)
    assert fewest(20, 60, 0.5) >= exact


@pytest.mark.states("Narcissus theory", "6.8")
@pytest.mark.parametrize("share", [0.02, 0.25, 0.5])
def test_the_limit_grows_little_over_an_exact_one_for_even_shares(share):
    size = 1_000
    total = int(2 * share * size)
    even = 2 * stats.beta.ppf(0.975, total + 1, 2 * size - total)
    found = rounds_high(total, size, 0.025)
    assert found >= min(1.0, even) - 1e-9
    assert found - 2 * share <= 1.09 * (even - 2 * share)


def test_ends():
    assert rounds_high(5, 5, 0.025) == 1.0
    assert convex_high(7, 5, 0.025) == 1.0
    assert rounds_high(0, 100, 0.05) == pytest.approx(2 * (1 - 0.05 ** (1 / 200)), rel=1e-6)
    assert rounds_high(10, 10**7, 0.025) < 1e-5


def response(rng, values, kept, size):
    secret = np.arange(size) % values
    other = (secret + rng.integers(1, values, size)) % values
    return samples(secret, np.where(rng.random(size) < kept, secret, other))


def found(data, rng, **given):
    return security_high(data, ["frequentist", "nearest-one"], rng, 0.025, SILENT, **given)


def test_the_smaller_of_two_limits_counts():
    rng = np.random.default_rng(0)
    many = found(response(rng, 30, 0.2, 6_000), rng)
    assert many.pairs > 1
    assert "empirical Bernstein" in many.limit.method
    assert set(many.alternatives) == {"frequentist", "nearest-one", "guess"}
    two = found(response(rng, 2, 0.7, 600), rng)
    assert two.pairs == 1
    assert "rounds of one sample of either" in two.limit.method


def test_both_ways_share_the_chance_to_be_wrong(monkeypatch):
    seen = []
    exact = module.rounds_high
    monkeypatch.setattr(
        module,
        "rounds_high",
        lambda total, rounds, side: seen.append(side) or exact(total, rounds, side),
    )
    rng = np.random.default_rng(1)
    assert found(response(rng, 30, 0.2, 6_000), rng).pairs > 1
    found(response(rng, 2, 0.7, 600), rng)
    assert seen == [pytest.approx(0.0025), 0.025]


def test_a_known_pair_needs_no_choice():
    rng = np.random.default_rng(2)
    data = response(rng, 10, 0.4, 6_000)
    known = found(data, rng, known=(2, 5))
    assert known.pair == (2, 5)
    assert known.pairs == 1
    assert int(known.limit.method.split(", ")[1].split()[0]) > 900  # of 1,200


def test_unlike_numbers_have_two_limits():
    rng = np.random.default_rng(3)
    secret = np.repeat([0, 1], [1_000, 100])
    output = np.where(rng.random(1_100) < 0.9, secret, 1 - secret)
    one = found(samples(secret, output), rng)
    assert one.limit.method.startswith("two Clopper-Pearson limits")
    assert 0.2 < one.limit.high < 0.4


def test_every_part_of_the_order_has_all_secrets_alike():
    secret = np.repeat([0, 1, 2], [600, 300, 100])
    order = evenly(secret, np.random.default_rng(4))
    for low in range(0, 1_000, 100):
        part = np.bincount(secret[order[low : low + 100]], minlength=3)
        assert (abs(part - [60, 30, 10]) <= 1).all()


def test_upper_is_clopper_pearson():
    assert upper(0, 10, 0.05) == pytest.approx(1 - 0.05**0.1)
    assert upper(10, 10, 0.05) == 1
