"""Structure of a Bayesian network by search on a decomposable score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from narcissus.priors._search_exact import TIE, Parents, Score, best_structure
from narcissus.priors.base import row_keys


def climb_structure(d: int, max_parents: int, score: Score) -> Parents:
    """Take the best addition, removal or reversal of an edge, again and again.

    The walk starts without edges and never comes back to a graph it has seen; where no step
    raises the score it takes the one that loses least, until ``d`` steps in a row have brought
    nothing new. It is deterministic.

    Parameters
    ----------
    d
        Number of columns.
    max_parents
        Most parents of a column.
    score
        Score of a column given its parents (rising positions); higher is better.
    """
    current: Parents = tuple(() for _ in range(d))
    level = best_level = 0.0  # scores are counted from the graph without edges
    best = current
    seen: set[Parents] = {current}
    idle = 0
    while idle <= d:
        for step in _moves(current, max_parents, score):
            following = _moved(current, *step[1:])
            if following not in seen and _acyclic(following):
                break
        else:
            break
        current, level = following, level + step[0]
        seen.add(current)
        idle += 1
        if level > best_level + TIE:
            best, best_level, idle = current, level, 0
    return best


def _moves(parents: Parents, max_parents: int, score: Score) -> list[tuple[float, int, int, str]]:
    """List all steps from a graph, best first, whether or not they keep it acyclic."""
    moves: list[tuple[float, int, int, str]] = []
    d = len(parents)
    for child in range(d):
        own = parents[child]
        level = score(child, own)
        for p in range(d):
            if p in own:
                removal = score(child, _without(own, p)) - level
                moves.append((removal, child, p, "remove"))
                if len(parents[p]) < max_parents and child not in parents[p]:
                    turned = score(p, _with(parents[p], child)) - score(p, parents[p])
                    moves.append((removal + turned, child, p, "reverse"))
            elif p != child and len(own) < max_parents:
                moves.append((score(child, _with(own, p)) - level, child, p, "add"))
    possible = (move for move in moves if math.isfinite(move[0]))
    # Rounded, so that ties, which equivalent graphs make often, break the same way everywhere.
    return sorted(possible, key=lambda move: (-round(move[0], 6), *move[1:]))


def _moved(parents: Parents, child: int, p: int, kind: str) -> Parents:
    """Give the graph after a step."""
    graph = list(parents)
    graph[child] = _with(graph[child], p) if kind == "add" else _without(graph[child], p)
    if kind == "reverse":
        graph[p] = _with(graph[p], child)
    return tuple(graph)


def _with(parents: tuple[int, ...], new: int) -> tuple[int, ...]:
    return tuple(sorted((*parents, new)))


def _without(parents: tuple[int, ...], old: int) -> tuple[int, ...]:
    return tuple(p for p in parents if p != old)


def _acyclic(parents: Sequence[tuple[int, ...]]) -> bool:
    """Say whether the columns can be put in an order with every parent before its children."""
    placed: set[int] = set()
    waiting = set(range(len(parents)))
    while ready := {j for j in waiting if placed.issuperset(parents[j])}:
        placed |= ready
        waiting -= ready
    return not waiting


Counts = Callable[[int, tuple[int, ...]], NDArray[np.float64]]

_STEP = 2**18  # records that are counted at a time
_MOST_CELLS = 4_000_000  # a larger table cannot pay for its parameters with the rows we read
_MOST_EXACT_COLUMNS = 18
_MOST_EXACT_FAMILIES = 100_000
_MOST_EXACT_WORK = 4_000_000_000  # families times rows to count them in: some 20 seconds


def search_structure(
    codes: NDArray[np.integer],
    sizes: Sequence[int],
    max_parents: int,
    score: str,
    people: NDArray[np.int64] | None = None,
) -> tuple[Parents, Counts]:
    """Find parents for every column; give them and the function that counts a family.

    The exact optimum where it is within reach (at most 18 columns and 100,000 families of a column
    with its parents, fewer in very long tables; some 20 seconds), hill climbing otherwise.

    Parameters
    ----------
    codes
        Shape (n, d).
    sizes
        Number of values of each column.
    max_parents
        Most parents of a column.
    score
        "bic" or "bdeu".
    people
        How many people have each record, if all are different; None: each row is a person.
    """
    families = _Families(codes, sizes, score, people)
    d = len(sizes)
    most = min(max_parents, d - 1)
    candidates = d * sum(math.comb(d - 1, k) for k in range(most + 1))
    exact = (
        d <= _MOST_EXACT_COLUMNS
        and candidates <= _MOST_EXACT_FAMILIES
        and candidates * families.length <= _MOST_EXACT_WORK
    )
    search = best_structure if exact else climb_structure
    return search(d, most, families.score), families.counts


class _Families:
    """Counts and scores of a column given parents; scores are kept."""

    def __init__(
        self,
        codes: NDArray[np.integer],
        sizes: Sequence[int],
        score: str,
        people: NDArray[np.int64] | None = None,
    ) -> None:
        self.sizes = tuple(sizes)
        self.rows = len(codes) if people is None else int(people.sum())
        self._score = _bic if score == "bic" else _bdeu
        self.weights = None if people is None else people.astype(np.float64)
        if people is None:
            keys = row_keys(codes, range(len(sizes)), sizes)
            _, first, times = np.unique(keys, return_index=True, return_counts=True)
            # Counting distinct rows with weights is worth it only where many repeat.
            if 2 * len(first) < len(codes):
                codes, self.weights = codes[first], times.astype(np.float64)
        # The same, whichever way the table was read.
        self.length = self.rows if 2 * len(codes) >= self.rows else len(codes)
        self.columns = [np.ascontiguousarray(column) for column in codes.T]
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}
        self._counted: dict[tuple[int, ...], NDArray[np.float64]] = {}
        self._room = _MOST_CELLS  # of all tables that are kept

    def counts(self, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
        """Count the rows of every joint value, shape (size of each parent ..., child's size)."""
        columns = tuple(sorted((child, *parents)))
        cells = self._counted.get(columns)  # whichever of them is the child
        if cells is None:
            cells = self._count(columns)
            self._room -= cells.size
            if self._room >= 0:
                self._counted[columns] = cells
        return np.ascontiguousarray(cells.transpose([columns.index(c) for c in (*parents, child)]))

    def _count(self, columns: tuple[int, ...]) -> NDArray[np.float64]:
        shape = tuple(self.sizes[c] for c in columns)
        cells = np.zeros(math.prod(shape))
        for start in range(0, len(self.columns[0]), _STEP):
            part = slice(start, start + _STEP)
            keys = self.columns[columns[0]][part].astype(np.int64)
            for column, size in zip(columns[1:], shape[1:], strict=True):
                keys *= size
                keys += self.columns[column][part]
            weights = None if self.weights is None else self.weights[part]
            cells += np.bincount(keys, weights=weights, minlength=len(cells))
        return cells.reshape(shape)

    def score(self, child: int, parents: tuple[int, ...]) -> float:
        """Score a column given its parents; higher is better."""
        key = (child, parents)
        if key not in self._known:
            if parents and self._hopeless(child, parents):
                self._known[key] = -math.inf
            else:
                table = self.counts(child, parents).reshape(-1, self.sizes[child])
                self._known[key] = self._score(table, self.rows)
        return self._known[key]

    def _hopeless(self, child: int, parents: tuple[int, ...]) -> bool:
        """Say, before counting, whether a family is too large to be worth it.

        A log likelihood is at most 0, so parents whose BIC penalty alone is worse than the score
        without any parents cannot be part of the best network.
        """
        configurations = math.prod(self.sizes[p] for p in parents)
        if configurations * self.sizes[child] > _MOST_CELLS:
            return True
        if self._score is _bdeu:
            return False
        return -_bic_penalty(configurations, self.sizes[child], self.rows) < self.score(child, ())


def _bic(counts: NDArray[np.float64], rows: int) -> float:
    """Maximal log likelihood of a table, less half its free parameters times log rows."""
    totals = counts.sum(axis=1)
    cells = counts[counts > 0]
    fit = float((cells * np.log(cells)).sum()) - float(
        (totals[totals > 0] * np.log(totals[totals > 0])).sum()
    )
    configurations, values = counts.shape
    return fit - _bic_penalty(configurations, values, rows)


def _bic_penalty(configurations: int, values: int, rows: int) -> float:
    """Half the number of free parameters times log rows."""
    return 0.5 * math.log(rows) * configurations * (values - 1)


def _bdeu(counts: NDArray[np.float64], rows: int) -> float:
    """Log marginal likelihood under uniform Dirichlet priors of equivalent sample size 1."""
    del rows
    configurations, values = counts.shape
    per_row, per_cell = 1 / configurations, 1 / (configurations * values)
    totals, cells = counts.sum(axis=1), counts[counts > 0]
    totals = totals[totals > 0]  # configurations that nobody has contribute nothing
    return float(
        (gammaln(per_row) - gammaln(per_row + totals)).sum()
        + (gammaln(per_cell + cells) - gammaln(per_cell)).sum()
    )
