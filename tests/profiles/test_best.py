"""The largest success of any attempt."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus import Game, profile
from narcissus.mechanisms import CountingQuery, Identity
from narcissus.profiles import Bayes
from narcissus.profiles.written import Best, Guesses
from narcissus.success.relations import Pinned, Prefix
from narcissus.worlds import (
    Bits,
    Neighbours,
)


def test_largest_success_is_that_of_the_likeliest_attempt():
    """At epsilon 1 the count gains nothing, though naming a zero is right 99.8 times in 100."""
    found = profile(Game(Bits(100, 0.002), CountingQuery(0.2), Pinned(1)), 1.0)
    assert found.success[0] < 1e-30
    assert found.delta[0] < 1e-30
    assert found.best_success == pytest.approx(0.998)
    assert math.isclose(found.exact.rates(-math.inf)[0], found.best_success)
    assert isinstance(profile(Game(Neighbours(2), Identity(), Prefix()), 0.0).attacker(), Bayes)


def best_of(success, baseline, *, additive=False, abstain=True, blocks=1):
    found = Best.nothing(0.0, [0], success.shape[1], abstain=abstain)
    for part in np.array_split(np.arange(len(success)), blocks):
        found.add(Guesses(0, part, success[part], baseline[part]), additive=additive)
    return found


@pytest.mark.parametrize(("additive", "abstain"), [(False, False), (False, True), (True, True)])
def test_which_attacker_is_shown_hangs_on_no_last_digit(additive, abstain):
    """Gains that are equal, and gains of nothing, in every rounding and order of blocks."""
    rng = np.random.default_rng(2)
    baseline = rng.integers(1, 6, size=(30, 12)) / 7
    success = baseline + rng.choice([-0.25, 0.0, 0.125, 0.25], size=(30, 12))
    first = best_of(success, baseline, additive=additive, abstain=abstain)
    for _ in range(30):
        moved = [
            part * (1 + rng.uniform(-4e-16, 4e-16, part.shape)) for part in (success, baseline)
        ]
        again = best_of(*moved, additive=additive, abstain=abstain, blocks=int(rng.integers(1, 5)))
        assert again.rates == pytest.approx(first.rates, rel=1e-12)
        assert again.delta == pytest.approx(first.delta, rel=1e-12)
        assert additive or (again.guess[0] == first.guess[0]).all()
    value = success - baseline
    most = np.maximum(value, 0).sum() if additive else value.max(axis=0).clip(min=0).sum()
    assert first.delta == pytest.approx(most)
    assert first.rates[0] - first.rates[1] == pytest.approx(first.delta)
