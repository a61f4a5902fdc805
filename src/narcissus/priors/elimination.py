"""Exact answers about many unknown columns from their factors, by variable elimination.

Eliminating a column leaves a table of its contribution given the columns that it was tied to. Read
backwards these tables are a *chain*: each column given columns that come before it. Summed out, the
chain is the joint distribution (`log_partition`, `marginals`, `sample`); maximised out, it has for
every beginning the probability of its best continuation (`most_likely`, `likeliest`).

Answers that depend on the known columns alone are by row of the factors: index them with
``factors.rows`` for one a person.

Source: Koller and Friedman 2009, Probabilistic Graphical Models, chapters 9, 10 and 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import first_largest
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.bounds import ListedPriors, Listing
from narcissus.errors import InputError, TooLargeError
from narcissus.priors.factors import Codes, Factors, Floats

MAX_CLIQUE = 20_000_000
"""Most joint values of the columns that one step of an elimination looks at together."""

_Graph = dict[int, set[int]]
_Score = Callable[[_Graph, int, Sequence[int]], tuple[float, ...]]


@dataclass(frozen=True)
class Step:
    """One column that is summed out, and the columns it depends on at that point."""

    column: int
    given: tuple[int, ...]  # the columns still there that share a factor with it, ascending

    @property
    def clique(self) -> tuple[int, ...]:
        """All columns of the step, the one that leaves last."""
        return (*self.given, self.column)

    def cells(self, shape: Sequence[int]) -> int:
        return prod(shape[c] for c in self.clique)


def elimination_order(shape: Sequence[int], scopes: Iterable[Sequence[int]]) -> tuple[Step, ...]:
    """Choose an order of all columns: the cheapest of three greedy ones.

    They take next the column that adds the fewest links between its neighbours (min-fill), those
    links weighted by the sizes of what they join, or the column whose step is smallest. The best
    order of all is hard to find (NP-hard). ``scopes`` are the columns of each factor. Raises
    `TooLargeError` if a step of the best order found has more than `MAX_CLIQUE` joint values.

    Source: Koller and Friedman 2009, Probabilistic Graphical Models, section 9.4.3.
    """
    graph: _Graph = {c: set() for c in range(len(shape))}
    for scope in scopes:
        for c in scope:
            graph[c].update(set(scope) - {c})
    orders = [_greedy(graph, shape, score) for score in (_fill, _weighted_fill, _size)]
    steps = min(orders, key=lambda order: sum(step.cells(shape) for step in order))
    widest = max(steps, key=lambda step: step.cells(shape), default=None)
    if widest is not None and widest.cells(shape) > MAX_CLIQUE:
        raise TooLargeError(
            f"the prior ties {len(widest.clique)} unknown columns together with "
            f"{widest.cells(shape):,} joint values, at most {MAX_CLIQUE:,} are taken at the same "
            "time; fit a network with fewer parents, or take fewer or coarser unknown columns"
        )
    return steps


def _greedy(graph: _Graph, shape: Sequence[int], score: _Score) -> tuple[Step, ...]:
    left = {c: set(near) for c, near in graph.items()}
    steps: list[Step] = []
    while left:
        column = min(left, key=lambda c: (*score(left, c, shape), c))
        near = left.pop(column)
        for c in near:
            left[c] |= near - {c}
            left[c].discard(column)
        steps.append(Step(column, tuple(sorted(near))))
    return tuple(steps)


def _missing(graph: _Graph, column: int) -> list[tuple[int, int]]:
    near = sorted(graph[column])
    return [(a, b) for i, a in enumerate(near) for b in near[i + 1 :] if b not in graph[a]]


def _size(graph: _Graph, column: int, shape: Sequence[int]) -> tuple[float, ...]:
    return (prod(shape[c] for c in graph[column]) * shape[column],)


def _fill(graph: _Graph, column: int, shape: Sequence[int]) -> tuple[float, ...]:
    return (len(_missing(graph, column)), *_size(graph, column, shape))


def _weighted_fill(graph: _Graph, column: int, shape: Sequence[int]) -> tuple[float, ...]:
    links = sum(shape[a] * shape[b] for a, b in _missing(graph, column))
    return (links, *_size(graph, column, shape))


_BLOCK = 8_000_000  # numbers that are held at once

How = Literal["sum", "max"]


@dataclass(frozen=True, eq=False)
class Chain:
    """The weights of some rows of factors as a product, each column given earlier ones.

    ``weight(x) = exp(total + sum of a table each at x)``. A table has shape (rows or 1, size of
    each given column ..., own size), one row where all rows have the same. Summed out: the
    logarithm of the column's probability given those before. Maximised out: by how much the
    logarithm of the best completion falls, at most 0.
    """

    # the columns in the order in which they are drawn, with those they depend on
    steps: tuple[Step, ...]
    tables: tuple[Floats, ...]  # one for each step
    total: Floats  # logarithm of the sum, or of the largest, of all weights; shape (rows,)

    def table(self, number: int, row: NDArray[np.integer]) -> Floats:
        """Return a step's table for each of some rows, shape (number of rows, ...)."""
        table = self.tables[number]
        return table[row if len(table) > 1 else np.zeros_like(row)]


