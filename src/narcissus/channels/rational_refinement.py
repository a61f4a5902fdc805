"""Refinement without any rounding: a witness found in floats, made rational, and checked exactly.

A post-processing that is a vertex of the linear program is told by its support alone: the equations
``A R = B``, ``R 1 = 1`` on the support have one solution, which is a fraction. A gain stays one
that separates when it is rounded a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.channel import same_secrets
from narcissus.channels.rational import RationalChannel, Row, inner, rational_channel
from narcissus.channels.refinement import refines
from narcissus.results import Grade, NotAssessed, Result

MOST_WORK = 200_000_000
"""Most unknowns squared times equations that are solved in fractions: some seconds."""
COARSE, FINE = 10**4, 10**12
"""Largest denominators of gains that are tried."""

Line = tuple[dict[int, Fraction], Fraction]
"""Coefficients of the unknowns, and what they add up to."""


@dataclass(frozen=True, eq=False)
class RationalRefinement(Result):
    """Whether a second channel is a first one, post-processed; exactly.

    Attributes
    ----------
    holds
        Whether it is.
    by
        The channel ``R`` with ``A R = B``, where it holds.
    gain
        Where it does not: a gain in [0, 1], a row per guess, with which the uniform prior's
        g-vulnerability is larger with the second channel.
    first, second
        These two g-vulnerabilities; 0 where it holds.
    """

    holds: bool
    by: RationalChannel | None
    gain: tuple[Row, ...] | None
    first: Fraction
    second: Fraction

    @property
    def grade(self) -> Grade:
        """Always 'proved': the witness was checked in fractions."""
        return "proved"

    def to_dict(self) -> dict[str, Any]:
        """Return whether it holds, and the witness as rows of texts such as "1/3"."""
        return {
            "holds": self.holds,
            "grade": self.grade,
            "gap": 0 if self.holds else None,
            "by": None if self.by is None else texts(self.by.rows),
            "gain": None if self.gain is None else texts(self.gain),
            "first": str(self.first),
            "second": str(self.second),
        }

    def __str__(self) -> str:
        if self.holds:
            return "REFINES: the first, post-processed, is the second exactly"
        return (
            f"DOES NOT REFINE: with some gain the second tells {self.second}, the first "
            f"{self.first}, exactly"
        )


def texts(rows: Sequence[Row]) -> list[list[str]]:
    return [[str(one) for one in row] for row in rows]


def refines_exactly(first: Any, second: Any) -> RationalRefinement | NotAssessed:
    """Check whether the second channel is the first one, post-processed, with an exact witness.

    Parameters
    ----------
    first, second
        What `rational_channel` takes, over the same secrets.

    Returns
    -------
    RationalRefinement or NotAssessed
        The latter where no witness that was found in floats stands up in fractions: the channels
        are within some 1e-9 of both answers, or too large to solve for in fractions.

    Raises
    ------
    InputError
        Other secrets.

    Examples
    --------
    >>> a, b = [["1/2", "1/2"], ["1/3", "2/3"]], [["3/4", "1/4"], ["2/3", "1/3"]]
    >>> found = refines_exactly(a, b)
    >>> found.holds, found.by.rows[1]
    (True, (Fraction(1, 2), Fraction(1, 2)))
    """
    a, b = rational_channel(first), rational_channel(second)
    same_secrets("that are compared", a.secrets, b.secrets)
    near = refines(a.channel(), b.channel())
    if near.gain is not None:
        found = _by_gain(a, b, near.gain)
        if found is not None:
            return found
    found = _by_solving(a, b, near.by.dense)
    return found or NotAssessed(
        "refinement in fractions",
        "no witness that was found in floats stands up exactly",
        "compare the channels in floats, within 1e-9",
    )


def _by_gain(
    a: RationalChannel, b: RationalChannel, gain: NDArray[np.float64]
) -> RationalRefinement | None:
    """Round a gain, and see whether it still separates."""
    for denominator in (COARSE, FINE):
        table = tuple(
            tuple(Fraction(one).limit_denominator(denominator) for one in row)
            for row in np.clip(gain, 0.0, 1.0).tolist()
        )
        told = a.g_vulnerability(table), b.g_vulnerability(table)
        if told[1] > told[0]:
            return RationalRefinement(False, None, table, *told)
    return None


def _by_solving(
    a: RationalChannel, b: RationalChannel, near: NDArray[np.float64]
) -> RationalRefinement | None:
    """Solve for the post-processing on the support of one in floats, and check it."""
    for least in (1e-9, 0.0):
        support = [(o, j) for o, j in np.argwhere(near > least).tolist()]
        if len(support) ** 2 * (b.shape[0] * b.shape[1] + a.shape[1]) > MOST_WORK:
            return None
        found = solution(_equations(a, b, support), [near[place] for place in support])
        if found is None or min(found) < 0:
            continue
        rows = [[Fraction()] * b.shape[1] for _ in range(a.shape[1])]
        for (o, j), value in zip(support, found, strict=True):
            rows[o][j] = value
        by = rational_channel(rows, secrets=a.outputs, outputs=b.outputs)
        if _product(a.rows, by.columns) == b.rows:
            return RationalRefinement(True, by, None, Fraction(), Fraction())
    return None


def _equations(
    a: RationalChannel, b: RationalChannel, support: list[tuple[int, int]]
) -> list[Line]:
    """Write ``A R = B`` and ``R 1 = 1`` in the entries of R that may be above 0."""
    lines: list[Line] = []
    of_output: dict[int, dict[int, int]] = {j: {} for j in range(b.shape[1])}
    of_row: dict[int, dict[int, Fraction]] = {o: {} for o in range(a.shape[1])}
    for number, (o, j) in enumerate(support):
        of_output[j][o] = number
        of_row[o][number] = Fraction(1)
    for s, row in enumerate(a.rows):
        for j, entries in of_output.items():
            lines.append(({i: row[o] for o, i in entries.items() if row[o]}, b.rows[s][j]))
    return lines + [(line, Fraction(1)) for line in of_row.values()]


def solution(lines: list[Line], near: Sequence[float]) -> list[Fraction] | None:
    """Solve linear equations in fractions.

    lines: the equations.
    near: roughly what is looked for: an unknown that is left free is this, made a fraction.
    Returns list or None: a value for each unknown; None where there is none.
    """
    solved: dict[int, Line] = {}
    for coefficients, right in lines:
        line = dict(coefficients)
        for place in [p for p in line if p in solved]:
            right = _take(line, right, place, solved[place])  # noqa: PLW2901
        if not line:
            if right:
                return None
            continue
        pivot = min(line)
        scale = line[pivot]
        made = {p: c / scale for p, c in line.items()}, right / scale
        for place, (other, total) in solved.items():
            if pivot in other:
                solved[place] = other, _take(other, total, pivot, made)
        solved[pivot] = made
    free = {
        p: Fraction(float(x)).limit_denominator(COARSE)
        for p, x in enumerate(near)
        if p not in solved
    }
    return [
        free[p]
        if p in free
        else solved[p][1] - sum(c * free[q] for q, c in solved[p][0].items() if q != p)
        for p in range(len(near))
    ]


def _take(line: dict[int, Fraction], right: Fraction, place: int, other: Line) -> Fraction:
    """Take so much of another line away that the unknown is gone; give the new right side."""
    share = line[place]
    for p, c in other[0].items():
        value = line.get(p, Fraction()) - share * c
        if value:
            line[p] = value
        else:
            line.pop(p, None)
    return right - share * other[1]


def _product(rows: tuple[Row, ...], columns: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(tuple(inner(row, column) for column in columns) for row in rows)
