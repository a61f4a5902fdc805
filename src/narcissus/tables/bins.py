"""Bins that turn the many values of a column into a few with readable labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, positive, real
from narcissus.errors import InputError

_MOST_BINS = 100_000  # beyond this the width is a slip of the pen, and the labels would fill memory


@dataclass(frozen=True)
class Bins:
    """One way of binning; exactly one of the first five is given.

    Bins are closed below and open above. Empty bins between the lowest and the highest are kept;
    the bins below the first and above the last edge are kept only where somebody falls into them.

    width: Equal bins ``[m * width, (m + 1) * width)``: ``Bins(width=10)`` has "30 to 39".
    edges: Rising cut points: ``Bins(edges=[18, 65])`` has "under 18", "18 to 64", "65 and above".
    quantiles: Number (2 to 1,000) of groups of nearly equal size, cut at the table's own quantiles;
        fewer where many people share a value.
    above: Two values: "at most t" and "above t".
    common: Keep this many values, the commonest (of equals the one sorted first); all others become
        one, "(other)". The only way for texts.
    codes: With one of the first four: values that are no numbers, or mean none, such as "N" or -9.
        Each stays a separate value, and the column is no longer ordered.

    InputError: None or several are given, or one is out of its range.
    """

    width: float | None = None
    edges: Sequence[float] | None = None
    quantiles: int | None = None
    above: float | None = None
    common: int | None = None
    codes: Sequence[str | float] | None = None

    def __post_init__(self) -> None:
        ways = ("width", "edges", "quantiles", "above", "common")
        options = [way for way in ways if getattr(self, way) is not None]
        if len(options) != 1:
            raise InputError(
                "bins need exactly one of `width`, `edges`, `quantiles`, `above`, `common`; "
                f"got {' and '.join(options) or 'none'}"
            )
        if self.width is not None:
            positive("width", self.width)
        if self.quantiles is not None:
            integer("quantiles", self.quantiles, low=2, high=1000)
        if self.above is not None and not np.isfinite(real("above", self.above)):
            raise InputError(f"`above` must be finite, got {self.above!r}")
        if self.edges is not None:
            if isinstance(self.edges, str | float | int):
                raise InputError(f"`edges` must be a list of numbers, got {self.edges!r}")
            edges = tuple(real("edges", edge) for edge in self.edges)
            if not edges or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
                raise InputError(
                    f"`edges` must be rising finite numbers, at least one, got {list(self.edges)!r}"
                )
            object.__setattr__(self, "edges", edges)
        if self.common is not None:
            integer("common", self.common, low=1)
        if self.codes is not None:
            self._check_codes(self.codes)

    def _check_codes(self, codes: Sequence[str | float]) -> None:
        if self.common is not None:
            raise InputError("`codes` go with bins of numbers: `common` keeps values as they are")
        if isinstance(codes, str | float | int):
            raise InputError(f"`codes` must be a list of texts or numbers, got {codes!r}")
        checked = tuple(c if isinstance(c, str) else real("codes", c) for c in codes)
        object.__setattr__(self, "codes", checked)

    def apply(
        self, numbers: NDArray[np.float64], counts: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Bin finite numbers in any way except `common`; return each one's bin, and the labels.

        ``counts`` are the people with each number, for quantiles. None: one each.
        """
        settled = self.settled(numbers, counts)
        return settled.place(numbers), settled.labels

    def settled(
        self, numbers: NDArray[np.float64], counts: NDArray[np.int64] | None = None
    ) -> SettledBins:
        """Fix the bins by finite numbers, so that others can be put into them; see `apply`."""
        if self.above is not None:
            cut = number_label(self.above)
            edges = np.array([np.nextafter(self.above, np.inf)])
            return SettledBins((f"at most {cut}", f"above {cut}"), 0, edges)
        whole = bool((numbers == np.floor(numbers)).all())
        if self.width is not None:
            bins = _multiples(numbers, self.width)
            low, high = bins.min(), bins.max()
            if high - low >= _MOST_BINS:
                raise InputError(
                    f"`width` = {self.width:g} makes {high - low + 1:,.0f} bins between "
                    f"{numbers.min():g} and {numbers.max():g}: take a larger one"
                )
            # Twelve digits: 3 * 0.1 should read "0.3".
            starts = [float(f"{m * self.width:.12g}") for m in np.arange(low, high + 2)]
            labels = tuple(_between(a, b, whole) for a, b in pairwise(starts))
            return SettledBins(labels, int(low), None, self.width)
        if self.edges is not None:
            edges = np.array(self.edges, dtype=np.float64)
        else:
            assert self.quantiles is not None
            edges = _quantiles(numbers, counts, self.quantiles)
        bins = np.searchsorted(edges, numbers, side="right")
        labels = [f"under {number_label(edges[0])}"]
        labels += [_between(a, b, whole) for a, b in pairwise(edges)]
        labels += [f"{number_label(edges[-1])} and above"]
        first = 0 if bins.min() == 0 else 1
        last = len(labels) if bins.max() == len(edges) else len(labels) - 1
        return SettledBins(tuple(labels[first:last]), first, edges)


@dataclass(frozen=True)
class SettledBins:
    """The bins of a column, fixed by its numbers."""

    labels: tuple[str, ...]
    first: int  # number of the first bin that is kept
    edges: NDArray[np.float64] | None  # where a new bin starts; None for bins of equal ``width``
    width: float = 1.0

    def place(self, numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the bin of each finite number, -1 where there is none, shape (rows,)."""
        if self.edges is None:
            places = _multiples(numbers, self.width)
        else:
            places = np.searchsorted(self.edges, numbers, side="right")
        places = places - self.first
        return np.where((places < 0) | (places >= len(self.labels)), -1, places).astype(np.int32)


def _multiples(numbers: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    # Rounding first: 0.3 / 0.1 is below 3 in floating point.
    return np.floor(np.round(numbers / width, 9))


def _quantiles(
    numbers: NDArray[np.float64], counts: NDArray[np.int64] | None, groups: int
) -> NDArray[np.float64]:
    """Compute the cuts between groups of people; a person at a cut belongs to the group above."""
    order = np.argsort(numbers)
    ends = np.arange(1, len(numbers) + 1) if counts is None else np.cumsum(counts[order])
    places = np.ceil((ends[-1] - 1) * (np.arange(1, groups) / groups)).astype(np.int64)
    return np.unique(numbers[order][np.searchsorted(ends, places, side="right")])


def number_label(number: float) -> str:
    """Format a number as a label: '3' for 3.0, otherwise the shortest text that means it."""
    if isinstance(number, int):
        return str(number)
    if number == np.floor(number) and abs(number) < 1e15:
        return str(int(number))
    return repr(float(number))


def _between(low: float, high: float, whole: bool) -> str:
    if whole and low == np.floor(low) and high == np.floor(high):
        if high - low == 1:
            return number_label(low)
        return f"{number_label(low)} to {number_label(high - 1)}"
    return f"{number_label(low)} to under {number_label(high)}"
