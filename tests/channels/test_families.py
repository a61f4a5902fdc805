"""Families of pairs: ranked on some samples, compared on others."""

from dataclasses import replace

import numpy as np
import pytest

from narcissus.channels.estimators import Frequentist, Guess
from narcissus.channels.pooled import BOLDEST, bet, cost, families
from narcissus.channels.samples import samples


def drawn(rng, rows, size):
    secret = np.tile(np.arange(len(rows)), size // len(rows))
    output = (rng.random(len(secret))[:, None] > np.cumsum(rows, axis=1)[secret]).sum(axis=1)
    return samples(secret, output)


def best(data, later=4_000, tried=None):
    past = np.arange(data.size // 2)
    block = np.arange(data.size // 2, data.size)
    return families(data, tried or [Frequentist()], past, block, later, 0.025)


def test_all_pairs_where_all_are_alike_and_one_where_one_stands_out():
    rng = np.random.default_rng(0)
    alike = np.full((12, 12), 0.06) + np.eye(12) * 0.28
    found = best(drawn(rng, alike, 9_600))[0]
    assert found.pairs > 30
    apart = alike.copy()
    apart[2], apart[9] = np.eye(12)[2] * 0.97 + 0.0025, np.eye(12)[9] * 0.97 + 0.0025
    found = best(drawn(rng, apart, 9_600))[0]
    assert {2, 9} & set(found.first)
    assert found.pairs <= 21  # those with one of the two


def test_weights_sum_to_two_and_losses_to_the_overlap():
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(5), 6)
    data = drawn(rng, rows, 60_000)
    family = best(data)[0]
    assert family.most.sum() == pytest.approx(2)
    own, weight, lost = family.losses(data, np.arange(data.size))
    each = np.bincount(own, weight)
    mean = (np.bincount(own, weight * lost) / each).sum()
    chosen = np.argwhere((family.rank < family.pairs) & np.triu(np.ones((6, 6), bool), 1))
    exact = np.mean([np.minimum(rows[a], rows[b]).sum() for a, b in chosen])
    assert mean == pytest.approx(exact, abs=0.01)
    assert (lost <= family.most[own] + 1e-12).all()
    assert (lost >= 0).all()


def test_the_better_estimator_comes_first_and_learns_anew():
    rng = np.random.default_rng(2)
    data = drawn(rng, rng.dirichlet(np.ones(4), 5), 5_000)
    found = best(data, tried=[Guess(), Frequentist()])
    assert [one.estimator.name for one in found] == ["frequentist", "guess"]
    more = found[0].learned(data, np.arange(data.size))
    assert more.each.sum() == data.size
    assert more.pairs == found[0].pairs


def test_the_luckiest_of_many_equal_pairs_is_not_believed():
    """What seems best on the samples that rank is judged on others."""
    rng = np.random.default_rng(3)
    promises = []
    for _ in range(10):
        data = drawn(rng, np.full((40, 8), 1 / 8), 4_000)
        promises.append(best(data)[0].promise)
    assert min(promises) > 0.95


def test_secrets_that_do_not_occur_are_left_out():
    secret = np.r_[np.tile([0, 1], 200), np.full(12, 2)]
    data = samples(secret, np.arange(412) % 3)
    found = families(data, [Frequentist()], np.arange(200), np.arange(200, 400), 200, 0.05)
    assert list(found[0].candidates) == [0, 1]
    assert not families(data, [Frequentist()], np.arange(200), np.arange(401, 412), 10, 0.05)


def test_the_bet_is_the_best_of_its_kind():
    spread, most, after = np.full(4, 0.002), np.full(4, 0.5), np.array([500.0, 600, 700, 800])
    chosen, width = bet(spread, most, after, 3.7)
    largest = (most / after).max()
    variance = (spread / after).sum() / largest**2
    others = np.linspace(0.001, BOLDEST, 500)
    widths = [largest * (3.7 + cost(one) * variance) / one for one in others]
    assert width <= 1.05 * min(widths)
    assert 0 < chosen <= BOLDEST
    assert bet(np.zeros(4), most, after, 3.7)[0] == BOLDEST


def test_what_is_alike_is_not_told_apart_by_chance():
    rng = np.random.default_rng(4)
    data = drawn(rng, np.full((20, 20), 0.03) + np.eye(20) * 0.4, 4_000)
    found = best(data)[0]
    assert found.clearly > 0
    own, _weight, lost = found.losses(data, np.arange(2_000, 4_000))
    hard = replace(found, clearly=0.0)
    assert lost.std() < 0.8 * hard.losses(data, np.arange(2_000, 4_000))[2].std()
    assert (lost <= found.most[own] + 1e-12).all()
