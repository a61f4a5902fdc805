"""The law of the number of right columns of a guess, and the guess with the best chance.

No joint value is listed. There are as many guesses as joint values, and the best is hard to find.
Let the guess of a column depend on the columns that it is tied to, which no real guess may do: then
the best is found column by column, and bounds every guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import first_largest
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.priors.elimination import (
    Chain,
    Step,
    chains,
    check_values,
    elimination_order,
    marginals,
    row_count,
    spread,
)
from narcissus.priors.factors import Codes, Factors, Floats


def right_columns(factors: Factors, guesses: ArrayLike, last: ArrayLike | None = None) -> Floats:
    """Compute the law of the number of right columns of each person's guess, (n, columns + 1).

    ``guesses`` are value numbers of the unknown columns, shape (n, columns). Where a guess covers
    several values, it is the first and ``last`` the last of them in each column; any of these is
    right. The columns are eliminated with the count as one more axis of every table; all terms are
    positive, so that small chances are as accurate as large ones.
    """
    split = check_values(factors, guesses)
    ends = split if last is None else check_values(factors, last)
    columns = len(factors.shape)
    # People with the same known columns and the same guess have the same law.
    keys = np.column_stack([factors.rows, split, ends])
    different, back = np.unique(keys, axis=0, return_inverse=True)
    laws = np.zeros((len(different), columns + 1))
    for part, chain in chains(factors, "sum", copies=2):
        mine = np.flatnonzero((different[:, 0] >= part.start) & (different[:, 0] < part.stop))
        cells = max(step.cells(factors.shape) for step in chain.steps) if chain.steps else 1
        each = max(1, 8_000_000 // (cells * (columns + 1)))
        for start in range(0, mine.size, each):
            some = mine[start : start + each]
            row, covered = different[some, 0] - part.start, different[some, 1:]
            laws[some] = _law(chain, row, covered[:, :columns], covered[:, columns:])
    return laws[np.ravel(back)]


def at_least_right(
    factors: Factors, guesses: ArrayLike, at_least: int, last: ArrayLike | None = None
) -> Floats:
    """Compute the chance of at least ``at_least`` right columns of each guess, shape (n,)."""
    threshold = integer("at_least", at_least, low=0, high=len(factors.shape))
    return np.minimum(right_columns(factors, guesses, last)[:, threshold:].sum(axis=1), 1.0)


def _law(chain: Chain, rows: np.ndarray, guesses: np.ndarray, last: np.ndarray) -> Floats:
    def message(step: Step, law: Floats) -> Floats:
        size = law.shape[-2]
        every, low, high = np.arange(size), guesses[:, step.column], last[:, step.column]
        hit = ((every >= low[:, None]) & (every <= high[:, None])).astype(np.float64)
        hit = hit.reshape(len(rows), *(1,) * len(step.given), size, 1)
        right, wrong = (law * hit).sum(axis=-2), (law * (1.0 - hit)).sum(axis=-2)
        distribution = np.zeros((*right.shape[:-1], right.shape[-1] + 1))
        distribution[..., :-1] = wrong
        distribution[..., 1:] += right
        return distribution

    return _counted(chain, rows, message)


def _counted(chain: Chain, rows: np.ndarray, message: Callable[[Step, Floats], Floats]) -> Floats:
    """Eliminate all columns with the number of right ones as the last axis of every message."""
    waiting: list[tuple[tuple[int, ...], Floats]] = []
    for number in reversed(range(len(chain.steps))):
        step = chain.steps[number]
        law = np.exp(chain.table(number, rows))[..., None]
        for scope, factor in [w for w in waiting if step.column in w[0]]:
            law = sum_law(law, spread(factor, (*scope, -1), (*step.clique, -1)))
        waiting = [w for w in waiting if step.column not in w[0]]
        waiting.append((step.given, message(step, law)))
    return reduce(sum_law, (factor for _, factor in waiting), np.ones((len(rows), 1)))


def sum_law(a: Floats, b: Floats) -> Floats:
    """Compute the law of the sum of two independent counts, along the last axes."""
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    answer = np.zeros((*shape, a.shape[-1] + b.shape[-1] - 1))
    for k in range(b.shape[-1]):
        answer[..., k : k + a.shape[-1]] += a * b[..., k, None]
    return answer


_BLOCK = 4_000_000  # numbers that are held at once
_SURE = 1e-9  # differences of chances below this are rounding
_ROUNDS = 50
_WORK = 2e9  # entries of tables


@dataclass(frozen=True)
class BestGuess:
    """The best guess found in each row of factors, and a bound for all guesses."""

    guess: Codes  # of each column, shape (rows, columns)
    chance: Floats  # that at least the required number of columns are right, shape (rows,)
    # upper bound for every guess, shape (rows,); 1e-9 above the chance where the guess is the
    # best
    limit: Floats

    @property
    def is_best(self) -> NDArray[np.bool_]:
        return self.limit <= self.chance + 2 * _SURE


def best_guess(
    factors: Factors,
    at_least: int,
    covers: Sequence[ArrayLike] | None = None,
    rounds: int = 3,
    start: ArrayLike | None = None,
) -> BestGuess:
    """Find the guess most likely to have ``at_least`` right columns, and bound all others.

    ``covers`` has, for each column, which values each guess covers, 0 or 1, shape (size, guesses);
    by default a guess covers one value. The guesses of a row are split further at most ``rounds``
    times. Each round takes about as many times as long as the bound without splitting (0) as there
    are guesses of all columns together; see `most_rounds`. ``start`` is a guess in each row to
    improve upon, shape (rows, columns); by default the likeliest value of each column.

    *Proof.* Let ``U(k | s)`` be, for the columns that depend on a column and for given values ``s``
    of those that it is tied to, a number that the chance of at least ``k`` right ones never
    exceeds, whatever is guessed of them. Columns that depend on different ones are independent
    given
    these, and a sum of independent counts is largest where each is, for every ``k`` at the same
    time. So the
    law of the sum of what these tails say is one of the same kind; the column's own guess adds the
    chance that it is right and the others are exactly ``k - 1``; and the largest over its guesses,
    for each ``k`` and ``s`` apart, is ``U``. Where a column has one guess left it depends on
    nothing. So guesses are split by the guess of one column after the other; those under which the
    limit falls below what some guess reaches are left out (branch and bound).
    """
    columns = len(factors.shape)
    threshold = integer("at_least", at_least, low=1, high=columns)
    sets = [np.eye(size) for size in factors.shape] if covers is None else _checked(covers, factors)
    turns = integer("rounds", rounds, low=0)
    chance, limit = np.empty(row_count(factors)), np.empty(row_count(factors))
    if start is None:
        each = zip(marginals(factors), sets, strict=True)
        guesses = np.stack([first_largest(rows @ s) for rows, s in each], axis=1)
    else:
        guesses = np.array(start)
    copies = max(s.shape[1] / s.shape[0] for s in sets) + 2
    width = _width(factors) * copies
    for part, chain in chains(factors, "sum", copies=4):
        many = max(1, int(_BLOCK / width))
        for first in range(part.start, part.stop, many):
            indices = np.arange(first, min(first + many, part.stop))
            search = _BestSearch(chain, indices - part.start, sets, threshold, many)
            best, limit[indices] = search.run(guesses[indices], turns)
            chance[indices] = best.limit
            guesses[indices] = np.stack([a.argmax(axis=1) for a in best.allowed], axis=1)
    return BestGuess(guesses.astype(np.int32), chance, limit)


def most_rounds(factors: Factors, covers: Sequence[ArrayLike]) -> int:
    """Return how many rounds of `best_guess` take some seconds, at most 50.

    They are reckoned in table entries, not seconds, so that all machines agree.
    """
    guesses = sum(np.shape(c)[1] for c in covers)
    return min(_ROUNDS, int(_WORK / (row_count(factors) * _width(factors) * guesses)))


def _width(factors: Factors) -> int:
    """Count the entries of one row's tables with the number of right columns as an axis."""
    steps = elimination_order(factors.shape, factors.scopes)
    return sum(step.cells(factors.shape) for step in steps) * (len(factors.shape) + 1)


