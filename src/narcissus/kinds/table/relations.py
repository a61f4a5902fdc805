"""Relations between numbers: sums, differences, products of powers, remainders, quadratic forms.

A body-mass index is a weight by a squared height, an age gap a difference, a check digit a
remainder of a sum. Bins hide them, trees meet them in small steps, and a band of one (neither high
nor low) is no sum of anything. So each relation of two numbers is cut into cells, as is the sum of
squares and products that fits the secrets of some rows best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.kinds.table.features import Features
from narcissus.kinds.table.lookup import agreement

MOST_NUMBERS = 8  # columns of numbers that are related, the first ones
POWERS = (-3, -2, -1, 1, 2, 3)  # of the second number in a product with the first
MODULI = (2, 3, 4, 5, 7, 10)  # of sums of whole numbers
LARGEST = 2**40  # whole number that is added
ADDED = 4  # whole numbers of a sum, at most
CELLS = (12, 40)  # of about equal size, into which each relation is cut
ROWS_A_CELL = 5  # at least, in the mean
CLASSES = 4  # secrets, the most common ones, each of which has a quadratic form
RANK = 1e-8  # singular values below this part of the largest are 0, in least squares
DIGITS = 9  # of a number, so that it does not depend on the order of additions
FOUND = 30  # features, those that tell most by themselves


def related_features(numbers: Floats, classes: NDArray[np.integer]) -> Features:
    """Return the features of relations between numbers that tell most of the classes.

    numbers: Of all rows, shape (n + m, d), nan where it is no number.
    classes: Of the first n rows, which alone decide what is chosen.
    """
    fitted = len(classes)
    columns = [_filled(column, fitted) for column in numbers.T]
    used = [one for one in columns if one is not None][:MOST_NUMBERS]
    if len(used) < 2:
        return []
    held: list[tuple[float, int, NDArray[np.int64]]] = []
    scores = _in_cells([*_of_two(used), *_quadratic(used, classes)], fitted)
    for feature in (*scores, *_remainders(used)):
        held.append((-agreement(feature[:fitted], classes), len(held), feature))
        if len(held) > 4 * FOUND:
            held = sorted(held, key=lambda one: one[:2])[:FOUND]
    return [feature for *_, feature in sorted(held, key=lambda one: one[:2])[:FOUND]]


def _filled(column: Floats, fitted: int) -> Floats | None:
    """Return a column with a middle value where it has no number; None where it says little."""
    known = column[:fitted][np.isfinite(column[:fitted])]
    if 2 * len(known) < fitted or not known.size or known.min() == known.max():
        return None
    return np.where(np.isfinite(column), column, np.quantile(known, 0.5, method="lower"))


def _of_two(columns: Sequence[Floats]) -> Iterator[Floats]:
    """Yield sums, differences and products of powers of any two columns."""
    for one, other in combinations(columns, 2):
        yield one + other
        yield one - other
        if min(one.min(), other.min()) > 0:
            for power in POWERS:
                yield np.log(one) + power * np.log(other)
                if abs(power) > 1:
                    yield power * np.log(one) + np.log(other)


def _quadratic(columns: Sequence[Floats], classes: NDArray[np.integer]) -> Iterator[Floats]:
    """Yield the quadratic form of the columns, and of their logarithms, that fits each class."""
    common = np.argsort(-np.bincount(classes), kind="stable")[:CLASSES]
    y = np.column_stack([classes == one for one in common]).astype(float)
    positive = [np.log(column) for column in columns if column.min() > 0]
    for some in (list(columns), positive):
        if len(some) < 2:
            continue
        base = [(one - one.mean()) / (one.std() or 1.0) for one in some]
        squares = [one * other for one, other in combinations(base, 2)]
        x = np.column_stack([*base, *squares, *(one**2 for one in base), np.ones(len(base[0]))])
        if len(classes) > 2 * x.shape[1]:
            yield from (x @ np.linalg.lstsq(x[: len(y)], y, rcond=RANK)[0]).T


def _in_cells(scores: Sequence[Floats], fitted: int) -> Iterator[NDArray[np.int64]]:
    for column in scores:
        size = float(np.abs(column[:fitted]).max())
        score = np.round(column / (size or 1.0), DIGITS)
        for cells in CELLS:
            many = max(2, min(cells, fitted // ROWS_A_CELL))
            cuts = np.unique(np.quantile(score[:fitted], np.linspace(0, 1, many + 1)[1:-1]))
            yield np.searchsorted(cuts, score, side="right").astype(np.int64)


def _remainders(columns: Sequence[Floats]) -> Iterator[NDArray[np.int64]]:
    """Yield remainders of sums of whole numbers, and of two or three with any signs."""
    whole = [
        column.astype(np.int64)
        for column in columns
        if np.abs(column).max() < LARGEST and (column == np.floor(column)).all()
    ]
    for width in range(2, ADDED + 1):
        signs = list(product((1, -1), repeat=width - 1)) if width < ADDED else [(1,) * (width - 1)]
        for some in combinations(whole, width):
            for others in signs:
                total = some[0] + sum(s * one for s, one in zip(others, some[1:], strict=True))
                yield from (total % modulus for modulus in MODULI)