def chains(factors: Factors, how: How, copies: int = 1) -> Iterator[tuple[slice, Chain]]:
    """Eliminate all columns, for as many rows at a time as fit into memory.

    The caller holds ``copies`` numbers for each number of a chain. Raises `TooLargeError` where too
    many columns are tied together (see `elimination_order`), `InputError` where every joint value
    of some row is impossible.
    """
    steps = elimination_order(factors.shape, factors.scopes)
    width = sum(step.cells(factors.shape) for step in steps)
    each = max(1, _BLOCK // max(1, width * copies))
    count = row_count(factors)
    for start in range(0, count, each):
        part = slice(start, min(start + each, count))
        # What all rows share, factors without a known column, is stored and computed once.
        tables = [t[:1] if t.strides[0] == 0 else t[part] for t in factors.tables]
        chain = _eliminate(factors.shape, factors.scopes, tables, steps, how)
        total = np.broadcast_to(chain.total, (part.stop - part.start,))
        if np.isneginf(total).any():
            row = start + int(np.argmax(np.isneginf(total)))
            who = int(np.argmax(factors.rows == row))
            raise InputError(
                f"the known columns of person {who} are impossible under this prior: "
                "smooth it, or leave the person out"
            )
        yield part, Chain(chain.steps, chain.tables, total)


def row_count(factors: Factors) -> int:
    if factors.tables:
        return len(factors.tables[0])
    return int(factors.rows.max(initial=-1)) + 1


def _eliminate(
    shape: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    tables: Sequence[Floats],
    steps: Sequence[Step],
    how: How,
) -> Chain:
    waiting: list[tuple[tuple[int, ...], Floats]] = list(zip(scopes, tables, strict=True))
    conditionals: list[Floats] = []
    total = np.zeros(1)
    for step in steps:
        mine = [(scope, table) for scope, table in waiting if step.column in scope]
        waiting = [(scope, table) for scope, table in waiting if step.column not in scope]
        table = np.zeros((1, *(shape[c] for c in step.clique)))
        for scope, part in mine:
            table = table + spread(part, scope, step.clique)
        message = table.max(axis=-1) if how == "max" else _log_sum(table)
        # What cannot be before cannot be after; the difference of two infinities is none.
        table -= np.where(np.isneginf(message), 0.0, message)[..., None]
        conditionals.append(table)
        if step.given:
            waiting.append((step.given, message))
        else:
            total = total + message
    return Chain(tuple(reversed(steps)), tuple(reversed(conditionals)), total)


def spread(table: Floats, scope: Sequence[int], onto: Sequence[int]) -> Floats:
    """Lay a table (rows, size of each column of ``scope`` ...) along the axes of ``onto``.

    Axes that it lacks have size 1.
    """
    columns = [c for c in onto if c in scope]
    axes = [1 + list(scope).index(c) for c in columns]
    moved = table.transpose(0, *axes)
    sizes = dict(zip(columns, moved.shape[1:], strict=True))
    return moved.reshape(len(table), *(sizes.get(c, 1) for c in onto))


def _log_sum(table: Floats) -> Floats:
    top = table.max(axis=-1)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(table - shift[..., None]).sum(axis=-1)) + shift


def log_partition(factors: Factors) -> Floats:
    """Compute the logarithm of the sum of all weights, shape (rows,); see `chains` for errors."""
    return np.concatenate([np.empty(0), *(chain.total for _, chain in chains(factors, "sum"))])


def log_probability(factors: Factors, values: ArrayLike) -> Floats:
    """Compute the logarithm of the probability of one joint value for each person, shape (n,).

    ``values`` are value numbers of the unknown columns, shape (n, columns).
    """
    split = check_values(factors, values)
    return factors.log_weights(split) - log_partition(factors)[factors.rows]


def marginals(factors: Factors) -> tuple[Floats, ...]:
    """Compute each column's exact distribution given the known ones, shapes (rows, size)."""
    count = row_count(factors)
    answer = tuple(np.empty((count, size)) for size in factors.shape)
    for part, chain in chains(factors, "sum", copies=3):
        joints: dict[int, tuple[tuple[int, ...], Floats]] = {}
        for step, table in zip(chain.steps, chain.tables, strict=True):
            joint = np.exp(table)
            if step.given:
                # The given columns stood together when the first of them left.
                drawn = list(joints)
                clique, above = joints[max(step.given, key=drawn.index)]
                others = tuple(1 + i for i, c in enumerate(clique) if c not in step.given)
                left = [c for c in clique if c in step.given]
                joint = joint * spread(above.sum(axis=others), left, step.given)[..., None]
            joints[step.column] = (step.clique, joint)
            marginal = joint.reshape(len(joint), -1, joint.shape[-1]).sum(axis=1)
            answer[step.column][part] = marginal / marginal.sum(axis=1, keepdims=True)
    return answer