def _checked(covers: Sequence[ArrayLike], factors: Factors) -> list[Floats]:
    sets = [np.asarray(c, dtype=np.float64) for c in covers]
    shapes = [s.shape for s in sets]
    sizes = [s[0] for s in shapes if len(s) == 2 and s[1] > 0]
    if sizes != list(factors.shape) or not all(np.isin(s, (0.0, 1.0)).all() for s in sets):
        raise InputError(
            "`covers` must hold a matrix of 0 and 1 for each column, with a row for each of its "
            f"{factors.shape} values, got shapes {shapes}"
        )
    return sets


@dataclass
class _Nodes:
    """Sets of guesses: their rows, the guesses allowed for each column, and a common bound."""

    row: NDArray[np.intp]
    allowed: list[NDArray[np.bool_]]
    limit: Floats

    def some(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> _Nodes:
        return _Nodes(self.row[which], [a[which] for a in self.allowed], self.limit[which])

    def with_guess(self, which: NDArray[np.intp], column: int, guess: NDArray[np.intp]) -> _Nodes:
        chosen = self.some(which)
        chosen.allowed[column] = np.zeros_like(chosen.allowed[column])
        chosen.allowed[column][np.arange(guess.size), guess] = True
        return chosen


class _BestSearch:
    """Branch and bound for the best guess of some rows of a chain."""

    def __init__(
        self, chain: Chain, rows: NDArray[np.intp], sets: list[Floats], least: int, many: int
    ) -> None:
        self.chain, self.rows, self.sets = chain, rows, sets
        self.least, self.many = least, many

    def run(self, start: NDArray[np.integer], rounds: int) -> tuple[_Nodes, Floats]:
        """Return the best guess found, whose limit is its chance, and the bound for all, by row."""
        every = np.arange(self.rows.size)
        shapes = [(every.size, s.shape[1]) for s in self.sets]
        best = _Nodes(every, [np.zeros(s, dtype=bool) for s in shapes], np.zeros(every.size))
        for column, guess in zip(best.allowed, start.T, strict=True):
            column[every, guess] = True
        best.limit = self.limits(best)
        nodes = _Nodes(every, [np.ones(s, dtype=bool) for s in shapes], np.zeros(every.size))
        nodes.limit = self.limits(nodes)
        if rounds:
            self.climb(best, np.flatnonzero(nodes.limit > best.limit + _SURE))
        for _ in range(rounds):
            nodes = nodes.some(nodes.limit > best.limit[nodes.row] + _SURE)
            if not nodes.row.size:
                break
            # the node of the largest limit of each row that is open
            order = np.lexsort((-nodes.limit, nodes.row))
            _, first = np.unique(nodes.row[order], return_index=True)
            top = order[first]
            left = np.ones(nodes.row.size, dtype=bool)
            left[top] = False
            nodes = _joined(nodes.some(left), self.split(nodes.some(top), best))
        limit = best.limit.copy()
        np.maximum.at(limit, nodes.row, nodes.limit)
        # What was left out fell short by rounding at least, or not at all.
        return best, np.minimum(limit + _SURE, 1.0)

    def climb(self, best: _Nodes, rows: NDArray[np.intp]) -> None:
        """Move one column after the other of some rows' guesses to its best, until none gains."""
        while rows.size:
            before = best.limit[rows]
            for column, guesses in enumerate(best.allowed):
                count = guesses.shape[1]
                which, guess = np.repeat(rows, count), np.tile(np.arange(count), rows.size)
                limits = self.limits(best.with_guess(which, column, guess)).reshape(-1, count)
                gained = limits.max(axis=1) > best.limit[rows] + _SURE
                moved = rows[gained]
                best.limit[moved] = limits.max(axis=1)[gained]
                guesses[moved] = False
                guesses[moved, first_largest(limits)[gained]] = True
            rows = rows[best.limit[rows] > before + _SURE]

    def split(self, nodes: _Nodes, best: _Nodes) -> _Nodes:
        """Split each node by the guesses of the column that tightens the bound most."""
        floor = best.limit[nodes.row] + _SURE
        choice, value = np.zeros(nodes.row.size, dtype=np.intp), np.full(nodes.row.size, np.inf)
        tried: list[tuple[NDArray[np.intp], NDArray[np.intp], Floats]] = []
        for column, guesses in enumerate(nodes.allowed):
            which, guess = np.nonzero(guesses)
            limits = self.limits(nodes.with_guess(which, column, guess))
            maxima = np.zeros(nodes.row.size)
            np.maximum.at(maxima, which, limits)
            # One guess alone splits nothing.
            maxima[guesses.sum(axis=1) == 1] = np.inf
            choice, value = np.where(maxima < value, column, choice), np.minimum(maxima, value)
            tried.append((which, guess, limits))
        alone = np.isinf(value)  # nodes of a single guess: what was found is what it reaches
        which, _, limits = tried[0]
        better = alone[which] & (limits > best.limit[nodes.row[which]])
        for best_guesses, guesses in zip(best.allowed, nodes.allowed, strict=True):
            best_guesses[nodes.row[which[better]]] = guesses[which[better]]
        best.limit[nodes.row[which[better]]] = limits[better]
        for guesses, (which, guess, limits) in zip(nodes.allowed, tried, strict=True):
            out = limits <= floor[which]
            guesses[which[out], guess[out]] = False
        parts: list[_Nodes] = []
        for column, (which, guess, limits) in enumerate(tried):
            mask = (choice[which] == column) & (limits > floor[which])
            children = nodes.with_guess(which[mask], column, guess[mask])
            children.limit = np.minimum(limits[mask], children.limit)
            parts.append(children)
        return reduce(_joined, parts)

    def limits(self, nodes: _Nodes) -> Floats:
        """Bound the chance of the best of each node's guesses; exact for a single guess."""
        parts = range(0, nodes.row.size, self.many)
        some = [nodes.some(np.arange(a, min(a + self.many, nodes.row.size))) for a in parts]
        return np.concatenate([np.empty(0), *map(self._limits, some)])

    def _limits(self, nodes: _Nodes) -> Floats:
        rows = self.rows[nodes.row]

        def message(step: Step, law: Floats) -> Floats:
            # Right with the guess, and exactly so many others: (rows, given ..., counts, guesses).
            right = np.moveaxis(law, -2, -1) @ self.sets[step.column]
            barred = ~nodes.allowed[step.column].reshape(len(rows), *(1,) * (right.ndim - 2), -1)
            gain = np.where(barred, 0.0, right).max(axis=-1)
            others = law.sum(axis=-2)
            tail = np.zeros((*gain.shape[:-1], gain.shape[-1] + 1))
            tail[..., :-1] = others[..., ::-1].cumsum(axis=-1)[..., ::-1]
            tail[..., 1:] += gain
            masses = tail.copy()
            masses[..., :-1] -= tail[..., 1:]
            return np.maximum(masses, 0.0)

        total = _counted(self.chain, rows, message)
        return np.minimum(total[:, self.least :].sum(axis=1), 1.0)


def _joined(one: _Nodes, other: _Nodes) -> _Nodes:
    allowed = [np.concatenate(pair) for pair in zip(one.allowed, other.allowed, strict=True)]
    limit = np.concatenate([one.limit, other.limit])
    return _Nodes(np.concatenate([one.row, other.row]), allowed, limit)
