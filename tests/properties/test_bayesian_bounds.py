"""Bounds of the Bayesian settings against every attacker of random small worlds.

Some hundred worlds each time, ten thousand in the nightly target. Bounds that sum over rows are
tried without that sum, which would hide errors.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from narcissus import Game
from narcissus.bounds.binomial import lower_tail
from narcissus.mechanisms import ExactAverage
from narcissus.mechanisms.base import deterministic
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms import average, least_surprisal, two_criteria_limit
from narcissus.profiles.closed_forms.average import disagreement
from narcissus.success.relations import Hamming
from narcissus.worlds import Draw, Tardos

FEW, MANY = 150, 10_000
SIDES = 5  # kinds of side information for each bound that is computed


@cache
def data_of(n, d):
    """Every data set in its order (..., n, d), and its chance at uniform rates."""
    rows = np.array(list(itertools.product((0, 1), repeat=d)))
    index = np.array(list(itertools.product(range(2**d), repeat=n)))
    data = rows[index]
    beta = [1 / ((n + 1) * math.comb(n, c)) for c in range(n + 1)]
    return rows, data, np.array(beta)[data.sum(axis=1)].prod(axis=1)


def distances(rows, others):
    return (rows[:, None] != others[None]).sum(axis=2)


def outputs(epsilon, n, rng):
    """Chance of each output for each sum: the noisy sum in random intervals, which only hides."""
    cuts = np.sort(rng.uniform(-1, n + 1, 4))
    x = cuts[None] - np.arange(n + 1)[:, None]
    below = np.where(x < 0, np.exp(epsilon * np.minimum(x, 0)) / 2,
                     1 - np.exp(-epsilon * np.maximum(x, 0)) / 2)  # fmt: skip
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def counted(n, d, epsilon, share, bits, places, rng):
    """Best chance to come near the last row where it counts, with random side information.

    The attacker knows the other rows as well, which only helps.
    """
    rows, data, chance = data_of(n, d)
    joint = chance.reshape(-1, 2**d)
    plain = joint / joint.sum(axis=1, keepdims=True)
    told = rng.random((*joint.shape, 3)) ** rng.choice([0.2, 1.0, 4.0, 20.0])
    both = joint[:, :, None] * told / told.sum(axis=2, keepdims=True)
    if rng.random() < 0.2:  # nothing is told
        both = joint[:, :, None]
    given = both / both.sum(axis=1, keepdims=True)
    limit = np.minimum(plain**share, 2.0**-bits)[:, :, None]
    counts = both * (given <= limit * (1 + 1e-12))
    law = outputs(epsilon, n, rng)[data.sum(axis=1)].reshape(*joint.shape, d, -1)
    release = np.ones((*joint.shape, 1))
    for j in range(d):
        release = (release[..., :, None] * law[:, :, j, None, :]).reshape(*joint.shape, -1)
    close = (distances(rows, rows) <= places).astype(float)
    return float(
        np.einsum("zv,ovk,ovy->okyz", close, counts, release, optimize=True).max(axis=3).sum()
    )


def surprising_worlds(count, seed):
    rng, informative, nearest = np.random.default_rng(seed), 0, 0.0
    for _ in range(count // SIDES):
        n, d = [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)][rng.integers(6)]
        epsilon, share = float(rng.exponential(0.7)) + 0.01, float(rng.choice([1, rng.random()]))
        bits = float(rng.choice([0, rng.uniform(0, d)]))
        places = int(rng.integers(0, d))
        column = average.Column(n, epsilon)
        least = min(
            average._given_away(column, d, share, places),
            average._split(column, d, share, places),
            average._given_away(column, d, 0.0, places) - bits,
        )
        found = max(counted(n, d, epsilon, share, bits, places, rng) for _ in range(SIDES))
        assert found <= 2.0**least * (1 + 1e-9), (n, d, epsilon, share, bits, places)
        informative += least < 0
        nearest = max(nearest, found / 2.0**least)
    assert informative > count / SIDES / 5
    return nearest


@pytest.mark.states("Kaplan et al. 2025", "Lemma 4.8", "Definition 4.11", "Remark 4.5")
def test_nobody_exceeds_the_bound_of_surprisal():
    assert surprising_worlds(FEW, 1) > 0.85


@pytest.mark.nightly
def test_nobody_exceeds_the_bound_of_surprisal_in_ten_thousand_worlds():
    assert surprising_worlds(MANY, 2) > 0.95


def averages(count, seed):
    """The last row, given known rows and any function of the average."""
    rng, nearest = np.random.default_rng(seed), 0.0
    for _ in range(count):
        n, d = [(2, 3), (3, 2), (3, 3), (4, 2), (2, 5), (5, 1)][rng.integers(6)]
        known, places = int(rng.integers(0, n - 1)), int(rng.integers(0, d))
        rows, data, chance = data_of(n, d)
        _, average = np.unique(data.sum(axis=1), axis=0, return_inverse=True)
        merged = rng.integers(0, rng.integers(1, 2 * average.max() + 2), average.max() + 1)
        if rng.random() < 0.3:  # the average itself
            merged = np.arange(average.max() + 1)
        seen = np.c_[data[:, :known].reshape(len(data), -1), merged[average.ravel()]]
        _, group = np.unique(seen, axis=0, return_inverse=True)
        near = (distances(data[:, -1], rows) <= places) * chance[:, None]
        best = np.zeros((group.max() + 1, len(rows)))
        np.add.at(best, group.ravel(), near)
        q = float(disagreement(n - known))
        limit = float(lower_tail(d, places, math.log(q / (1 - q))))
        found = float(best.max(axis=1).sum())
        assert found <= limit + 1e-12, (n, d, known, places)
        nearest = max(nearest, found / limit)
    return nearest


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5", "Definition 4.1")
def test_nobody_comes_nearer_to_a_row_of_an_average():
    assert averages(FEW, 3) == pytest.approx(1, abs=1e-9)  # the average itself: the likelier bits


@pytest.mark.nightly
def test_nobody_comes_nearer_to_a_row_of_ten_thousand_averages():
    averages(MANY, 4)


class Merged(ExactAverage):
    """What is left of an average of bits once some of its values are merged."""

    def __init__(self, values, seed):
        self.values, self.seed = values, seed

    def channel(self, data):
        sums = data.sum(axis=1).astype(np.int64) @ (1 + data.shape[1]) ** np.arange(data.shape[2])
        code = np.random.default_rng(self.seed).integers(0, self.values, sums.max() + 1)
        return deterministic(code[sums][:, None])


def criteria(count, seed):
    rng, informative = np.random.default_rng(seed), 0
    for _ in range(count):
        total, d, n = [(2, 3, 2), (3, 3, 2), (4, 2, 3), (5, 3, 1), (4, 2, 2), (3, 2, 3)][
            rng.integers(6)
        ]
        places = int(rng.integers(0, d))
        looser = int(rng.integers(places, d))
        mechanism = ExactAverage() if rng.random() < 0.3 else Merged(rng.integers(2, 20), seed)
        game = Game(Tardos(total, d, n), mechanism, Hamming(places / d), looser=Hamming(looser / d))
        limit = two_criteria_limit(n, d, places, looser)
        epsilon = float(rng.choice([0.0, rng.exponential()]))
        assert write_out(game).delta(epsilon) <= limit + 1e-12, (total, d, n, places, looser)
        informative += limit < 1
    return informative / count


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.7")
def test_nobody_does_better_with_two_criteria():
    assert criteria(FEW, 5) > 0.1


@pytest.mark.nightly
def test_nobody_does_better_with_two_criteria_in_ten_thousand_worlds():
    assert criteria(MANY, 6) > 0.1


def lukewarm(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d = int(rng.integers(2, 12)), int(rng.integers(1, 30))
        rates = rng.beta(0.3, 0.3, d) if rng.random() < 0.5 else rng.random(d)
        data = (rng.random((1, n, d)) < rates).astype(np.uint8)
        data[0, -1] = data[0, :-1].mean(axis=0) >= 0.5  # the least surprising row
        ones = data[0, :-1].sum(axis=0)
        warm = int(((4 * ones >= n) & (4 * ones <= 3 * n)).sum())
        found = Tardos(n, d, n).surprisal(Draw(data), np.array([n - 1]))[0]
        assert found >= least_surprisal(n, d, warm) - 1e-9


@pytest.mark.states("Kaplan et al. 2025", "Claim 4.9")
def test_no_row_is_less_surprising_than_said():
    lukewarm(FEW, 7)


@pytest.mark.nightly
def test_no_row_is_less_surprising_than_said_in_ten_thousand_worlds():
    lukewarm(MANY, 8)
