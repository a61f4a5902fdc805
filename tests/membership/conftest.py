"""Scores of models on records, with as much leakage as is asked for."""

import numpy as np
import pytest

from narcissus.membership import shadow_scores


@pytest.fixture
def drawn():
    """Give a function that draws scores of models on records by independent coins."""

    def draw(models, records, *, leak=0.0, outsiders=0, shift=0.0, priors=None, seed=0):
        rng = np.random.default_rng(seed)
        coins = np.full(records, 0.5) if priors is None else np.asarray(priors, dtype=float)
        coins = np.concatenate([coins, np.zeros(outsiders)])
        members = rng.random((models, coins.size)) < coins
        scores = rng.normal(size=coins.size) + rng.normal(size=(models, coins.size))
        scores += leak * members + shift * rng.normal(size=(models, 1))
        return shadow_scores(scores, members, coins)

    return draw
