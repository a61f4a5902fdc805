"""What earlier rows of a file say of the secret of a row: lags, patterns, counts and blocks.

A clinical trial draws its arms in blocks within each site, a file lists families in one order, a
matched set holds one case. So secrets are read back in the whole file and within each value of
known columns, alone and in pairs: those some rows before, the pattern and the counts of the last
ones, and the counts since a block of any length began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

LAGS = 100  # rows before in the whole file, each by itself, and lengths of a round of rows
LAGS_IN_GROUPS = 16
COUNTED = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32)  # last rows whose secrets are counted
BLOCKS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20)  # rows of a block
MOST_CELLS = 1_024  # of a feature
MOST_GROUPS = 40  # known columns and pairs of them, those with fewest values first
MOST_SECRETS = 20  # that are told apart, the most common ones
MOST_COUNTED = 3  # secrets that are counted


def earlier_features(secret: NDArray[np.integer], known: NDArray[np.integer]) -> Iterator[Codes]:
    """Yield features of each row by the secrets of rows before it, codes from 0, shape (rows,).

    secret: Of each row in the order of the file. known: Codes of known columns, (rows, columns).
    """
    ranked = _ranked(secret)
    rows = np.arange(len(ranked))
    yield from _lags(ranked, rows, LAGS)
    yield from (rows % length for length in range(2, LAGS + 1))
    for group in (np.zeros_like(ranked), *_groups(known)):
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        sizes = np.diff(starts, append=len(order))
        place = rows - np.repeat(starts, sizes)
        behind = np.repeat(sizes, sizes) - 1 - place
        for feature in _in_group(ranked[order], place, behind):
            back = np.empty_like(feature)
            back[order] = feature
            yield back


def _ranked(secret: NDArray[np.integer]) -> Codes:
    """Return 1 for the rarest secret that is told apart, and so on; 0 for all others."""
    values, codes, counts = np.unique(secret, return_inverse=True, return_counts=True)
    ranks = np.zeros(len(values), dtype=np.int64)
    common = np.argsort(-counts, kind="stable")[:MOST_SECRETS][::-1]
    ranks[common] = 1 + np.arange(len(common))
    return ranks[np.ravel(codes)]


def _groups(known: NDArray[np.integer]) -> Sequence[Codes]:
    """Return known columns and pairs of them in which several rows share a value."""
    single = [np.ravel(np.unique(column, return_inverse=True)[1]) for column in known.T]
    pairs = (
        np.ravel(np.unique(codes * (int(other.max()) + 1) + other, return_inverse=True)[1])
        for codes, other in combinations(single, 2)
    )
    groups = [g for g in (*single, *pairs) if 0 < g.max() < len(g) // 2]
    return sorted(groups, key=lambda group: int(group.max()))[:MOST_GROUPS]


def _in_group(secret: Codes, place: Codes, behind: Codes) -> Iterator[Codes]:
    """Yield features of rows that are group by group.

    place, behind: Rows of the same group before and after each row.
    """
    yield from _lags(secret, place, LAGS_IN_GROUPS)
    yield from _patterns(secret, place)
    kinds = int(secret.max())
    counted = [secret == value for value in range(max(1, kinds - 1), 0, -1)][:MOST_COUNTED]
    before = [np.concatenate([[0], np.cumsum(column)]) for column in counted]
    rows = np.arange(len(secret))

    def since(start: Codes) -> list[Codes]:
        return [sums[rows] - sums[start] for sums in before]

    for many in COUNTED:
        last = np.minimum(place, many)
        yield from _combined([*since(rows - last), last == many])
    for length in BLOCKS:
        within = place % length
        yield from _combined([*since(rows - within), within])
    whole = since(rows - place)
    for position in (place, behind):
        near = np.minimum(position, BLOCKS[-1])
        yield from _combined([*(np.minimum(column, BLOCKS[-1]) for column in whole), near])


def _lags(secret: Codes, place: Codes, most: int) -> Iterator[Codes]:
    for lag in range(1, min(most, len(secret) - 1) + 1):
        yield _lagged(secret, place, lag)


def _lagged(secret: Codes, place: Codes, lag: int) -> Codes:
    """Return the secret so many rows before, and 0 where the group begins later."""
    moved = np.concatenate([np.zeros(lag, dtype=np.int64), secret[:-lag]])
    return np.where(place >= lag, moved, 0)


def _patterns(secret: Codes, place: Codes) -> Iterator[Codes]:
    base = int(secret.max()) + 1
    pattern, lag = _lagged(secret, place, 1), 2
    while base**lag <= MOST_CELLS and lag < len(secret):
        pattern = pattern * base + _lagged(secret, place, lag)
        yield pattern
        lag += 1


def _combined(parts: Sequence[NDArray[np.generic]]) -> Iterator[Codes]:
    """Yield a number for each combination of values, where these are not too many."""
    keys = np.zeros(len(parts[0]), dtype=np.int64)
    for part in parts:
        values = part.astype(np.int64)
        keys = keys * (int(values.max()) + 1) + values
    different, codes = np.unique(keys, return_inverse=True)
    if len(different) <= MOST_CELLS:
        yield np.ravel(codes)
