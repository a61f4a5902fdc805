"""Guess each row by those before it in the file: whether rows are independent of one another.

Rows in the order of time, or of household after household, tell of their neighbours. A row is
guessed by a forest from its known columns and the secrets just before it. The forest is fitted to
earlier rows, so the theorem of `held_out` holds. A file that is sorted by the secret says nothing:
its order was made afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.held_out import FEWEST, FITTED, TESTED, RowGuesses, guessed
from narcissus.kinds.table.population import HELD_OUT
from narcissus.kinds.table.trees import tree_chances

NEIGHBOURS = "whoever sees the rows just before"
BACK = (1, 2)  # rows before, each by itself
WINDOWS = (10, 30)  # rows before, by the commonest secret among them
MOST_SECRETS = 20  # that are counted in windows

Codes = NDArray[np.integer]


def neighbour_attempt(experiment: Experiment, *, number: int) -> RowGuesses | None:
    """Guess the last rows of the table by those before them; None where order cannot tell.

    number: Which stream of random numbers is taken.
    """
    table, queries = experiment.table, experiment.queries
    if table.counts is not None or table.rows < FEWEST:
        return None
    rows = np.ascontiguousarray(table.codes[: FITTED + TESTED])
    secrets = rows[:, list(queries.unknown)] if experiment.factored else queries.joint(rows)
    secrets = secrets.reshape(len(rows), -1)
    if is_sorted(rows[:, list(queries.unknown)], rows[:, list(queries.known)]):
        return None
    seen, ordered = _seen(secrets, rows[:, list(queries.known)])
    ordered = [*ordered, *(table.ordered[c] for c in queries.known)]
    start = len(rows) - min(TESTED, len(rows) // 2)

    def by_trees(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
        return tree_chances(of, classes, asked, ordered, size=size, rng=random)

    rng = child(experiment.entropy, HELD_OUT, number)
    guesses = guessed(experiment, by_trees, rows[:start], seen[:start], seen[start:], rng)
    return RowGuesses(NEIGHBOURS, rows[start:], guesses)


def is_sorted(secrets: Codes, known: Codes) -> bool:
    """Whether each value of a secret stands in rows without a gap, in all or by a known column."""
    blocks = [np.zeros(len(secrets), dtype=np.int64), *known.T]
    return any(
        _runs(block, secret) == len(np.unique([block, secret], axis=1).T)
        for block in blocks
        for secret in secrets.T
    )


def _runs(block: Codes, which: Codes) -> int:
    both = np.column_stack([block, which])
    return 1 + int(np.any(both[1:] != both[:-1], axis=1).sum())


def _seen(secrets: Codes, known: Codes) -> tuple[Codes, list[bool]]:
    """Return what is seen of each row: secrets before it, how alike its neighbour is, the known.

    The second value says which of the columns before the known ones have an order.
    """
    many = len(secrets)
    columns: list[Codes] = []
    for back in BACK:
        for secret in secrets.T:
            columns.append(np.concatenate([np.zeros(back, dtype=np.int64), 1 + secret[:-back]]))
    windows = WINDOWS if secrets.shape[1] == 1 else ()
    for window in windows:
        columns.append(_commonest(secrets[:, 0], window))
    alike = np.zeros(many, dtype=np.int64)
    alike[1:] = (known[1:] == known[:-1]).sum(axis=1)
    of_secrets = [False] * len(columns)
    return np.column_stack([*columns, alike, known]), [*of_secrets, True]


def _commonest(secret: Codes, window: int) -> Codes:
    """Return the commonest secret in a window of rows before each row."""
    values = np.unique(secret)[:MOST_SECRETS]
    counts = np.cumsum(secret[:, None] == values, axis=0)
    before = np.concatenate([np.zeros((1, len(values)), dtype=np.int64), counts[:-1]])
    earlier = np.concatenate([np.zeros((window, len(values)), dtype=np.int64), before[:-window]])
    return (before - earlier[: len(before)]).argmax(axis=1)
