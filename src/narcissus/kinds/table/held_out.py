"""Held-out guesses, which test the prior, and the extremely randomised trees that make them.

Others guess from the known columns of rows they were not fitted to. If the prior is right about the
rows of the table, and their secrets are independent given the known columns, then no guess about a
row made without its secret has a larger chance than the best guess. So the number of right guesses
is at most a sum of independent Bernoullis with these chances, and its tail is known exactly. A
random forest tests the prior for missed relations between columns; a row with equal known columns
tests it for copies of people.

Source of the trees: Geurts, Ernst and Wehenkel 2006, for classes. Two departures: a threshold
is the lower value of two rows of the node, and a column without an order is put into another random
order for each tree. Rows to be guessed go down with the training rows of a tree, so no tree is
kept. All sums are of whole numbers, so that no guess depends on the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats, first_largest
from narcissus._random import child
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import HeldOutGuess
from narcissus.kinds.table.population import HELD_OUT
from narcissus.kinds.table.proofs import not_exceeded
from narcissus.knowledge import FactoredTargets
from narcissus.priors.base import row_keys
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw

Codes = NDArray[np.int64]
Guesses = NDArray[np.integer]

FITTED, TESTED = 3_000, 2_000  # rows that the forest is fitted to, and that are guessed, at most
FEWEST = 20  # rows of a table with which that is tried
LOOKED_UP = 20_000  # rows among which equal ones are looked for, at most
CLASSES = 100  # secrets that the forest tells apart, the most frequent ones
ENTRIES = 10_000_000  # chances of joint values that are held at once
SURE = 0.998  # level of each of the two limits: a right prior called refuted is a headline
TREES, DEPTH = 20, 40
LEAST_ROWS = 5  # of a node that is split

FOREST, EQUAL = "a random forest", "a row with equal known columns"


def held_out_guesses(experiment: Experiment) -> tuple[HeldOutGuess, ...]:
    """Return what a forest, and equal rows, guess of rows of the table; nothing if none can."""
    table, queries = experiment.table, experiment.queries
    if table.rows < FEWEST or not queries.known:
        return ()
    rng = child(experiment.entropy, HELD_OUT)
    some = min(table.rows, LOOKED_UP)
    drawn = RealRows(table.in_order, some, table.counts).draw(1, rng).data[0]
    rows = drawn[rng.permutation(some)]
    most = TESTED if experiment.factored else max(1, min(TESTED, ENTRIES // queries.values))
    tested = min(len(rows) // 3, most)
    fitted = rows[tested : tested + FITTED]
    found = [_scored(experiment, FOREST, rows[:tested], _forest(experiment, fitted, rows[:tested]))]
    keys = row_keys(rows, queries.known, queries.sizes)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    like = first[np.ravel(which)]
    again = np.flatnonzero(like != np.arange(len(rows)))[:most]
    if again.size:
        said = _named(experiment, rows[like[again]])
        found.append(_scored(experiment, EQUAL, rows[again], said))
    return tuple(found)


def _named(experiment: Experiment, rows: NDArray[np.int32]) -> Guesses:
    if experiment.factored:
        return rows[:, list(experiment.queries.unknown)]
    return experiment.success.guess_of(experiment.queries.joint(rows))


def _forest(experiment: Experiment, fitted: NDArray[np.int32], asked: NDArray[np.int32]) -> Guesses:
    """Guess the unknown columns from the known ones, one by one where no values are listed."""
    queries = experiment.queries
    known = list(queries.known)
    ordered = [experiment.table.ordered[c] for c in known]
    rng = child(experiment.entropy, HELD_OUT, 0)

    def chances(secrets: Guesses) -> tuple[Guesses, NDArray[np.float64]]:
        values, counts = np.unique(secrets, return_counts=True)
        values = np.sort(values[np.argsort(-counts, kind="stable")][:CLASSES])
        kept = np.isin(secrets, values)
        classes = np.searchsorted(values, secrets[kept])
        rows, size = fitted[kept][:, known], len(values)
        return values, tree_chances(rows, classes, asked[:, known], ordered, size=size, rng=rng)

    if experiment.factored:
        picked: list[Guesses] = []
        for column in queries.unknown:
            values, found = chances(fitted[:, column])
            picked.append(values[first_largest(found)])
        return np.stack(picked, axis=1)
    values, found = chances(queries.joint(fitted))
    beliefs = np.zeros((len(asked), queries.values))
    beliefs[:, values] = found
    return experiment.success.decide(beliefs)


def _scored(
    experiment: Experiment, by: str, rows: NDArray[np.int32], attempt: Guesses
) -> HeldOutGuess:
    side: Any = experiment.side
    [targets] = side.reveal(None, Draw(rows[None]), child(experiment.entropy, HELD_OUT, 1))
    success, secrets, people = targets.success, targets.secrets(rows), len(rows)
    best = targets.best_limit if isinstance(targets, FactoredTargets) else targets.best_chance
    best = np.clip(best, 0.0, 1.0)
    if success.by_column:  # parts of a person: Hoeffding 1963, Theorem 1
        most = min(1.0, float(best.mean()) + math.sqrt(-math.log(1 - SURE) / (2 * people)))
    else:
        most = not_exceeded(PoissonBinomial(best).tails(), SURE) / people
    return HeldOutGuess(
        by=by,
        people=people,
        share=float(success.score(secrets, attempt).mean()),
        prior_share=float(success.score(secrets, targets.best_guess).mean()),
        at_most=most,
        confidence=SURE,
    )


def tree_chances(
    rows: NDArray[np.integer],
    classes: NDArray[np.integer],
    asked: NDArray[np.integer],
    ordered: Sequence[bool],
    *,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the chance of each class for the rows asked about, shape (m, size).

    ``rows`` have shape (n, d), with ``classes`` in ``[0, size)``, ``asked`` (m, d). Chances are in
    multiples of 1 / 2^20 a tree: each row sums to about 1.
    """
    votes = np.zeros((len(asked), size), dtype=np.int64)
    both = np.concatenate([rows, asked]).astype(np.int64)
    alike = np.ravel(np.unique(rows, axis=0, return_inverse=True)[1])
    for _ in range(TREES):
        places = both.copy()
        for c, is_ordered in enumerate(ordered):
            if not is_ordered:
                places[:, c] = rng.permutation(int(both[:, c].max()) + 1)[both[:, c]]
        own, others = places[: len(rows)], places[len(rows) :]
        _grow(own, classes.astype(np.int64), alike, others, votes, rng)
    return votes / float(TREES << 20)


