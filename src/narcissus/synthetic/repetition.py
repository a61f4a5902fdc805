"""Rows of the data that are equal or agree in part more often than independent people give.

A table may have a row for each visit, or each row twice. Equal rows of independent people are
coincidences, by which the coincidences of a file are counted: rows of one person are not. Two
tests tell them apart, whatever the law of the people is. A row of the data agrees with one of the
control as often as with one of the data. And of values that one, two and three people have, there
are ``f1``, ``f2`` and ``f3`` with ``(2 f2)^2 <= 6 f1 f3`` on average, and so on: these are moments
of the chances of the values (Good 1953, by Cauchy and Schwarz).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.synthetic.files import keys_of

Positions = NDArray[np.int64]
Codes = NDArray[np.int64]
REPEATED_ERROR = 1e-4
"""Error of each test of whether independent people have so many equal rows."""
_FEWEST = 10  # values of several rows
_RARE = 50  # values of several rows of one side for each that both sides have
_NEARER = 4  # equal rows for each that differs from another in one column alone
_MOST_OF_ONE = 6  # rows of a value up to which moments are compared
_WHOLE = 0.9  # share of the equal rows that are equal in columns of one side alone
_SHARE = 0.5  # of the rows of each side that agree with another where people have several
_MOST_ROWS_EACH = 50  # of one person, on average
_MOST_COLUMNS = 40
_MOST_ROWS = 50_000


@dataclass(frozen=True)
class RepeatedRows:
    """Rows of the data and the control that are equal, beyond what independent people give."""

    real: int  # rows of the data that equal another
    control: int
    # places of one row of each person, where equal rows are surely of one; empty: that is asked
    kept: Mapping[str, Positions]


def repeated_rows(
    sides: Mapping[str, Codes], others: Mapping[str, Codes] | None = None
) -> RepeatedRows | None:
    """Test whether rows that are equal are of one person; None if chance may make them.

    sides: Codes of the rows of "real" and, if there is one, "control", shape (rows, columns); equal
        for equal values of both.
    others: Codes of more columns of each side, which are not comparable. Rows that differ in these
        are none that are equal.

    With a control: both sides have repeated values, and hardly share any. Without one: repeated
    values refute that people are independent, or hardly any row differs from another in one column
    alone, which chance would give far more often than two that are equal. Both must be so to be
    sure.
    """
    codes = np.concatenate(list(sides.values()))
    if not codes.size:
        return None
    ends = np.cumsum([len(side) for side in sides.values()])[:-1]
    keys = dict(zip(sides, np.split(keys_of(codes), ends), strict=True))
    times = {name: np.bincount(side, minlength=len(codes)) for name, side in keys.items()}
    rows = {name: int(side[side > 1].sum()) for name, side in times.items()}
    if sum(int((side > 1).sum()) for side in times.values()) < _FEWEST:
        return None
    for name, more in (others or {}).items():
        whole = np.bincount(keys_of(np.column_stack([keys[name], more])))
        if whole[whole > 1].sum() < _WHOLE * rows[name]:
            return None
    if "control" in sides:
        apart = _RowsApart.of(times["real"], times["control"])
        is_shown, is_sure = apart.p_value <= REPEATED_ERROR, apart.are_apart
    else:
        is_dependent, is_near = _are_dependent(times["real"]), _are_near(sides["real"])
        is_shown, is_sure = is_dependent or not is_near, is_dependent and not is_near
    if not is_shown:
        return None
    first = {name: np.sort(np.unique(side, return_index=True)[1]) for name, side in keys.items()}
    return RepeatedRows(rows["real"], rows.get("control", 0), first if is_sure else {})


@dataclass(frozen=True)
class _RowsApart:
    """Values of several rows: how many both sides have, and how likely so few are."""

    shared: int
    one_sided: int
    p_value: float

    @classmethod
    def of(cls, ours: Positions, others: Positions) -> _RowsApart:
        """Count values of several rows; given these, chance alone divides them between sides."""
        n, m = int(ours.sum()), int(others.sum())
        total = ours + others
        is_shared = (ours > 0) & (others > 0)
        chances = np.ones(1)
        for times, many in zip(*np.unique(total[total > 1], return_counts=True), strict=True):
            ways = sum(np.exp(_log_ways(side, times) - _log_ways(n + m, times)) for side in (n, m))
            each = scipy.stats.binom.pmf(np.arange(many + 1), many, min(1.0, float(ways)))
            chances = np.convolve(chances, each)
        one_sided = int(((total > 1) & ~is_shared).sum())
        return cls(int(is_shared.sum()), one_sided, float(chances[one_sided:].sum()))

    @property
    def are_apart(self) -> bool:
        """Whether chance makes hardly any value that several rows have."""
        return _RARE * self.shared <= self.one_sided


def _log_ways(total: int, taken: int) -> float:
    if taken > total:
        return -np.inf
    return math.lgamma(total + 1) - math.lgamma(taken + 1) - math.lgamma(total - taken + 1)


def _are_dependent(times: Positions) -> bool:
    """Check whether counts of values refute that people are independent, whatever their law."""
    many = np.bincount(times[times > 0], minlength=_MOST_OF_ONE + 2)
    error = REPEATED_ERROR / (3 * _MOST_OF_ONE)
    low = np.asarray(scipy.stats.gamma.ppf(error, np.maximum(many, 1e-9)), np.float64)
    high = np.asarray(scipy.stats.gamma.isf(error, many + 1), np.float64)
    return any(
        k * low[k] ** 2 > (k + 1) * high[k - 1] * high[k + 1] for k in range(2, _MOST_OF_ONE + 1)
    )


def _are_near(codes: NDArray[np.int64]) -> bool:
    """Check whether different rows differ in one column alone, as chance gives them."""
    rows, times = np.unique(codes, axis=0, return_counts=True)
    equal = int((times > 1).sum())
    near = np.zeros(len(rows), np.bool_)
    for j in range(rows.shape[1]):
        places = keys_of(np.delete(rows, j, axis=1))
        near |= (np.bincount(places) > 1)[places]
    return _NEARER * int(near.sum()) > equal


def agreeing_columns(sides: Mapping[str, Codes]) -> tuple[int, ...]:
    """Return columns in which rows agree as those of one person do; none where none are so.

    sides: Codes of the rows of "real" and "control", as of `repeated_rows`.

    As many columns as half of the rows of each side agree in with another row; and hardly a row of
    one side does so with one of the other. Columns whose common values are of one side alone tell
    two populations apart, and no people: they are not among them.
    """
    if any(side.shape[1] > _MOST_COLUMNS or len(side) > _MOST_ROWS for side in sides.values()):
        return ()
    codes, many = np.concatenate([sides["real"], sides["control"]]), len(sides["real"])

    def times_of(keys: Positions) -> tuple[Positions, Positions]:
        size = int(keys.max()) + 1
        return np.bincount(keys[:many], minlength=size), np.bincount(keys[many:], minlength=size)

    left: list[int] = []
    for j in range(codes.shape[1]):
        ours, others = times_of(codes[:, j])
        is_common = ours + others > _MOST_ROWS_EACH
        if not (is_common & ((ours == 0) | (others == 0))).any():
            left.append(j)
    chosen: list[int] = []
    keys = np.zeros(len(codes), np.int64)
    while left:
        finer: list[tuple[int, int, Positions]] = []
        for j in left:
            wider = keys_of(np.column_stack([keys, codes[:, j]]))
            if all(side[side > 1].sum() >= _SHARE * side.sum() for side in times_of(wider)):
                finer.append((int(wider.max()), j, wider))
        if not finer:
            break
        _, j, keys = max(finer, key=lambda found: found[:2])
        chosen.append(j)
        left = [other for _, other, _ in finer if other != j]
    ours, others = times_of(keys)
    apart = _RowsApart.of(ours, others)
    is_fine = all((side > 0).sum() * _MOST_ROWS_EACH >= side.sum() for side in (ours, others))
    if chosen and is_fine and apart.are_apart and apart.p_value <= REPEATED_ERROR:
        return tuple(sorted(chosen))
    return ()
