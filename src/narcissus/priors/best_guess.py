"""The best prior chance that at least so many columns of a guess are right, over all guesses.

There are as many guesses as joint values, and which is best is hard to find. Let the guess of a
column depend on the columns that it is tied to, as no guess may: then the best is found column by
column, and no guess does better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.priors.elimination import Chain, chains, marginals, row_count
from narcissus.priors.elimination_order import elimination_order
from narcissus.priors.factors import Factors, Floats
from narcissus.priors.right_columns import sum_law, widen

_BLOCK = 4_000_000  # numbers that are held at once
_SURE = 1e-9  # differences of chances below this are rounding


def best_guess_limit(
    factors: Factors, at_least: int, covers: Sequence[ArrayLike] | None = None, rounds: int = 3
) -> tuple[Floats, Floats]:
    """Limit the largest chance of any guess that at least so many columns are right.

    Parameters
    ----------
    factors
        See `Factors`.
    at_least
        From 1 to the number of columns.
    covers
        For each column which values each guess of it covers, 0 or 1, shape (size, guesses);
        default one guess a value.
    rounds
        How often the guesses of a row are split further, at most. Each takes about as many times
        as long as the limit without, 0, as there are guesses of all columns together.

    Returns
    -------
    floor, limit
        What some guess reaches, and what none exceeds; shapes (rows,). They differ by 1e-9 where
        the best guess was found.

    Notes
    -----
    *Proof.* Let ``U(k | s)`` be, for the columns that hang on a column and for given values ``s``
    of those that it is tied to, a number that the chance of at least ``k`` right ones never
    exceeds, whatever is guessed of them. Columns that hang on different ones are independent given
    these, and a sum of independent counts is largest where each is, for every ``k`` at once. So the
    law of the sum of what these tails say is one of the same kind; the column's own guess adds the
    chance that it is right and the others are exactly ``k - 1``; and the largest over its guesses,
    for each ``k`` and ``s`` apart, is ``U``. Where a column has one guess left it depends on
    nothing. So guesses are split by the guess of one column after the other; those under which the
    limit falls below what some guess reaches are left out (branch and bound).
    """
    columns = len(factors.shape)
    least = integer("at_least", at_least, low=1, high=columns)
    sets = [np.eye(size) for size in factors.shape] if covers is None else _checked(covers, factors)
    turns = integer("rounds", rounds, low=0)
    floor, limit = np.empty(row_count(factors)), np.empty(row_count(factors))
    each = marginals(factors)
    steps = elimination_order(factors.shape, factors.scopes)
    copies = max(s.shape[1] / s.shape[0] for s in sets) + 2
    width = sum(step.cells(factors.shape) for step in steps) * (columns + 1) * copies
    for part, chain in chains(factors, "sum", copies=4):
        many = max(1, int(_BLOCK / width))
        for start in range(part.start, part.stop, many):
            own = np.arange(start, min(start + many, part.stop))
            modes = [(rows[own] @ s).argmax(axis=1) for rows, s in zip(each, sets, strict=True)]
            search = _Search(chain, own - part.start, sets, least, many)
            floor[own], limit[own] = search.run(modes, turns)
    return floor, limit


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
    """Sets of guesses: whose, which guesses of each column, and what none of them exceeds."""

    row: NDArray[np.intp]
    allowed: list[NDArray[np.bool_]]
    limit: Floats

    def some(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> _Nodes:
        """Give some of them."""
        return _Nodes(self.row[which], [a[which] for a in self.allowed], self.limit[which])

    def with_guess(self, which: NDArray[np.intp], column: int, guess: NDArray[np.intp]) -> _Nodes:
        """Give some of them, each with only one guess of a column."""
        chosen = self.some(which)
        chosen.allowed[column] = np.zeros_like(chosen.allowed[column])
        chosen.allowed[column][np.arange(guess.size), guess] = True
        return chosen


class _Search:
    """The best guess of some rows of a chain, by branch and bound."""

    def __init__(
        self, chain: Chain, rows: NDArray[np.intp], sets: list[Floats], least: int, many: int
    ) -> None:
        self.chain, self.rows, self.sets = chain, rows, sets
        self.least, self.many = least, many

    def run(self, modes: list[NDArray[np.intp]], rounds: int) -> tuple[Floats, Floats]:
        """Give the chance of the best guess found, and the limit of all, by row."""
        every = np.arange(self.rows.size)
        shapes = [(every.size, s.shape[1]) for s in self.sets]
        best = _Nodes(every, [np.zeros(s, dtype=bool) for s in shapes], np.zeros(every.size))
        for column, mode in zip(best.allowed, modes, strict=True):
            column[every, mode] = True
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
        return best.limit, np.minimum(limit + _SURE, 1.0)

    def climb(self, best: _Nodes, rows: NDArray[np.intp]) -> None:
        """Move one column after the other of some rows' guesses to its best, until none gains."""
        while rows.size:
            before = best.limit[rows]
            for column, guesses in enumerate(best.allowed):
                count = guesses.shape[1]
                which, guess = np.repeat(rows, count), np.tile(np.arange(count), rows.size)
                found = self.limits(best.with_guess(which, column, guess)).reshape(-1, count)
                gained = found.max(axis=1) > best.limit[rows] + _SURE
                moved = rows[gained]
                best.limit[moved] = found.max(axis=1)[gained]
                guesses[moved] = False
                guesses[moved, found.argmax(axis=1)[gained]] = True
            rows = rows[best.limit[rows] > before + _SURE]

    def split(self, nodes: _Nodes, best: _Nodes) -> _Nodes:
        """Replace each node by those with one guess of a column: that which limits them most."""
        floor = best.limit[nodes.row] + _SURE
        choice, value = np.zeros(nodes.row.size, dtype=np.intp), np.full(nodes.row.size, np.inf)
        tried: list[tuple[NDArray[np.intp], NDArray[np.intp], Floats]] = []
        for column, guesses in enumerate(nodes.allowed):
            which, guess = np.nonzero(guesses)
            found = self.limits(nodes.with_guess(which, column, guess))
            most = np.zeros(nodes.row.size)
            np.maximum.at(most, which, found)
            # One guess alone splits nothing.
            most[guesses.sum(axis=1) == 1] = np.inf
            choice, value = np.where(most < value, column, choice), np.minimum(most, value)
            tried.append((which, guess, found))
        alone = np.isinf(value)  # nodes of a single guess: what was found is what it reaches
        which, _, found = tried[0]
        np.maximum.at(best.limit, nodes.row[which[alone[which]]], found[alone[which]])
        for guesses, (which, guess, found) in zip(nodes.allowed, tried, strict=True):
            out = found <= floor[which]
            guesses[which[out], guess[out]] = False
        parts: list[_Nodes] = []
        for column, (which, guess, found) in enumerate(tried):
            kept = (choice[which] == column) & (found > floor[which])
            children = nodes.with_guess(which[kept], column, guess[kept])
            children.limit = np.minimum(found[kept], children.limit)
            parts.append(children)
        return reduce(_joined, parts)

    def limits(self, nodes: _Nodes) -> Floats:
        """Limit the chance of the best of each node's guesses; exactly where there is one."""
        parts = range(0, nodes.row.size, self.many)
        some = [nodes.some(np.arange(a, min(a + self.many, nodes.row.size))) for a in parts]
        return np.concatenate([np.empty(0), *map(self._limits, some)])

    def _limits(self, nodes: _Nodes) -> Floats:
        waiting: list[tuple[tuple[int, ...], Floats]] = []
        rows = self.rows[nodes.row]
        for number in reversed(range(len(self.chain.steps))):
            step = self.chain.steps[number]
            law = np.exp(self.chain.table(number, rows))[..., None]
            for given, message in [w for w in waiting if step.column in w[0]]:
                law = sum_law(law, widen(message, given, step.clique))
            waiting = [w for w in waiting if step.column not in w[0]]
            # Right with the guess, and exactly so many others: (rows, given ..., counts, guesses).
            right = np.moveaxis(law, -2, -1) @ self.sets[step.column]
            barred = ~nodes.allowed[step.column].reshape(len(rows), *(1,) * (right.ndim - 2), -1)
            gain = np.where(barred, 0.0, right).max(axis=-1)
            others = law.sum(axis=-2)
            tail = np.zeros((*gain.shape[:-1], gain.shape[-1] + 1))
            tail[..., :-1] = others[..., ::-1].cumsum(axis=-1)[..., ::-1]
            tail[..., 1:] += gain
            own = tail.copy()
            own[..., :-1] -= tail[..., 1:]
            waiting.append((step.given, np.maximum(own, 0.0)))
        total = np.ones((len(rows), 1))
        for _, message in waiting:
            total = sum_law(total, message)
        return np.minimum(total[:, self.least :].sum(axis=1), 1.0)


def _joined(one: _Nodes, other: _Nodes) -> _Nodes:
    allowed = [np.concatenate(pair) for pair in zip(one.allowed, other.allowed, strict=True)]
    limit = np.concatenate([one.limit, other.limit])
    return _Nodes(np.concatenate([one.row, other.row]), allowed, limit)