def _grow(
    x: Codes, y: Codes, alike: Codes, new: Codes, votes: Codes, rng: np.random.Generator
) -> None:
    """Grow a tree, a level at a time, and add the shares of its leaves to ``votes``."""
    size, tries = votes.shape[1], max(3, x.shape[1])
    at, where = np.zeros(len(x), dtype=np.int64), np.zeros(len(new), dtype=np.int64)
    left, who = np.arange(len(x)), np.arange(len(new))  # rows whose node is no leaf yet
    for depth in range(DEPTH):
        nodes = int(at.max()) + 1
        counts = _counts(at * size + y[left], nodes, size)
        some = _one_of_each(at, nodes, rng)
        other = np.bincount(at, alike[left] != alike[left[some]][at], nodes) == 0
        held = counts.sum(axis=1)
        done = (counts.max(axis=1) == held) | (held < LEAST_ROWS) | other | (depth == DEPTH - 1)
        shares = (counts << 20) // held[:, None]
        ended = done[where]
        votes[who[ended]] += shares[where[ended]]
        who, where = who[~ended], where[~ended]
        keep = ~done[at]
        left, at = left[keep], at[keep]
        if not left.size or not who.size:
            return
        names = np.cumsum(~done) - 1
        at, where, counts = names[at], names[where], counts[~done]
        column, most = _splits(x[left], y[left], at, counts, tries, rng)
        at = 2 * at + (x[left, column[at]] > most[at])
        where = 2 * where + (new[who, column[where]] > most[where])
        used = np.zeros(2 * len(counts), dtype=np.int64)
        used[at] = 1
        names = np.cumsum(used) - 1
        at, where = names[at], names[where]


def _counts(keys: Codes, nodes: int, size: int) -> Codes:
    return np.bincount(keys, minlength=nodes * size).reshape(nodes, size)


def _one_of_each(at: Codes, nodes: int, rng: np.random.Generator) -> Codes:
    order = rng.permutation(len(at))
    found = np.zeros(nodes, dtype=np.int64)
    found[at[order]] = order
    return found


def _splits(
    x: Codes, y: Codes, at: Codes, counts: Codes, tries: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Choose the random column and threshold with the least Gini impurity, for each node.

    A node that none splits stays whole and is tried again at the next level.
    """
    nodes, size = counts.shape
    column, most = np.zeros(nodes, dtype=np.int64), np.full(nodes, np.iinfo(np.int64).max)
    best = np.full(nodes, -1.0)
    everybody = counts.sum(axis=1)
    for _ in range(tries):
        c = rng.integers(x.shape[1], size=nodes)
        one, other = (x[_one_of_each(at, nodes, rng), c] for _ in range(2))
        parts, t = one != other, np.minimum(one, other)
        low = x[np.arange(len(x)), c[at]] <= t[at]
        below = _counts((at * size + y)[low], nodes, size)
        n = below.sum(axis=1)
        score = (below**2).sum(axis=1) / np.maximum(n, 1)
        score += ((counts - below) ** 2).sum(axis=1) / np.maximum(everybody - n, 1)
        better = parts & (score > best + 1e-9)
        column[better], most[better], best[better] = c[better], t[better], score[better]
    return column, most
