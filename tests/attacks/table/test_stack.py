"""The stack against the attacks that it is made of, on releases that none has seen."""

import numpy as np
import pytest

from narcissus.attacks.table import Learned, MeanField, NearestRecord, Simulated, Stack
from narcissus.attacks.table.base import view_of
from narcissus.mechanisms import GaussianNoise, Microdata


def swapped(rows, column, rng):
    """Exchange a column of a fifth of the rows."""
    rows = rows.copy()
    moved = rng.permutation(len(rows))[: len(rows) // 5]
    rows[moved, column] = rows[np.roll(moved, 1), column]
    return rows


def simulated(worlds, kind, number, seed):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        targets, secrets = worlds.world(
            rng, people=100, sizes=(2, 3, 2, 3, 4), unknown=(0,), k=3, concentration=2.0
        )
        if kind == "noisy":
            release = worlds.release(targets, GaussianNoise(3.0), secrets, rng)
        elif kind == "swapped":
            release = Microdata(swapped(worlds.complete(targets, secrets), 0, rng))
        else:
            release = worlds.protect(targets, worlds.rules[kind], secrets, rng)
        found.append(Simulated(targets, release, secrets))
    return found


@pytest.mark.parametrize("kind", ["noisy", "swapped", "rounded", "withheld"])
def test_never_far_below_the_best_single_attack(worlds, kind):
    """Within .02 of the best of the others, which is chosen after the fact (2,500 people)."""
    before, after = simulated(worlds, kind, 8, 1), simulated(worlds, kind, 25, 2)
    attacks = {"posterior": MeanField(), "learned": Learned(), "stack": Stack()}
    if kind == "swapped":
        attacks["nearest"] = NearestRecord()
    shares = {}
    for name, attack in attacks.items():
        rng = np.random.default_rng(0)
        played = attack.train(before, rng) if hasattr(attack, "train") else attack
        guesses = [played.guess(view_of(s.targets, s.release), rng=rng) for s in after]
        shares[name] = np.mean([g == s.secrets for g, s in zip(guesses, after, strict=True)])
    guess = np.mean([s.targets.prior.argmax(axis=1) == s.secrets for s in after])
    stack = shares.pop("stack")
    assert stack > max(shares.values()) - 0.02
    assert stack > guess + 0.03


def test_it_carries_its_own_posterior(worlds):
    """What the posterior learns is learned on the way, and used."""
    [first, second] = simulated(worlds, "rounded", 2, 3)
    rng = np.random.default_rng(0)
    trained = Stack().train([first], rng)
    alone = MeanField().train([first], rng)
    assert trained.posterior == alone
    view = view_of(second.targets, second.release)
    told = trained.features(view, rng=rng)
    assert told.shape == (*second.targets.prior.shape, 11)
    np.testing.assert_array_equal(told[:, :, -1], alone.beliefs(view, rng=rng))
    assert trained.logit.weights[-1] != 0