def most_likely(factors: Factors) -> Codes:
    """Find the joint value of the largest probability, shape (rows, columns)."""
    answer = np.zeros((row_count(factors), len(factors.shape)), dtype=np.int32)
    for part, chain in chains(factors, "max"):
        row = np.arange(part.stop - part.start)
        for number, step in enumerate(chain.steps):
            condition = tuple(answer[part, c] for c in step.given)
            table_rows = row if len(chain.tables[number]) > 1 else np.zeros_like(row)
            answer[part, step.column] = first_largest(
                chain.tables[number][(table_rows, *condition)]
            )
    return answer


def sample(factors: Factors, draws: int, *, rng: RandomSource = None) -> Codes:
    """Draw independent joint values of each person, shape (n, draws, columns)."""
    count = integer("draws", draws, low=0)
    uniform = generator(rng).random((factors.people, count, len(factors.shape)))
    answer = np.zeros(uniform.shape, dtype=np.int32)
    for part, chain in chains(factors, "sum", copies=3):
        people = np.flatnonzero((factors.rows >= part.start) & (factors.rows < part.stop))
        row = np.repeat(factors.rows[people] - part.start, count)
        drawn = np.zeros((row.size, len(factors.shape)), dtype=np.int32)
        chance = uniform[people].reshape(drawn.shape)
        for table, step in zip(chain.tables, chain.steps, strict=True):
            below = np.exp(table).cumsum(axis=-1)[..., :-1]
            each = max(1, _BLOCK // factors.shape[step.column])
            for start in range(0, row.size, each):
                some = slice(start, start + each)
                table_rows = row[some] if len(table) > 1 else np.zeros_like(row[some])
                condition = tuple(drawn[some, c] for c in step.given)
                passed = below[(table_rows, *condition)] <= chance[some, step.column, None]
                drawn[some, step.column] = passed.sum(axis=-1)
        answer[people] = drawn.reshape(answer[people].shape)
    return answer


def check_values(factors: Factors, values: ArrayLike) -> NDArray[np.intp]:
    """Check one joint value a person, and return them as an array of shape (n, columns)."""
    split = np.asarray(values)
    wanted = (factors.people, len(factors.shape))
    if split.shape != wanted or not np.issubdtype(split.dtype, np.integer):
        raise InputError(
            f"`values` must be whole numbers of shape {wanted}, one joint value a person, "
            f"got {split.dtype} of shape {split.shape}"
        )
    if ((split < 0) | (split >= np.array(factors.shape))).any():
        raise InputError(
            f"`values` must lie below the sizes of the unknown columns, {factors.shape}"
        )
    return split.astype(np.intp)


_CELLS = 4_000_000  # continuations that are held at once
_LISTED = 2_000_000  # values of several rows that are listed at once


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The likeliest joint values of each row of factors."""

    # where each row's values begin, and the end of the last; shape (rows + 1,)
    starts: NDArray[np.intp]
    # value numbers of the unknown columns, shape (listed, columns); each row's likeliest
    # first
    values: Codes
    log_probabilities: Floats  # natural logarithms, shape (listed,)
    # for each row the log of the largest probability not listed, shape (rows,); minus
    # infinity where every possible joint value is listed
    unlisted: Floats


def likeliest(
    factors: Factors, most: int, least: ArrayLike = 0.0, rows: ArrayLike | None = None
) -> Likeliest:
    """List the joint values of probability at least ``least``, at most the ``most`` likeliest.

    ``least`` is a number for each of ``rows``, or one for all; ``rows`` are by default all rows of
    the factors. The chain of the maximised columns has for every beginning of a joint value the
    probability of its best completion. So a beginning below ``least`` is left out with all that
    follows. Of more than ``most`` beginnings only the best ``most`` are followed, since each of
    these leads to a separate value that is at least as likely as all that the others lead to. No
    search ever returns with nothing, and the best beginning left out is the likeliest value not
    listed.
    """
    bound = integer("most", most, low=1)
    count = row_count(factors)
    targets = np.arange(count) if rows is None else np.asarray(rows, dtype=np.intp)
    if targets.size and (targets.min() < 0 or targets.max() >= count):
        raise InputError(f"`rows` must be numbers below {count}")
    with np.errstate(divide="ignore"):
        floor = np.broadcast_to(np.log(np.asarray(least, dtype=np.float64)), targets.shape)
    some = factors if rows is None else factors.of_rows(targets)
    scale = log_partition(some)
    each = max(1, _LISTED // bound)
    listings: list[Likeliest] = []
    for part, chain in chains(some, "max"):
        for start in range(part.start, part.stop, each):
            block = np.arange(start, min(start + each, part.stop))
            listings.append(_search(chain, block - part.start, scale[block], floor[block], bound))
    return _joined(listings, len(factors.shape))


def listing(factors: Factors) -> Listing:
    """Return a lister of the likeliest joint values for `narcissus.bounds.optimum_by_listing`.

    Its targets are the rows of the factors.
    """

    def listed(rows: NDArray[np.intp], most: int, least: Floats) -> ListedPriors:
        ranking = likeliest(factors, most, least, rows)
        count = np.diff(ranking.starts)
        masses = np.zeros((rows.size, max(1, count.max(initial=0))))
        row = np.repeat(np.arange(rows.size), count)
        masses[row, np.arange(row.size) - ranking.starts[row]] = np.exp(ranking.log_probabilities)
        # Rounding must not put the limit of the others below one of them.
        return ListedPriors(masses, np.exp(ranking.unlisted) * (1 + 1e-9))

    return listed


@dataclass
class _Beginnings:
    row: NDArray[np.intp]
    values: Codes
    score: Floats


def _search(
    chain: Chain, rows: NDArray[np.intp], scale: Floats, least: Floats, most: int
) -> Likeliest:
    columns = len(chain.steps)
    here = _Beginnings(
        np.arange(rows.size),
        np.zeros((rows.size, columns), dtype=np.int32),
        chain.total[rows] - scale,
    )
    floor, unlisted = least.copy(), np.full(rows.size, -np.inf)
    here = _pruned(here, here.score >= floor[here.row], unlisted)
    for number, step in enumerate(chain.steps):
        table = chain.tables[number]
        beginnings: list[_Beginnings] = []
        each = max(1, _CELLS // table.shape[-1])
        for start in range(0, here.row.size, each):
            some = slice(start, start + each)
            row, values = here.row[some], here.values[some]
            table_rows = rows[row] if len(table) > 1 else np.zeros_like(row)
            condition = tuple(values[:, c] for c in step.given)
            score = here.score[some, None] + table[(table_rows, *condition)]
            old, value = np.nonzero((score >= floor[row, None]) & (score > -np.inf))
            longer = _Beginnings(row[old], values[old], score[old, value])
            longer.values[:, step.column] = value
            score[old, value] = -np.inf
            np.maximum.at(unlisted, row, score.max(axis=1))
            beginnings.append(_best(longer, most, floor, unlisted))
        here = _best(_together(beginnings, here), most, floor, unlisted)
    order = np.lexsort((-here.score, here.row))
    starts = np.searchsorted(here.row[order], np.arange(rows.size + 1))
    return Likeliest(starts, here.values[order], here.score[order], unlisted)


def _best(some: _Beginnings, most: int, floor: Floats, unlisted: Floats) -> _Beginnings:
    """Keep each row's ``most`` best; whatever is below the last of them need not be followed."""
    counts = np.bincount(some.row, minlength=floor.size)
    if counts.max(initial=0) <= most:
        return some
    keep = np.ones(some.row.size, dtype=bool)
    ends = np.cumsum(counts)
    for row in np.flatnonzero(counts > most):
        block = slice(ends[row] - counts[row], ends[row])
        score = some.score[block]
        last = np.partition(score, score.size - most)[score.size - most]
        better = score > last
        better[np.flatnonzero(score == last)[: most - better.sum()]] = True
        keep[block] = better
        floor[row] = max(floor[row], last)
    return _pruned(some, keep, unlisted)


def _pruned(some: _Beginnings, keep: NDArray[np.bool_], unlisted: Floats) -> _Beginnings:
    """Leave some out, and record the best of these."""
    np.maximum.at(unlisted, some.row[~keep], some.score[~keep])
    return _Beginnings(some.row[keep], some.values[keep], some.score[keep])


def _together(parts: list[_Beginnings], none: _Beginnings) -> _Beginnings:
    if len(parts) == 1:
        return parts[0]
    parts = parts or [_pruned(none, np.zeros(none.row.size, dtype=bool), np.empty(0))]
    return _Beginnings(
        np.concatenate([p.row for p in parts]),
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.score for p in parts]),
    )


def _joined(parts: list[Likeliest], columns: int) -> Likeliest:
    counts = [np.diff(p.starts) for p in parts]
    return Likeliest(
        np.cumsum(np.concatenate([np.zeros(1, dtype=np.intp), *counts])),
        np.concatenate([np.empty((0, columns), dtype=np.int32), *(p.values for p in parts)]),
        np.concatenate([np.empty(0), *(p.log_probabilities for p in parts)]),
        np.concatenate([np.empty(0), *(p.unlisted for p in parts)]),
    )
