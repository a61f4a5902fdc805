"""Lines that carry numbers of the data to numbers of a file: other units, another start.

A file that has a part of the data's people, or other people as well, has no full match of its
numbers in order. Then a line is found from pairs of numbers: many differ by one amount, are in one
proportion, or lie on one line with the least and the largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Line = tuple[float, float]  # slope and level
MOST_DIGITS = 9
"""Most digits of numbers that are compared."""
_SOME = 600  # numbers of each side whose pairs are compared
_ENDS = 8  # least and largest numbers that lines are laid through
_JUDGED = 100  # numbers by which lines through these are judged
_BEST = 5  # lines that are fitted
_FITS = 3
_BESIDE = (-17.0, -11.0, -7.0, 7.0, 11.0, 17.0)  # units of the last place
_BY_CHANCE = 1e-12
_FEWEST = 50  # different numbers
_TIE = 1e-9
_SPARSE = 4  # units of the last place for each number of the data, at least


def places_of(numbers: Numbers, places: int) -> int:
    """Return how many decimal places are compared, so that digits are few enough."""
    largest = float(np.abs(numbers).max())
    return min(places, MOST_DIGITS - 1 - math.floor(math.log10(largest))) if largest else places


def line_of_a_part(known: Numbers, own: Numbers, places: int) -> Line | None:
    """Return the line that carries more numbers of the data to numbers of the file than chance.

    known: Different numbers of the data, rising.
    own: Different numbers of the file, written to so many places.
    """
    unit = 10.0**-places
    if min(len(known), len(own)) < _FEWEST or np.ptp(own) < _SPARSE * unit * len(known):
        return None
    best: tuple[int, Line] | None = None
    for line in _candidates(known, own, unit):
        fitted = _fitted(line, known, own, unit)
        if fitted is not None:
            many = _hits(fitted, known, own, unit)
            best = max(best, (many, fitted)) if best else (many, fitted)
    if best is None:
        return None
    many, (slope, level) = best
    beside = [_hits((slope, level + move * unit), known, own, unit) for move in _BESIDE]
    share = (1 + max(beside)) / (1 + len(own))
    is_beyond = scipy.stats.binom.sf(many - 1, len(own), min(1.0, share)) <= _BY_CHANCE
    return best[1] if is_beyond else None


def _candidates(known: Numbers, own: Numbers, unit: float) -> Iterator[Line]:
    """Yield lines that may carry the data's numbers to the file's."""
    here, there = (side[_evenly(len(side), _SOME)] for side in (known, own))
    yield 1.0, _commonest(there[:, None] - here, unit)
    here, there = here[here > 0], there[there > 0]
    if min(len(here), len(there)) >= _FEWEST:
        step = max(unit / float(np.median(there)), 10.0**-MOST_DIGITS)
        yield math.exp(_commonest(np.log(there)[:, None] - np.log(here), step)), 0.0
    yield from _through_ends(known, own, unit)


def _evenly(size: int, most: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(np.int64))


def _commonest(values: Numbers, step: float) -> float:
    """Return the middle of the two neighbouring steps that hold most values."""
    at = np.floor(values.ravel() / step)
    steps, times = np.unique(at, return_counts=True)
    follows = np.append(np.diff(steps) == 1, [False])
    both = times + np.where(follows, np.append(times[1:], [0]), 0)
    return float((steps[both.argmax()] + 1) * step)


def _through_ends(known: Numbers, own: Numbers, unit: float) -> Iterator[Line]:
    """Yield the best lines through one of the least and one of the largest of both sides."""
    ends = [np.sort(side) for side in (known, own)]
    x, y = (np.stack(np.meshgrid(side[:_ENDS], side[-_ENDS:]), -1).reshape(-1, 2) for side in ends)
    slopes = (y[:, 1] - y[:, 0])[:, None] / (x[:, 1] - x[:, 0])
    levels = y[:, :1] - slopes * x[:, 0]
    slopes, levels = slopes.ravel(), levels.ravel()
    some = ends[1][_evenly(len(own), _JUDGED)]
    back = (some - levels[:, None]) / slopes[:, None]
    apart = np.abs(back - _nearest(ends[0], back)) * slopes[:, None]
    for at in np.argsort(-(apart <= unit).sum(axis=1), kind="stable")[:_BEST]:
        yield float(slopes[at]), float(levels[at])


def _nearest(ordered: Numbers, wanted: Numbers) -> Numbers:
    """Return the number of a rising list that is nearest to each wanted one."""
    at = np.searchsorted(ordered, wanted).clip(1, len(ordered) - 1)
    left, right = ordered[at - 1], ordered[at]
    return np.where(wanted - left <= right - wanted, left, right)


def _fitted(line: Line, known: Numbers, own: Numbers, unit: float) -> Line | None:
    """Fit a line to the numbers of both sides that it carries to each other."""
    slope, level = line
    ordered = np.sort(known)
    for reach in range(_FITS, 0, -1):
        if slope <= 0 or not math.isfinite(slope):
            return None
        near = _nearest(ordered, (own - level) / slope)
        is_near = np.abs(slope * near + level - own) <= reach * unit
        if is_near.sum() < 2 or not np.ptp(near[is_near]):
            return None
        if level:
            middle = near[is_near].mean()
            slope, level = np.polyfit(near[is_near] - middle, own[is_near], 1)
            level = float(level - slope * middle)
        else:
            slope = (near[is_near] @ own[is_near]) / (near[is_near] @ near[is_near])
        slope = float(slope)
    return slope, level


def _hits(line: Line, known: Numbers, own: Numbers, unit: float) -> int:
    """Count the numbers of the file that are numbers of the data, carried and rounded."""
    slope, level = line
    return int(np.isin(np.rint(own / unit), carried(slope * known + level, unit)).sum())


def carried(numbers: Numbers, unit: float) -> Numbers:
    """Return numbers in whole units, the middle up: but for the last digits of products."""
    scaled = numbers / unit
    return np.floor(scaled + 0.5 + _TIE * np.maximum(1.0, np.abs(scaled)))


def shortest_line(line: Line, known: Numbers, own: Numbers, places: int) -> Line:
    """Return the line of fewest digits that carries most numbers, of those that fit as well.

    A slope of 0.93 is fitted as 0.9300002, which rounds some numbers to the wrong side. Lines fit
    as well if they differ by less than two units of the last place of the file. An exchange rate
    may be printed in either direction.
    """
    unit, (slope, level) = 10.0**-places, line
    reach = 2 * unit / max(unit, float(np.abs(known).max()))
    slopes = [float(f"{slope:.{digits}g}") for digits in range(1, MOST_DIGITS + 1)]
    slopes += [1 / float(f"{1 / slope:.{digits}g}") for digits in range(1, MOST_DIGITS)]
    slopes = [other for other in dict.fromkeys(slopes) if abs(other - slope) <= reach]
    lines: list[Line] = []
    for other in slopes:
        about = level + (slope - other) * float(known.mean())
        levels = [float(f"{about:.{digits}g}") for digits in range(1, MOST_DIGITS + 1)]
        levels = [0.0, *levels] if abs(about) <= 2 * unit else levels
        lines += [(other, shorter) for shorter in levels if abs(shorter - about) <= 2 * unit]
    return max([*lines, line], key=lambda each: _hits(each, known, own, unit))  # the first of many
