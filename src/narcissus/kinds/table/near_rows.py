"""What rows near a row tell of its secret by their known columns, which an attacker knows.

A column that slipped by some rows, or a household listed together, tells the secret of a row by a
known column of the row after it, alone or with the row's known columns: their difference, or their
sum. So each known column is moved by some rows both ways, and paired with each known column of the
row, and with the secret of the same earlier row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from narcissus.kinds.table.lookup import agreement

Codes = NDArray[np.int64]

DISTANCES = (-1, 1, -2, 2, -3, 3)  # rows after a row are at a positive distance
SEARCHED = 4_000  # rows on which features are compared, at most
MOST_PAIRED = 12  # known columns that are paired with each column of another row
MOST_SECRET_COLUMNS = 4  # whose earlier values are paired
FEATURES = 20  # those that tell most beyond the known columns of the row


def near_features(
    secrets: NDArray[np.integer], known: NDArray[np.integer], classes: NDArray[np.integer]
) -> list[Codes]:
    """Return what tells most of the classes, codes from 0, shape (rows,) each, best first.

    secrets: Of each row in the order of the file, shape (rows, columns); of each row, the features
        hold those of earlier rows alone. known: Codes of known columns, shape (rows, columns).
    classes: Of the first rows, which alone decide what is chosen.
    """
    searched = np.asarray(classes)[:SEARCHED]
    ranking: list[tuple[float, int, Codes]] = []
    for number, (feature, base) in enumerate(_candidates(secrets, known, searched)):
        gain = agreement(feature[: len(searched)], searched) - base
        ranking.append((-round(gain, 9), number, feature))
        if len(ranking) > 4 * FEATURES:
            ranking = sorted(ranking, key=lambda candidate: candidate[:2])[:FEATURES]
    return [feature for *_, feature in sorted(ranking, key=lambda each: each[:2])[:FEATURES]]


def _candidates(
    secrets: NDArray[np.integer], known: NDArray[np.integer], classes: NDArray[np.integer]
) -> Iterator[tuple[Codes, float]]:
    """Yield features, each with how well classes agree by what of it is known without the order."""
    columns = [np.asarray(column, dtype=np.int64) for column in known.T]
    alone = agreement(np.zeros(len(classes), dtype=np.int64), classes)
    bases = [agreement(column[: len(classes)], classes) for column in columns]
    few = sorted(range(len(columns)), key=lambda place: int(columns[place].max()))[:MOST_PAIRED]
    paired_columns = [(columns[place], bases[place]) for place in few]
    for distance in DISTANCES:
        earlier = secrets.T[:MOST_SECRET_COLUMNS] if distance < 0 else ()
        before = [(_moved(secret, distance), alone) for secret in earlier]
        others = [_moved(column, distance) for column in columns]
        yield from before
        for column, other in zip(columns, others, strict=True):
            yield other, alone
            yield (other == 1 + column).astype(np.int64), alone
            yield from _paired(other, [*paired_columns, *before], len(classes))
        for secret, _ in before:
            yield from _paired(secret, paired_columns, len(classes))


def _paired(
    other: Codes, columns: Iterable[tuple[Codes, float]], most: int
) -> Iterator[tuple[Codes, float]]:
    """Yield a column with each of some others, where they have at most so many joint values."""
    for column, base in columns:
        size = 1 + int(column.max())
        if size * (1 + int(other.max())) <= most:
            yield other * size + column, base


def _moved(column: NDArray[np.integer], distance: int) -> Codes:
    """Return 1 + the code so many rows on, and 0 where the file has no such row."""
    moved = np.zeros(len(column), dtype=np.int64)
    if distance < 0:
        moved[-distance:] = 1 + column[:distance]
    else:
        moved[:-distance] = 1 + column[distance:]
    return moved
