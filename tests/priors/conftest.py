"""Random factors of a few columns, and all that they say of every joint value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus.priors.factors import Factors


def draw(seed: int, *, impossible: float = 0.1, most: int = 5) -> Factors:
    """Draw factors of at most ``most`` columns for five people in up to three rows.

    Some tables are shared by all rows, as factors without a known column are; some hold values
    that are impossible, but every row keeps one that is possible.
    """
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, most + 1))
    shape = tuple(int(s) for s in rng.integers(1, 4, columns))
    rows = int(rng.integers(1, 4))
    subsets = [s for k in (1, 2, 3) for s in itertools.combinations(range(columns), k)]
    chosen = rng.choice(len(subsets), int(rng.integers(1, min(len(subsets), 5) + 1)), replace=False)
    scopes = tuple(subsets[i] for i in chosen)
    kept = [rng.integers(0, shape, (1, columns))[0] for _ in range(rows)]
    tables = []
    for scope in scopes:
        table = 2 * rng.normal(size=(rows, *(shape[c] for c in scope)))
        holes = rng.random(table.shape) < impossible
        for row in range(rows):
            holes[(slice(None), *kept[row][list(scope)])] = False
        table[holes] = -np.inf
        if rng.random() < 0.3:
            table = np.broadcast_to(table[0], table.shape)
        tables.append(table)
    people = np.concatenate([np.arange(rows), rng.integers(0, rows, 5 - rows)])
    return Factors(shape, scopes, tuple(tables), people)


def listed(factors: Factors) -> tuple[np.ndarray, np.ndarray]:
    """Give all joint values, (V, columns), and everybody's probabilities of them, (n, V)."""
    values = np.array(list(itertools.product(*map(range, factors.shape))))
    weights = np.exp(
        [factors.log_weights(np.tile(value, (factors.people, 1))) for value in values]
    ).T
    return values, weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def draw_factors():
    """Give `draw`."""
    return draw


@pytest.fixture(scope="session")
def all_values():
    """Give `listed`."""
    return listed
