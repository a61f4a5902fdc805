"""Values of a person under the names of other columns: partners exchanged, months moved by one.

Columns by name show nothing of it. So people and rows are compared by the values that they share
under different names, where few people have these. Of people and rows of one law, a person and a
row share no more of them than two people share by any columns, or two rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.full_files import WholeColumn, WholeFiles
from narcissus.synthetic.near_copies import MOST_NEARER, NEAREST_OTHERS, NearerPeople

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
_FEWEST = 20  # people and rows
_SPREAD = 20  # fewest different values of a column
_RARE = 0.05  # share of people and rows that have a value at most
_BLOCK = 512  # people who are compared at a time
_DIGITS = 9  # that numbers are compared by


@dataclass(frozen=True)
class _Bags:
    """The rare values of everybody, weighted by how rare these are."""

    anywhere: Any  # sparse, shape (people and rows, values)
    by_name: Any  # the same of each column, shape (people and rows, columns and values)

    def shared(self, some: Positions, others: Positions, *, elsewhere: bool) -> Numbers:
        """Return the most that each shares with another, shape (some,).

        elsewhere: Values under different names alone.
        """
        highest = np.zeros(len(some))
        there, named = self.anywhere[others].T.tocsr(), self.by_name[others].T.tocsr()
        for start in range(0, len(some), _BLOCK):
            at = some[start : start + _BLOCK]
            both = self.anywhere[at] @ there
            if elsewhere:
                both = both - self.by_name[at] @ named
            scores = both.toarray()
            scores[at[:, None] == others[None]] = 0.0
            highest[start : start + _BLOCK] = scores.max(axis=1)
        return highest


def people_elsewhere(files: WholeFiles, sides: tuple[Positions, Positions]) -> NearerPeople | None:
    """Return the people whose values are in a row under other names, where these are too many."""
    ours, others = sides
    rows = files.rows("synthetic")
    if not _FEWEST <= min(len(ours), len(rows)) <= max(len(ours), len(rows)) <= MOST_NEARER:
        return None
    columns = [column for column in files.columns if _is_spread(column, ours)]
    if len(columns) < 2:
        return None
    for kind in ("dates", "numbers"):
        some = [column for column in columns if (column.kind == "dates") == (kind == "dates")]
        if len(some) > 1 and (people := _sharing(some, (ours, others), rows)) is not None:
            return people
    return None


def _is_spread(column: WholeColumn, ours: Positions) -> bool:
    if column.numbers is None or column.counts:
        return False
    return len(np.unique(column.codes[ours])) >= _SPREAD


def _bags(columns: list[WholeColumn], both: Positions) -> _Bags:
    numbers = [
        np.round(column.numbers[column.codes], _DIGITS)
        for column in columns
        if column.numbers is not None
    ]
    values, places = np.unique(np.column_stack(numbers), return_inverse=True)
    places = places.reshape(len(numbers[0]), len(numbers))
    size, width = places.shape
    everybody = np.arange(size)
    each = np.repeat(everybody, width)
    has_it = scipy.sparse.csr_matrix(
        (np.ones(size * width), (each, places.ravel())), shape=(size, len(values))
    )
    has_it.data[:] = 1.0
    times = np.asarray(has_it[both].sum(axis=0)).ravel()
    is_rare = (times > 0) & (times <= max(2.0, _RARE * len(both))) & np.isfinite(values)
    weight = np.where(is_rare, np.sqrt(np.log(len(both) / np.maximum(1.0, times))), 0.0)
    anywhere = (has_it @ scipy.sparse.diags(weight)).tocsr()
    anywhere.eliminate_zeros()
    named = places + np.arange(width) * len(values)
    by_name = scipy.sparse.csr_matrix(
        (weight[places].ravel(), (each, named.ravel())), shape=(size, width * len(values))
    )
    by_name.eliminate_zeros()
    return _Bags(anywhere, by_name)


def _sharing(
    columns: list[WholeColumn], sides: tuple[Positions, Positions], rows: Positions
) -> NearerPeople | None:
    ours, others = sides
    bags = _bags(columns, np.concatenate([ours, rows]))
    between = bags.shared(ours, ours, elsewhere=False)
    among = bags.shared(rows, rows, elsewhere=False)
    to_rows = bags.shared(ours, rows, elsewhere=True)
    to_people = bags.shared(rows, ours, elsewhere=True)
    ratio = len(rows) / len(ours)
    names = tuple(column.name for column in columns)
    clearest: tuple[float, NearerPeople] | None = None
    for quota in NEAREST_OTHERS:
        reach = max(_reach(between, quota / ratio), _reach(among, quota * ratio))
        alike, theirs = int((between > reach).sum()), int((among > reach).sum())
        is_near = to_rows > reach
        standing = min(int(is_near.sum()), int((to_people > reach).sum()))
        expected = max(alike * ratio, theirs / ratio)
        people = NearerPeople(names, len(ours), standing, expected, None)
        surprise = float((standing - expected) / np.sqrt(expected + 1))
        if not people.is_beyond or (clearest is not None and clearest[0] >= surprise):
            continue
        if len(others):
            hit = int((bags.shared(others, rows, elsewhere=True) > reach).sum())
            beside = TwoSamples(int(is_near.sum()), len(ours), hit, len(others))
            people = replace(people, beside=beside)
        clearest = surprise, people
    return None if clearest is None else clearest[1]


def _reach(shared: Numbers, quota: float) -> float:
    """Return what at most so many share more than."""
    return float(np.sort(shared)[::-1][min(len(shared) - 1, int(quota))])
