"""People whose numbers appear in the file to the last digit, next to people with swapped digits.

Numbers that measure something are as likely as their neighbours: who earns 43,217.38 might as well
earn 43,251.09. So the last digits of people with like numbers are exchangeable, given all else,
unless the file was made from these people. Chance then puts as many people into the file with
their own last digits as with those of somebody like them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.synthetic.copies import LimitedCount, Views
from narcissus.synthetic.full_files import WholeColumn, WholeFiles
from narcissus.synthetic.notation import CLOSED, digits

Counts = NDArray[np.int64]
Keys = NDArray[np.uint64]
Numbers = NDArray[np.float64]
SWAPS = 4_999
"""Most times that last digits are swapped among people of like numbers."""
_MOST_WORK = 10**8  # swapped digits of all people
_BATCH = 10**6  # of these at a time
_LEAST = 19  # swaps where nothing is to be limited
_BLOCK = 100  # people of like numbers
_CELLS = 20  # parts of the middle half of the numbers, within each of which digits are swapped
_FEWEST = 20  # people with last digits to swap
_FEW = 10  # people for each value of a column that tells nothing of last digits


@dataclass(frozen=True)
class Swapped(LimitedCount):
    """People who appear in the file with their own last digits, and with those of others."""

    unique: int
    standing: int
    swapped: tuple[int, ...]  # standing after each swap, rising; never empty

    @property
    def expected(self) -> float:
        """Coincidences: people who appear in the file with swapped digits, on average."""
        return sum(self.swapped) / len(self.swapped)

    def most_coincidences(self, error: float) -> float:
        """Return the coincidences that are exceeded by chance in at most ``error`` of files.

        The digits as they are and each swap are exchangeable, so the rank of the first among all
        is uniform (Phipson and Smyth 2010).
        """
        place = math.ceil((1 - error) * (1 + len(self.swapped)))
        return float(self.swapped[place - 1] if place <= len(self.swapped) else self.unique)


def swapped_digits(
    files: WholeFiles, views: Views, ours: Counts, rng: np.random.Generator
) -> Swapped | None:
    """Count who appears in the file by all columns, and by the finest with swapped last digits.

    The latter need not agree in other columns of many values, which may follow from the finest: so
    they are at least as many by chance. None where no column has last digits, or where
    numbers repeat as prices of a list do.
    """
    rows, every = views.rows[views.members[0]], range(len(files.columns))
    for at in sorted(every, key=lambda j: -_spread(files.columns[j])):
        column = files.columns[at]
        if column.kind != "numbers" or column.numbers is None:
            continue
        here, there = (column.numbers[column.codes[some]] for some in (ours, rows))
        people, made = ours[np.isfinite(here)], rows[np.isfinite(there)]
        if len(people) < _FEWEST or not len(made):
            continue
        here, there, modulus = _in_last_places(here[np.isfinite(here)], there[np.isfinite(there)])
        if modulus < 10:
            continue
        digits = np.arange(1, _places(modulus))
        zeros = (here[:, None] % 10**digits == 0).sum(axis=1)
        order = np.lexsort([here, zeros])
        people, here, ends = people[order], here[order], np.cumsum(np.bincount(zeros))[:-1]
        if _repeats(here, modulus, ends, rng):
            continue
        few = [j for j in every if j != at and _FEW * _values(files, j, ours) <= len(ours)]
        keys = views.keys(people, 0, few)
        known = np.unique(views.keys(made, 0, few) + _mixed(there))
        whole, many = np.unique(views.keys(ours, 0, every), return_counts=True)
        full_keys = views.keys(people, 0, every)
        is_unique = np.isin(full_keys, whole[many == 1])
        standing = int((is_unique & np.isin(full_keys, views.keys(made, 0, every))).sum())
        times = max(1, min(SWAPS, _MOST_WORK // len(here))) if standing else _LEAST
        swapped: list[int] = []
        for some in _swaps(here, modulus, ends, times, rng):
            wanted = keys + _mixed(some)
            places = np.searchsorted(known, wanted).clip(max=len(known) - 1)
            swapped += (known[places] == wanted).sum(axis=1).tolist()
        return Swapped(int(is_unique.sum()), standing, tuple(sorted(swapped)))
    return None


def _values(files: WholeFiles, column: int, ours: Counts) -> int:
    return len(np.unique(files.fine(column)[ours]))


def _spread(column: WholeColumn) -> int:
    """Count the different values of a column of plain numbers."""
    return len(np.unique(column.codes)) if column.kind == "numbers" else 0


def _in_last_places(here: Numbers, there: Numbers) -> tuple[Counts, Counts, int]:
    """Return numbers of people and rows in units of the file's last place, and a modulus.

    Digits below the modulus are the last ones: 10 or more where these are a small part.
    """
    largest = max(float(np.abs(here).max()), float(np.abs(there).max()), 1.0)
    places = np.sort(digits(np.unique(there).tolist())[0])
    last = min(int(places[int(CLOSED * (len(places) - 1))]), 15 - math.ceil(math.log10(largest)))
    ours, theirs = (np.rint(some * 10.0**last).astype(np.int64) for some in (here, there))
    low, high = np.quantile(ours, [0.25, 0.75])
    size = math.floor(math.log10(max(1.0, (high - low) / _CELLS)))
    return ours, theirs, 10**size


def _places(modulus: int) -> int:
    """Return how many digits a power of ten has."""
    return len(str(modulus))


def _repeats(numbers: Counts, modulus: int, ends: Counts, rng: np.random.Generator) -> bool:
    """Check whether people share numbers more often than they would with swapped digits."""
    (swaps,) = _swaps(numbers, modulus, ends, _LEAST, rng)
    return len(np.unique(numbers)) < min(len(np.unique(some)) for some in swaps)


def _swaps(
    numbers: Counts, modulus: int, ends: Counts, times: int, rng: np.random.Generator
) -> Iterator[Counts]:
    """Yield numbers with last digits swapped among neighbours, shape (some, people).

    Only numbers that are as round are neighbours: round ones are likelier than others.

    ends: Where numbers begin that are rounder; they rise from one to the next.
    """
    last = numbers % modulus
    batch = max(_LEAST, _BATCH // len(numbers))
    for start in range(0, times, batch):
        some = np.tile(last, (min(batch, times - start), 1))
        for part in np.split(some, ends, axis=1):  # each is a view
            whole = part.shape[1] - part.shape[1] % _BLOCK
            blocks = part[:, :whole].reshape(len(some), -1, _BLOCK)
            part[:, :whole] = rng.permuted(blocks, axis=2).reshape(len(some), -1)
            part[:, whole:] = rng.permuted(part[:, whole:], axis=1)
        yield numbers - last + some


def _mixed(numbers: Counts) -> Keys:
    """Return 64 bits for each number (the finalizer of Steele, Lea and Flood 2014)."""
    bits = numbers.astype(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
