"""Parities: secrets that several yes-or-no values tell together, and none of them with fewer.

The product of signs is a parity, so all parities of some columns are compared by a product of
matrices: those of up to five of twenty columns in a part of a second. Nothing is tested here: what
is found on some rows is tried on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

SEARCHED = 1_000  # rows on which parities are compared, at most
MOST_COLUMNS = {2: 250, 3: 80, 4: 40, 5: 22}
"""Of the first so many columns, parities of so many are compared."""
CLASSES = 2  # secrets, the most common ones, each of which may have a parity
FOUND = 20  # parities, those that agree most

Signs = NDArray[np.float32]


def best_parities(
    bits: NDArray[np.integer], classes: NDArray[np.integer], *, found: int = FOUND
) -> tuple[tuple[int, ...], ...]:
    """Return the columns of the parities that agree most with a class or its absence, best first.

    bits: Of each row, 0 or 1, shape (rows, columns). classes: Codes of secrets, shape (rows,).
    """
    signs = (1 - 2 * bits[:SEARCHED]).astype(np.float32)
    known = classes[:SEARCHED]
    common = np.argsort(-np.bincount(known), kind="stable")[:CLASSES]
    scores: dict[tuple[int, ...], float] = {}
    for label in common if len(np.unique(known)) > 2 else common[:1]:
        target = (known == label).astype(np.float32)
        target -= target.mean()
        for width in MOST_COLUMNS:
            for columns, score in _of_width(signs, target, width, found):
                scores[columns] = max(score, scores.get(columns, 0.0))
    best = sorted(scores, key=lambda columns: (-scores[columns], len(columns), columns))
    return tuple(best[:found])


def _of_width(
    signs: Signs, target: Signs, width: int, found: int
) -> list[tuple[tuple[int, ...], float]]:
    """Return parities of so many columns, or of fewer, with how much each agrees."""
    signs = signs[:, : MOST_COLUMNS[width]]
    if signs.shape[1] < width:
        return []
    left, of_left = _products(signs, width - width // 2)
    right, of_right = _products(signs, width // 2)
    agree = np.abs((left * target[:, None]).T @ right).ravel()
    best = np.argpartition(-agree, min(4 * found * width, agree.size - 1))[: 4 * found * width]
    places = ((of_left[k // len(of_right)], of_right[k % len(of_right)]) for k in best.tolist())
    columns = [tuple(sorted({*subset} ^ {*other})) for subset, other in places]
    scores = np.round(agree[best] / len(target), 6).tolist()
    return [(subset, score) for subset, score in zip(columns, scores, strict=True) if subset]


def _products(signs: Signs, width: int) -> tuple[Signs, Sequence[tuple[int, ...]]]:
    """Return the products of so many columns, and which columns these are."""
    sets = list(combinations(range(signs.shape[1]), width))
    product = signs[:, [subset[0] for subset in sets]]
    for place in range(1, width):
        product = product * signs[:, [subset[place] for subset in sets]]
    return product, sets


def parity_of(bits: NDArray[np.integer], columns: Sequence[int]) -> NDArray[np.int64]:
    """Return whether an odd number of some columns is 1, for each row."""
    return bits[:, list(columns)].astype(np.int64).sum(axis=1) % 2


def different_bits(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return columns of 0 and 1 next to each other, without constants, equals and opposites."""
    distinct_bits: dict[bytes, NDArray[np.int64]] = {}
    for column in columns:
        bits = (column % 2).astype(np.int64)
        bits = bits ^ bits[0]
        if bits.any():
            distinct_bits.setdefault(bits.tobytes(), bits)
    rows = len(columns[0]) if columns else 0
    return (
        np.column_stack([*distinct_bits.values()])
        if distinct_bits
        else np.zeros((rows, 0), dtype=np.int64)
    )
