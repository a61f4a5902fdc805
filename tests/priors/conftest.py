"""Random factors of a few columns and all that they say; small tables, and priors by counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st

from narcissus.priors import BayesianNetwork
from narcissus.priors.factors import Factors
from narcissus.tables import Table


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


SIZES = (2, 3, 2, 4)


def small_table(seed, n=30):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, s, size=n) for s in SIZES])
    labels = tuple(tuple(str(v) for v in range(s)) for s in SIZES)
    return Table(tuple("abcd"), labels, (True,) * 4, codes)


def all_records():
    return np.array(list(itertools.product(*(range(s) for s in SIZES))), dtype=np.int32)


def joint_by_counting(table, smoothing):
    """Rows counted one by one, mixed with the product of the columns' shares."""
    records = [tuple(r) for r in table.codes.tolist()]
    full = np.zeros(SIZES)
    for record in itertools.product(*(range(s) for s in SIZES)):
        apart = np.prod([(table.codes[:, j] == v).mean() for j, v in enumerate(record)])
        full[record] = (1 - smoothing) * records.count(record) / len(records) + smoothing * apart
    return full


unknowns = st.permutations(range(4)).flatmap(
    lambda order: st.integers(1, 4).map(lambda k: tuple(order[:k]))
)


def planted():
    """0 -> 2 <- 1, 2 -> 3, 3 -> 4, and 5 alone."""
    parents = ((), (), (0, 1), (2,), (3,), ())
    flip = np.array([[0.85, 0.15], [0.15, 0.85]])
    both = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.35, 0.65], [0.05, 0.95]]])
    single = [np.array([0.6, 0.4]), np.array([0.45, 0.55])]
    tables = (*single, both, flip, flip, np.array([0.3, 0.7]))
    return BayesianNetwork(tuple("abcdef"), parents, tables)


def as_table(network, n, seed):
    labels = tuple(tuple(str(v) for v in range(s)) for s in network.sizes)
    codes = network.sample(n, rng=seed)
    return Table(network.names, labels, (True,) * len(labels), codes)
