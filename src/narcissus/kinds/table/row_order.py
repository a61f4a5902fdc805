"""Guess each row by those before it in the file: whether rows are independent of one another.

Rows in the order of time, or of household after household, tell of their neighbours. A row is
guessed by a forest from its known columns and the secrets just before it, by a lookup from what
`earlier` reads of all rows before it, and by one from rows far before (`far_rows`). These are
fitted to the first rows, and know no secret that begins later; the commonest secret in the rows
just before (`recent_rows`) does. A last lookup sees known columns of rows near it (`near_rows`),
before and after.

All see the secrets of earlier rows alone, and known columns of any rows. If the prior is right,
each secret is independent of those, given the known columns of its row: people are independent. So
given all known columns and all earlier secrets, no guess is right with a larger chance than the
best one by the prior, and the theorem of `held_out` holds. Later secrets as well would not do: two
rows that are guessed by each other's secrets are both right, or neither is.

Where known columns refute the prior already, what a guesser gets without earlier rows as well is no
matter of the order: it is compared with the same model of the known columns alone, and the
commonest secret with a forest of these.

A file may be sorted by its secrets: whoever knows the place of a person in it reads these. What
neighbours share was made by the sorting, so other secrets are examined given those.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from narcissus._random import child
from narcissus.kinds.table.earlier import earlier_features
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.far_rows import far_features
from narcissus.kinds.table.held_out import (
    FEWEST,
    FITTED,
    TESTED,
    Model,
    RowGuesses,
    Rows,
    fewest_rows,
    guessed,
    judged_groups,
)
from narcissus.kinds.table.lookup import agreement, lookup_chances
from narcissus.kinds.table.near_rows import near_features
from narcissus.kinds.table.population import HELD_OUT, settings_of
from narcissus.kinds.table.recent_rows import commonest_before, stack_recent
from narcissus.kinds.table.trees import tree_chances
from narcissus.mechanisms import Columns, Marginals
from narcissus.success import ColumnsRight

NEIGHBOURS = "a random forest of the rows just before"
RECENT = "the commonest secret in the rows just before"
EARLIER, FAR = "a lookup of earlier rows", "a lookup of rows far before"
NEAR = "a lookup of known columns of rows before and after"
MOST_SECRET_COLUMNS = 4  # whose earlier values are read
MOST_TELLING = 40  # features of earlier rows that a lookup sees
MOST_ROWS = 1_000_000  # of a table whose rows are compared with those far before
BACK = (1, 2)  # rows before, each by itself
WINDOWS = (10, 30)  # rows before, by the commonest secret among them
MOST_SECRETS = 20  # that are counted in windows
BY_CHANCE = 1e-6  # chance of rows that look sorted, below which they are

Codes = NDArray[np.integer]


@dataclass(frozen=True)
class OrderedRows:
    """The first rows of a table, in their order, and what of it can be examined.

    experiment: With the secrets by which the file is sorted among the known columns; None where no
        other secret is left, or none can be examined given those.
    far: More rows, whose secrets may be told by rows far before; none where not all are read.
    sorted_by: Names of the secrets by which the file is sorted.
    """

    experiment: Experiment | None
    rows: Rows
    far: Rows
    sorted_by: tuple[str, ...] = ()


def ordered_rows(experiment: Experiment) -> OrderedRows | None:
    """Return the first rows in the order of the file; None where there are few, or no order."""
    table, unknown = experiment.table, experiment.queries.unknown
    every = table.first_rows(MOST_ROWS + 1)
    if every is None or len(every) < FEWEST:
        return None
    far = np.ascontiguousarray(every, dtype=np.int32)
    rows = far[: FITTED + TESTED]
    is_sorted = {*sorted_columns(far, last=unknown), *sorted_columns(rows, last=unknown)}
    by = [column for column in unknown if column in is_sorted]
    names = tuple(table.names[column] for column in by)
    if len(far) > MOST_ROWS or len(far) == len(rows) < table.rows:
        far = rows[:0]
    rest = tuple(column for column in unknown if column not in by)
    if not by:
        return OrderedRows(experiment, rows, far)
    if not rest or experiment.nearby is not None:  # a prior near another says little given a secret
        return OrderedRows(None, rows, rows[:0], names)
    return OrderedRows(_about(experiment, rest), rows, far, names)


def _about(experiment: Experiment, unknown: tuple[int, ...]) -> Experiment:
    """Return an experiment about some of its unknown columns, all others known."""
    table = experiment.table
    columns = Columns(table.names, table.labels, table.ordered, unknown)
    success = ColumnsRight(
        tuple(table.sizes[c] for c in unknown), (0.0,) * len(unknown), None, (None,) * len(unknown)
    )
    return replace(
        experiment, settings=settings_of([Marginals(k=1, scale=1.0)], columns), success=success
    )


@dataclass(frozen=True)
class OrderAttempt:
    """Guesses from other rows and known columns, and those of the known columns alone."""

    guesses: RowGuesses
    without: Callable[[], RowGuesses]


def order_attempts(ordered: OrderedRows, experiment: Experiment) -> Iterator[OrderAttempt]:
    """Yield guesses of the last of some rows by others, of which none knows a later secret."""
    rows = ordered.rows
    start = len(rows) - min(TESTED, len(rows) // 2)
    known, secrets = _parts(experiment, rows)
    seen, has_order = _seen(secrets, known)
    classes = classes_of(experiment, rows[:start])
    near = np.column_stack([*near_features(secrets, known, classes), known])
    yield from _attempts(experiment, NEAR, _by_lookup, rows, (near, known), start)
    of_known = [experiment.table.ordered[c] for c in experiment.queries.known]

    def by_trees(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
        is_ordered = [*has_order, *of_known][-of.shape[1] :]
        return tree_chances(of, classes, asked, is_ordered, size=size, rng=random)

    by_neighbours, *of_groups = _attempts(
        experiment, NEIGHBOURS, by_trees, rows, (seen, known), start
    )
    yield from (by_neighbours, *of_groups)
    yield replace(by_neighbours, guesses=_by_recent(experiment, rows, secrets, start))
    telling = _telling(secrets, known, classes)
    yield from _attempts(experiment, EARLIER, _by_lookup, rows, (telling, known), start)
    if len(far := ordered.far):
        start = len(far) - min(TESTED, len(far) // 4)  # fitted rows have others far before, too
        known, secrets = _parts(experiment, far)
        features = [
            feature
            for secret in secrets.T[:MOST_SECRET_COLUMNS]
            for feature in far_features(secret, start)
        ]
        since = max(start - FITTED, 2 * start // 3)  # half a file before them are others
        x, known, rows = (
            part[since:] for part in (np.column_stack([*features, known]), known, far)
        )
        yield from _attempts(experiment, FAR, _by_pairs, rows, (x, known), start - since)


def _parts(experiment: Experiment, rows: Rows) -> tuple[Codes, Codes]:
    """Return the known columns of rows, and their secrets, shape (rows, columns)."""
    queries = experiment.queries
    secrets = rows[:, list(queries.unknown)] if experiment.factored else queries.joint(rows)
    return rows[:, list(queries.known)], secrets.reshape(len(rows), -1)


def _by_recent(experiment: Experiment, rows: Rows, secrets: Codes, start: int) -> RowGuesses:
    """Guess the last rows by the secrets just before each one."""
    queries, table = experiment.queries, experiment.table
    if experiment.factored:
        guesses = stack_recent(secrets, [table.sizes[column] for column in queries.unknown])[start:]
    else:
        joint = stack_recent(secrets, [queries.values])[start:, 0]
        guesses = experiment.success.guess_of(joint)
    return RowGuesses(RECENT, rows[start:], guesses)


def _by_lookup(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
    sizes = np.maximum(of.max(axis=0), asked.max(axis=0)) + 1
    return lookup_chances(of, classes, asked, sizes.tolist(), size=size, rng=random)


def _by_pairs(of: Any, classes: Any, asked: Any, size: int, random: Any) -> Any:
    """Look up one or two columns: more of them fit few rows by chance."""
    sizes, many = np.maximum(of.max(axis=0), asked.max(axis=0)) + 1, of.shape[1]
    sets = many * (many + 1) // 2
    return lookup_chances(of, classes, asked, sizes.tolist(), size=size, rng=random, sets=sets)


def _attempts(
    experiment: Experiment,
    name: str,
    model: Model[np.integer[Any]],
    rows: Rows,
    features: tuple[Codes, Codes],
    start: int,
) -> Iterator[OrderAttempt]:
    """Yield guesses of all rows from ``start`` on, and of those of each group, fitted to these."""
    yield _attempt(experiment, name, model, rows, features, start)
    for group, members in judged_groups(experiment, rows):
        before = int(members[:start].sum())
        if min(before, members.sum() - before) >= fewest_rows(experiment):
            with_order, alone = (part[members] for part in features)
            yield _attempt(
                experiment, name, model, rows[members], (with_order, alone), before, group
            )


def _attempt(
    experiment: Experiment,
    name: str,
    model: Model[np.integer[Any]],
    rows: Rows,
    features: tuple[Codes, Codes],
    start: int,
    group: str = "",
) -> OrderAttempt:
    def guess(some: Codes) -> RowGuesses:
        rng = child(experiment.entropy, HELD_OUT, 3)
        before, after = some[:start], some[start:]
        guesses = guessed(experiment, model, rows[:start], before, after, rng)
        return RowGuesses(name, rows[start:], guesses, group)

    with_order, alone = features
    return OrderAttempt(guess(with_order), lambda: guess(alone))


def classes_of(experiment: Experiment, rows: Codes) -> Codes:
    """Return numbers for the secrets of rows, all unknown columns together."""
    secrets = rows[:, list(experiment.queries.unknown)]
    return np.ravel(np.unique(secrets, axis=0, return_inverse=True)[1])


def _telling(secrets: Codes, known: Codes, classes: Codes) -> Codes:
    """Return the known columns, and what earlier rows say that tells most of the classes.

    The classes are those of the first rows, to which models are fitted.
    """
    ranking: list[tuple[float, int, Codes]] = []
    for secret in secrets.T[:MOST_SECRET_COLUMNS]:
        for feature in earlier_features(secret, known):
            score = agreement(feature[: len(classes)], classes)
            ranking.append((-score, len(ranking), feature))
        ranking = sorted(ranking, key=lambda candidate: candidate[:2])[:MOST_TELLING]
    return np.column_stack([*(feature for *_, feature in ranking), known])


def sorted_columns(rows: Codes, *, last: Collection[int] = ()) -> tuple[int, ...]:
    """Return the columns by which rows are sorted, each within equal values of those before it.

    Columns in ``last`` are tried after the others: what these tell is no matter of the order.

    Within a block of rows that are equal so far, each value of a column by which rows are sorted
    is without a gap, and values follow in one order in all blocks: a time that passes turns
    back now and then. Rows of which that is likely by chance are not called sorted.
    """
    block = np.zeros(len(rows), dtype=np.int64)
    columns: list[int] = []
    left = sorted(range(rows.shape[1]), key=lambda column: (column in last, column))
    while True:
        column = next((c for c in left if _is_sorted(block, rows[:, c])), None)
        if column is None:
            return tuple(columns)
        left.remove(column)
        columns.append(column)
        block = _numbered(np.column_stack([block, rows[:, column]]))


def _is_sorted(block: Codes, column: Codes) -> bool:
    runs = _numbered(np.column_stack([block, column]))
    start = np.flatnonzero(np.diff(runs, prepend=-1))
    of, values = block[start], column[start]
    pairs = np.unique(of.astype(np.int64) * (1 + int(values.max())) + values)
    if len(pairs) < len(start):  # a value comes again in its block
        return False
    follows: dict[int, set[int]] = {}
    for (here, value), (there, after) in pairwise(zip(of.tolist(), values.tolist(), strict=True)):
        if here == there:
            follows.setdefault(after, set()).add(value)
    try:
        TopologicalSorter(follows).prepare()
    except CycleError:
        return False
    return _log_chance(of, np.diff(start, append=len(column))) <= log(BY_CHANCE)


def _log_chance(blocks: Codes, sizes: Codes) -> float:
    """Return the log of the chance that no value has a gap, in rows that chance orders.

    sizes: Rows of each value in each block, whose number appears next to it in ``blocks``.
    """
    values, rows = np.bincount(blocks), np.bincount(blocks, weights=sizes)
    return float((gammaln(values + 1) - gammaln(rows + 1)).sum() + gammaln(sizes + 1).sum())


def _numbered(columns: Codes) -> Codes:
    """Return numbers from 0 for runs of equal rows, shape (rows,)."""
    changes = np.any(columns[1:] != columns[:-1], axis=1)
    return np.concatenate([[0], np.cumsum(changes)])


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
    """Return the commonest of a few secrets in a window of rows before each row."""
    places = np.unique(secret, return_inverse=True)[1].ravel()
    return commonest_before(places, window, MOST_SECRETS)
