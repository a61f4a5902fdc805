"""The largest success of any attempt."""

from __future__ import annotations

import math

import pytest

from narcissus import Game, profile
from narcissus.mechanisms import CountingQuery, Identity
from narcissus.profiles import Bayes
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
