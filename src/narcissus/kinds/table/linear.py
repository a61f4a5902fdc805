"""Linear scores: sums of known numbers, weighted by least squares and by logistic regression.

A share is one minus the other shares, an item a total minus the other items. Trees and lookups
split one column after the other and never add; bins hide such a sum altogether. Here known numbers
and their logarithms are added with the weights that fit the secrets of some rows best: products and
ratios are sums of logarithms. Each score is cut into cells, in which a lookup then counts secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.kinds.table.lookup import lookup_chances

CELLS = (12, 120)  # of about equal size, into which each score is cut
ROWS_A_CELL = 5  # at least, in the mean
MOST_COLUMNS = 100  # of numbers, their logarithms and common values, that are added
FEW_VALUES = 12  # of a column without an order, which are told apart
SPREAD = 1.5  # largest by smallest number of a column, below which its logarithm tells no more
CLASSES = 4  # secrets, the most common ones, each of which has scores
LOGISTIC_ROWS, STEPS = 4_000, 8  # rows and steps of Newton's method, of logistic regression
PENALTY = 1e-3  # on each squared weight of logistic regression
RANK = 1e-10  # singular values below this part of the largest are 0, in least squares
DIGITS = 9  # of a score, so that it does not depend on the order of additions


def linear_chances(
    numbers: Floats,
    classes: NDArray[np.integer],
    *,
    size: int,
    rng: np.random.Generator,
    exact: Floats | None = None,
) -> Floats:
    """Return the chance of each class for the rows after those with classes, shape (m, size).

    numbers: What is known of all rows, shape (n + m, d), nan where it is no number.
    classes: Of the first n rows, in ``[0, size)``.
    exact: Numbers behind the classes, shape (n, t), nan where there is none.
    """
    fitted = len(classes)
    cells = np.column_stack(
        [*_cut(linear_scores(numbers, classes, exact), fitted), np.zeros(len(numbers), np.int64)]
    )
    sizes = [int(column.max()) + 1 for column in cells.T]
    return lookup_chances(cells[:fitted], classes, cells[fitted:], sizes, size=size, rng=rng)


def linear_scores(
    numbers: Floats, classes: NDArray[np.integer], exact: Floats | None = None
) -> Floats:
    """Return scores of all rows, fitted to the classes and exact numbers of the first ones.

    The arguments are those of `linear_chances`; the result has shape (n + m, scores).
    """
    fitted = len(classes)
    x = _design(np.where(np.isfinite(numbers), numbers, np.nan), fitted)
    common = np.argsort(-np.bincount(classes), kind="stable")[:CLASSES]
    isolated = [(classes == label).astype(float) for label in common]
    targets = [classes.astype(float), *isolated]
    targets += [] if exact is None else [y for column in exact.T for y in _with_logs(column)]
    y = np.column_stack([_standard(target, len(target)) for target in targets])
    scores = x @ np.linalg.lstsq(x[:fitted], y, rcond=RANK)[0]
    logistic = [x @ _logistic(x[: min(fitted, LOGISTIC_ROWS)], label) for label in isolated]
    return np.column_stack([scores, *logistic])


def one_of_each(codes: NDArray[np.integer]) -> Floats:
    """Return which rows have each of the most common values, shape (rows, values)."""
    counts = np.bincount(codes)
    common = np.argsort(-counts, kind="stable")[: min(FEW_VALUES, np.count_nonzero(counts))]
    return (codes[:, None] == common).astype(float)


def _design(numbers: Floats, fitted: int) -> Floats:
    """Return the numbers, their logarithms and where they are missing, each of mean 0, and a 1."""
    columns = [feature for column in numbers.T for feature in _with_logs(column)]
    columns += [np.isnan(column).astype(float) for column in numbers.T]
    columns = [column for column in columns if _differs(column[:fitted])]
    standard = [_standard(column, fitted) for column in columns[:MOST_COLUMNS]]
    return np.column_stack([*standard, np.ones(len(numbers))])


def _with_logs(column: Floats) -> Iterator[Floats]:
    """Yield numbers, and their logarithms where all are positive and differ much."""
    present = column[~np.isnan(column)]
    if not present.size:
        return
    yield column
    if present.min() > 0 and present.max() > SPREAD * present.min():
        yield np.log(column)


def _differs(column: Floats) -> bool:
    present = column[~np.isnan(column)]
    return present.size > 1 and present.min() < present.max()


def _standard(column: Floats, fitted: int) -> Floats:
    """Return a column with mean 0 and variance 1 in the fitted rows, and 0 for no number."""
    mean, spread = np.nanmean(column[:fitted]), np.nanstd(column[:fitted])
    return np.nan_to_num((column - mean) / (spread or 1.0))


def _logistic(x: Floats, y: Floats) -> Floats:
    """Return the weights of a logistic regression with a small penalty, by Newton's method."""
    y = y[: len(x)]
    weights, penalty = np.zeros(x.shape[1]), PENALTY * np.eye(x.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        each = np.maximum(chances * (1 - chances), 1e-6)
        slope = x.T @ (y - chances) - PENALTY * weights
        weights = weights + np.linalg.solve((x * each[:, None]).T @ x + penalty, slope)
    return weights


def _cut(scores: Floats, fitted: int) -> Iterator[NDArray[np.int64]]:
    """Yield the cells of each score, of about equal size in the fitted rows."""
    for column in scores.T:
        size = float(np.abs(column[:fitted]).max())
        score = np.round(column / (size or 1.0), DIGITS)
        for cells in CELLS:
            many = max(2, min(cells, fitted // ROWS_A_CELL))
            cuts = np.unique(np.quantile(score[:fitted], np.linspace(0, 1, many + 1)[1:-1]))
            yield np.searchsorted(cuts, score, side="right")
