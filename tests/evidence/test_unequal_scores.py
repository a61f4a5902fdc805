"""Scores of canaries with coins of their own: the level is kept, and unlikely members say more."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.evidence import refute_prior_scores


def drawn(rng, m: int, epsilon: float):
    """Canaries in by unequal coins, and what randomised response says of each."""
    coins = rng.choice([0.05, 0.3, 0.6], m)
    inside = (rng.random(m) < coins).astype(int)
    kept = rng.random(m) < 1 / (1 + np.exp(-epsilon))
    said = np.where(kept, inside, 1 - inside)
    # sorted as an attacker would: by how likely it is then that the canary was in
    odds = np.log(coins / (1 - coins)) + epsilon * (2 * said - 1)
    return odds, inside, coins


@pytest.mark.parametrize(
    ("runs", "most"), [(20, 6), pytest.param(600, 85, marks=pytest.mark.nightly)]
)
def test_what_holds_is_refuted_no_more_often_than_the_level_says(runs, most):
    """Randomised response, exactly epsilon-DP, whose posterior odds are those of the theorem.

    More than ``most`` of a tenth has a chance below 0.004.
    """
    rng = np.random.default_rng(0)
    found = [
        refute_prior_scores(*drawn(rng, 240, 1.0), confidence=0.9, rng=rng).epsilon
        for _ in range(runs)
    ]
    assert sum(epsilon > 1.0 for epsilon in found) <= most
    assert max(found) > 0.3


def test_it_says_what_was_counted_and_repeats_itself():
    data = drawn(np.random.default_rng(1), 900, 3.0)
    found = refute_prior_scores(*data, rng=5)
    assert found == refute_prior_scores(*data, rng=5)
    assert found.chosen_on == 300
    assert found.canaries == 600
    assert 1.0 < found.epsilon < 3.0
    assert found.methods[0].id == "swanberg-3.2"
    some = refute_prior_scores(*data, delta=1e-6, rng=5)
    assert 0.5 < some.epsilon < found.epsilon
    assert [m.id for m in some.methods] == ["domination", "swap"]


def test_coins_that_cannot_have_fallen_so_are_refused():
    score = np.arange(100.0)
    with pytest.raises(InputError, match="100 are in where 10 are expected"):
        refute_prior_scores(score, np.ones(100), np.full(100, 0.1))
    with pytest.raises(InputError, match="above 0 of canaries that are in"):
        refute_prior_scores(score, np.ones(100), np.append(np.full(99, 0.9), 0.0))
    with pytest.raises(InputError, match="must be of 100 canaries"):
        refute_prior_scores(score, np.ones(100), [0.5])
    with pytest.raises(InputError, match="at least 6"):
        refute_prior_scores([1.0, 2.0], [0, 1], [0.5, 0.5])
