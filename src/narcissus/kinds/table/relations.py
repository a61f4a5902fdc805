"""Relations between numbers: sums, products of powers, ratios, distances, remainders, and more.

A body-mass index is a weight by a squared height, an age gap a difference, a distance a root of a
sum of squares, a check digit a remainder of a sum. Bins hide them, trees meet them in small steps,
and a band of one (neither high nor low) is no sum of anything. So each relation of two, three or
four numbers is cut into cells, as is the sum of squares and products that fits the secrets of some
rows best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, product

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.kinds.table.features import Features
from narcissus.kinds.table.lookup import agreement

MOST_NUMBERS = 16  # columns of numbers of which any two are related, the first ones
MOST_TOGETHER = 8  # of these, of which three or more are related: those that tell most with another
SEARCHED = 2_000  # rows on which relations are compared, at most
POWERS = (-3, -2, -1, 1, 2, 3)  # of the second number in a product with the first
MODULI = (2, 3, 4, 5, 7, 10)  # of sums of whole numbers
LARGEST = 2**40  # whole number that is added
SIGNED = 3  # whole numbers of a sum in which each has any sign, at most
CELLS = (12, 40)  # of about equal size, into which each relation is cut
ROWS_A_CELL = 5  # at least, in the mean
CLASSES = 4  # secrets, the most common ones, each of which has a quadratic form
RANK = 1e-8  # singular values below this part of the largest are 0, in least squares
DIGITS = 9  # of a number, so that it does not depend on the order of additions
MOST_ANSWERS = 6  # columns of one domain of which all sets of three or more are compared
MOST_GROUPED = 12  # the same of which any three are
FOUND = 30  # features, those that tell most by themselves

Codes = NDArray[np.int64]


def related_features(
    numbers: Floats, classes: NDArray[np.integer], answers: Sequence[Floats] = ()
) -> Features:
    """Return the features of relations between numbers that tell most of the classes.

    numbers: Of all rows, shape (n + m, d), nan where it is no number.
    classes: Of the first n rows, which alone decide what is chosen.
    answers: Columns of one domain, as answers on one scale, shape (n + m, columns) each.
    """
    fitted = len(classes)
    columns = [_filled(column, fitted) for column in numbers.T]
    used = [column for column in columns if column is not None][:MOST_NUMBERS]
    best = _Best(classes)
    for group in answers:
        best.try_each(_symmetric(group))
    many = len(np.unique(classes))
    wide = chain.from_iterable(_sums_of_answers(group, many) for group in answers)
    if len(used) < 2:
        return [*best.features(wide)]
    scores = [0.0] * len(used)
    for number, other in combinations(range(len(used)), 2):
        score = max(best.try_each(_of_two(used[number], used[other])))
        scores[number], scores[other] = max(scores[number], score), max(scores[other], score)
    places = sorted(range(len(used)), key=lambda place: (-scores[place], place))[:MOST_TOGETHER]
    some = [used[place] for place in sorted(places)]
    best.try_each(chain(_of_three(some), _of_four(some), _quadratic(some, classes)))
    return [*best.features(chain(_remainders(some, many), wide))]


class _Best:
    """The relations that tell most of the classes of some rows, as codes of all rows."""

    def __init__(self, classes: NDArray[np.integer]) -> None:
        self.fitted = len(classes)
        self.classes = classes[:SEARCHED]
        self.held: list[tuple[float, int, Floats, int]] = []
        self.tried = 0

    def try_each(self, scores: Iterator[Floats]) -> list[float]:
        """Compare relations, cut into few and many cells, and return how much each tells."""
        return [max(self._try(score, cells) for cells in CELLS) for score in scores]

    def _try(self, score: Floats, cells: int) -> float:
        rows = len(self.classes)
        strength = agreement(_in_cells(score[:rows], rows, cells), self.classes)
        self.tried += 1
        self.held.append((-strength, self.tried, score, cells))
        if len(self.held) > 4 * FOUND:
            self.held = sorted(self.held, key=lambda candidate: candidate[:2])[:FOUND]
        return strength

    def features(self, more: Iterator[Codes]) -> Iterator[Codes]:
        """Yield the best relations in cells, and the best of more features, best first."""
        cut = (
            (_in_cells(score, self.fitted, cells), -strength)
            for strength, _, score, cells in self.held
        )
        rows = len(self.classes)
        whole = ((feature, agreement(feature[:rows], self.classes)) for feature in more)
        ranking = [
            (-strength, place, feature)
            for place, (feature, strength) in enumerate(chain(cut, whole))
        ]
        yield from (feature for *_, feature in sorted(ranking, key=lambda each: each[:2])[:FOUND])


def _symmetric(answers: Floats) -> Iterator[Floats]:
    """Yield what columns of one domain tell in any order: how many differ, the commonest, ranks.

    Of all columns, of any three, and of any more where these are few.
    """
    width = answers.shape[1]
    sizes = range(3, width + 1) if width <= MOST_ANSWERS else {3, width}
    for size in sizes if width <= MOST_GROUPED else [width]:
        for some in combinations(range(width), size):
            ranks = np.sort(answers[:, some], axis=1)
            is_new = np.diff(ranks, axis=1) > 0
            yield 1.0 + is_new.sum(axis=1)
            times = (ranks[:, :, None] == ranks[:, None]).sum(axis=2)
            yield times.max(axis=1).astype(float)
            yield np.take_along_axis(ranks, times.argmax(axis=1)[:, None], 1)[:, 0]
            yield from ranks.T
            yield ranks[:, -1] - ranks[:, 0]


def alike_columns(columns: Sequence[Floats]) -> list[list[int]]:
    """Return the places of columns that have most values in common, three or more together.

    columns: The different numbers of each, or numbers of its labels.
    """
    domains = [set(column[np.isfinite(column)].tolist()) for column in columns]
    groups: list[list[int]] = []
    for place, domain in enumerate(domains):
        for group in groups:
            first = domains[group[0]]
            if 2 * len(first & domain) > len(first | domain):
                group.append(place)
                break
        else:
            groups.append([place])
    return [group for group in groups if len(group) > 2]


def _filled(column: Floats, fitted: int) -> Floats | None:
    """Return a column with a middle value where it has no number; None where it says little."""
    known = column[:fitted][np.isfinite(column[:fitted])]
    if 2 * len(known) < fitted or not known.size or known.min() == known.max():
        return None
    return np.where(np.isfinite(column), column, np.quantile(known, 0.5, method="lower"))


def _of_two(one: Floats, other: Floats) -> Iterator[Floats]:
    """Yield sums, differences, products of powers and distances from a middle of two columns."""
    yield one + other
    yield one - other
    yield from _squared(one, other)
    if min(one.min(), other.min()) > 0:
        for power in POWERS:
            yield np.log(one) + power * np.log(other)
            if abs(power) > 1:
                yield power * np.log(one) + np.log(other)


def _of_three(columns: Sequence[Floats]) -> Iterator[Floats]:
    """Yield sums, products, ratios and distances of any three columns."""
    for some in combinations(columns, 3):
        yield from _signed(*some)
        yield from _squared(*some)
        if min(column.min() for column in some) > 0:
            yield from _signed(*map(np.log, some))
        for last, (first, other) in _each_and_others(some):
            yield np.abs(first - other) - last
            yield from _ratio(first - other, last)
            yield from _ratio(last, first + other)


def _of_four(columns: Sequence[Floats]) -> Iterator[Floats]:
    """Yield distances between two points, each of two columns."""
    for first, *rest in combinations(columns, 4):
        for second, (third, fourth) in _each_and_others(rest):
            yield (first - second) ** 2 + (third - fourth) ** 2


def _each_and_others(columns: Sequence[Floats]) -> Iterator[tuple[Floats, Sequence[Floats]]]:
    for place, column in enumerate(columns):
        yield column, [*columns[:place], *columns[place + 1 :]]


def _signed(one: Floats, other: Floats, last: Floats) -> Iterator[Floats]:
    for sign, last_sign in product((1, -1), repeat=2):
        yield one + sign * other + last_sign * last


def _squared(*columns: Floats) -> Iterator[Floats]:
    """Yield squared distances from zero and from the mean."""
    yield sum((column**2 for column in columns), np.zeros(len(columns[0])))
    yield sum(((column - column.mean()) ** 2 for column in columns), np.zeros(len(columns[0])))


def _ratio(one: Floats, other: Floats) -> Iterator[Floats]:
    if (other != 0).all():
        yield one / other


def _quadratic(columns: Sequence[Floats], classes: NDArray[np.integer]) -> Iterator[Floats]:
    """Yield the quadratic form of the columns, and of their logarithms, that fits each class."""
    common = np.argsort(-np.bincount(classes), kind="stable")[:CLASSES]
    y = np.column_stack([classes == label for label in common]).astype(float)
    positive = [np.log(column) for column in columns if column.min() > 0]
    for some in (list(columns), positive):
        if len(some) < 2:
            continue
        base = [(factor - factor.mean()) / (factor.std() or 1.0) for factor in some]
        squares = [factor * other for factor, other in combinations(base, 2)]
        x = np.column_stack(
            [*base, *squares, *(factor**2 for factor in base), np.ones(len(base[0]))]
        )
        if len(classes) > 2 * x.shape[1]:
            yield from (x @ np.linalg.lstsq(x[: len(y)], y, rcond=RANK)[0]).T


def _in_cells(score: Floats, fitted: int, cells: int) -> Codes:
    """Cut a number of each row into cells of about equal size in the fitted rows."""
    size = float(np.abs(score[:fitted]).max())
    score = np.round(score / (size or 1.0), DIGITS)
    many = max(2, min(cells, fitted // ROWS_A_CELL))
    cuts = np.unique(np.quantile(score[:fitted], np.linspace(0, 1, many + 1)[1:-1]))
    return np.searchsorted(cuts, score, side="right").astype(np.int64)


def _remainders(columns: Sequence[Floats], classes: int) -> Iterator[Codes]:
    """Yield remainders of sums of whole numbers, and of two or three with any signs."""
    whole = [
        column.astype(np.int64)
        for column in columns
        if np.abs(column).max() < LARGEST and (column == np.floor(column)).all()
    ]
    for width in range(2, len(whole) + 1):
        signs = list(product((1, -1), repeat=width - 1)) if width <= SIGNED else [(1,) * width]
        for some in combinations(whole, width):
            for others in signs:
                total = some[0] + sum(
                    sign * addend for sign, addend in zip(others, some[1:], strict=False)
                )
                yield from (total % modulus for modulus in _moduli(classes))


def _sums_of_answers(answers: Floats, classes: int) -> Iterator[Codes]:
    """Yield remainders of the sum of all answers on one scale, and of all but one."""
    if not np.isfinite(answers).all() or np.abs(answers).max() >= LARGEST:
        return
    if (answers != np.floor(answers)).any():
        return
    total = answers.sum(axis=1)
    for less in (0.0, *answers.T):
        rest = (total - less).astype(np.int64)
        yield from (rest % modulus for modulus in _moduli(classes))


def _moduli(classes: int) -> list[int]:
    return sorted({*MODULI, classes} - {1})
