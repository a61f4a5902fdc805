"""The likeliest joint values of many unknown columns, in order, without listing the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import integer
from narcissus.bounds import ListedPriors, Listing
from narcissus.errors import InputError
from narcissus.priors.elimination import Chain, chains, log_partition, row_count
from narcissus.priors.factors import Codes, Factors, Floats

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
    the factors. Errors are those of `narcissus.priors.elimination.chains`.

    Notes ----- The chain of the maximised columns has for every beginning of a joint value the
    probability of its best completion. So a beginning below ``least`` is left out with all that
    follows. Of more than ``most`` beginnings only the best ``most`` are followed, since each of
    these leads to a value of its own that is at least as likely as all that the others lead to. No
    search ever returns with nothing, and the best beginning left out is the likeliest value not
    listed.
    """
    bound = integer("most", most, low=1)
    count = row_count(factors)
    asked = np.arange(count) if rows is None else np.asarray(rows, dtype=np.intp)
    if asked.size and (asked.min() < 0 or asked.max() >= count):
        raise InputError(f"`rows` must be numbers below {count}")
    with np.errstate(divide="ignore"):
        floor = np.broadcast_to(np.log(np.asarray(least, dtype=np.float64)), asked.shape)
    some = factors if rows is None else factors.of_rows(asked)
    scale = log_partition(some)
    each = max(1, _LISTED // bound)
    found: list[Likeliest] = []
    for part, chain in chains(some, "max"):
        for start in range(part.start, part.stop, each):
            own = np.arange(start, min(start + each, part.stop))
            found.append(_search(chain, own - part.start, scale[own], floor[own], bound))
    return _joined(found, len(factors.shape))


def listing(factors: Factors) -> Listing:
    """Return a lister of the likeliest joint values for `narcissus.bounds.optimum_by_listing`.

    Its targets are the rows of the factors.
    """

    def listed(rows: NDArray[np.intp], most: int, least: Floats) -> ListedPriors:
        found = likeliest(factors, most, least, rows)
        count = np.diff(found.starts)
        masses = np.zeros((rows.size, max(1, count.max(initial=0))))
        row = np.repeat(np.arange(rows.size), count)
        masses[row, np.arange(row.size) - found.starts[row]] = np.exp(found.log_probabilities)
        # Rounding must not put the limit of the others below one of them.
        return ListedPriors(masses, np.exp(found.unlisted) * (1 + 1e-9))

    return listed


@dataclass
class _Beginnings:
    """Beginnings of joint values: rows, values, and the probability of the best completion."""

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
        kept: list[_Beginnings] = []
        each = max(1, _CELLS // table.shape[-1])
        for start in range(0, here.row.size, each):
            some = slice(start, start + each)
            row, values = here.row[some], here.values[some]
            own = rows[row] if len(table) > 1 else np.zeros_like(row)
            given = tuple(values[:, c] for c in step.given)
            score = here.score[some, None] + table[(own, *given)]
            old, value = np.nonzero((score >= floor[row, None]) & (score > -np.inf))
            longer = _Beginnings(row[old], values[old], score[old, value])
            longer.values[:, step.column] = value
            score[old, value] = -np.inf
            np.maximum.at(unlisted, row, score.max(axis=1))
            kept.append(_best(longer, most, floor, unlisted))
        here = _best(_together(kept, here), most, floor, unlisted)
    order = np.lexsort((-here.score, here.row))
    starts = np.searchsorted(here.row[order], np.arange(rows.size + 1))
    return Likeliest(starts, here.values[order], here.score[order], unlisted)


def _best(some: _Beginnings, most: int, floor: Floats, unlisted: Floats) -> _Beginnings:
    """Keep each row's ``most`` best; whatever is below the last of them need not be followed.

    The rows are in ascending order.
    """
    counts = np.bincount(some.row, minlength=floor.size)
    if counts.max(initial=0) <= most:
        return some
    keep = np.ones(some.row.size, dtype=bool)
    ends = np.cumsum(counts)
    for row in np.flatnonzero(counts > most):
        own = slice(ends[row] - counts[row], ends[row])
        score = some.score[own]
        last = np.partition(score, score.size - most)[score.size - most]
        better = score > last
        better[np.flatnonzero(score == last)[: most - better.sum()]] = True
        keep[own] = better
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
