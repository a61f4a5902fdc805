"""Refinement: whether one channel can be made from another by post-processing, with a witness.

``B`` refines ``A`` if ``A R = B`` for some channel ``R``; then no attacker, for any prior and any
gain, does better with ``B``. If it does not, some gain says so (Alvim et al. 2020, chapter 9: the
coriaceous theorem), and the multipliers of the linear program are that gain. Witnesses can be made
fractions: an ``R`` that is a vertex of the program is the one solution of ``A R = B``, ``R 1 = 1``
on its support, and a gain still separates when it is rounded a little.

Refinement is no lattice: channels with coins over three secrets or more need have neither bound.
They have both if one refines the other, if neither has coins (partitions of the secrets), and if
there are two secrets: there a channel is the convex curve of its outputs' summed chances, the lower
curve tells more, and the convex curves are a lattice.

Source: Landauer and Redmond 1993 (partitions); Blackwell 1953 (two secrets); Narcissus theory 6.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._arrays import Floats
from narcissus.channels.channel import (
    Channel,
    ProvedResult,
    RationalChannel,
    Row,
    channel,
    inner,
    of_program,
    rational_channel,
    reduced,
    same_secrets,
)
from narcissus.channels.compose import parallel
from narcissus.channels.measures import g_vulnerability, least_cost
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.results import GRADES, Grade, NotAssessed, Result

if TYPE_CHECKING:
    from narcissus.channels.channel import ChannelLike

CLOSE = 1e-9  # Sum of differences below which two channels are alike but for the solver's tolerance
MOST_VARIABLES = 400_000
PRECISE = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
"""The solver's own 1e-7 would take what is off by that much for post-processing."""


@dataclass(frozen=True)
class Refinement(Result):
    """Whether a second channel refines a first one."""

    holds: bool  # Whether it does, within 1e-9 in sum
    gap: float  # ``min over R of sum |A R - B|``
    by: Channel  # The channel ``R`` that comes nearest
    # Where it does not hold: a gain in [0, 1], shape (guesses, secrets), with which the uniform
    # prior's g-vulnerability is larger with the second channel
    gain: Floats | None
    # first, second: These two g-vulnerabilities; 0 where it holds
    first: float
    second: float

    @property
    def grade(self) -> Grade:
        """Proved by the witness; approximate where the two agree but for the solver's tolerance."""
        return "approximate" if self.holds else "proved"

    def to_dict(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "grade": self.grade,
            "gap": self.gap,
            "by": self.by.dense.tolist() if self.holds else None,
            "gain": None if self.gain is None else self.gain.tolist(),
            "first": self.first,
            "second": self.second,
        }

    def __str__(self) -> str:
        if self.holds:
            return f"REFINES: the first, post-processed, is the second within {self.gap:.1g} in sum"
        return (
            f"DOES NOT REFINE: with some gain the second tells {self.second:.6g}, the first "
            f"{self.first:.6g} (gap {self.gap:.6g})"
        )


def refines(first: ChannelLike, second: ChannelLike) -> Refinement:
    """Check whether the second channel is the first one, post-processed.

    Source: Narcissus theory 6.6.

    >>> a, b = [[0.9, 0.1], [0.2, 0.8]], [[0.55, 0.45], [0.2, 0.8]]
    >>> refines(a, b).holds, refines(b, a).holds
    (True, False)
    """
    a, b = channel(first), channel(second)
    same_secrets("that are compared", a.secrets, b.secrets)
    (n, outputs), answers = a.shape, b.shape[1]
    if outputs * answers + n * answers > MOST_VARIABLES:
        raise TooLargeError(
            f"{outputs} and {answers} outputs of {n} secrets make a program of "
            f"{outputs * answers + n * answers:,} variables, at most {MOST_VARIABLES:,} are solved"
        )
    # The solver drops coefficients below 1e-9: R's rows weigh what A's outputs do, so that those
    # of rare outputs are no smaller.
    weight = a.dense.sum(axis=0)
    shares = a.dense / np.where(weight > 0, weight, 1.0)
    product = sparse.kron(shares, sparse.eye_array(answers), format="csr")
    far = sparse.eye_array(n * answers)
    target = b.dense.ravel()
    sums = sparse.kron(sparse.eye_array(outputs), np.ones((1, answers)), format="csr")
    optimum = least_cost(
        np.concatenate([np.zeros(outputs * answers), np.ones(n * answers)]),
        A_ub=sparse.block_array([[product, -far], [-product, -far]], format="csr"),
        b_ub=np.concatenate([target, -target]),
        A_eq=sparse.hstack([sums, sparse.csr_array((outputs, n * answers))], format="csr"),
        b_eq=weight,
        bounds=(0, None),
        options=PRECISE,
    )
    by = np.maximum(optimum.x[: outputs * answers].reshape(outputs, answers), 0.0)
    total = by.sum(axis=1, keepdims=True)
    by = np.where(total > 0, by, 1.0) / np.where(total > 0, total, answers)
    made = channel(by, secrets=a.outputs, outputs=b.outputs)
    gap = float(np.abs(a.dense @ by - b.dense).sum())
    if gap <= CLOSE:
        return Refinement(True, gap, made, None, 0.0, 0.0)
    prices = np.asarray(optimum.ineqlin.marginals).reshape(2, n, answers)
    gain = (1 + np.clip(prices[0] - prices[1], -1.0, 1.0).T) / 2
    vulnerabilities = [g_vulnerability(c, gain) for c in (a, b)]
    if vulnerabilities[1] <= vulnerabilities[0]:
        raise NarcissusError(
            f"not decided: the nearest post-processing is off by {gap:.1g} in sum, more than the "
            f"{CLOSE:g} of one that agrees, and no gain was found that separates the channels"
        )
    return Refinement(False, gap, made, gain, *vulnerabilities)


MOST_WORK = 200_000_000
"""Most unknowns squared times equations that are solved in fractions: some seconds."""
COARSE, FINE = 10**4, 10**12  # Largest denominators of gains that are tried

Line = tuple[dict[int, Fraction], Fraction]  # Coefficients of the unknowns, and what they add up to


@dataclass(frozen=True, eq=False)
class RationalRefinement(ProvedResult):
    """Whether a second channel is a first one, post-processed; exactly."""

    holds: bool
    by: RationalChannel | None  # The channel ``R`` with ``A R = B``, where it holds
    # Where it does not: a gain in [0, 1], a row per guess, with which the uniform prior's
    # g-vulnerability is larger with the second channel
    gain: tuple[Row, ...] | None
    # first, second: These two g-vulnerabilities; 0 where it holds
    first: Fraction
    second: Fraction

    def to_dict(self) -> dict[str, Any]:
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
    return [[str(number) for number in row] for row in rows]


def refines_exactly(first: ChannelLike, second: ChannelLike) -> RationalRefinement | NotAssessed:
    """Check whether the second channel is the first one, post-processed, with an exact witness.

    It is not assessed where no witness that was found in floats holds in fractions: the
    channels are within some 1e-9 of both answers, or too large to solve for in fractions.

    first, second: What `rational_channel` takes, over the same secrets.

    >>> a, b = [["1/2", "1/2"], ["1/3", "2/3"]], [["3/4", "1/4"], ["2/3", "1/3"]]
    >>> found = refines_exactly(a, b)
    >>> found.holds, found.by.rows[1]
    (True, (Fraction(1, 2), Fraction(1, 2)))
    """
    a, b = rational_channel(first), rational_channel(second)
    same_secrets("that are compared", a.secrets, b.secrets)
    near = refines(a.channel(), b.channel())
    if near.gain is not None:
        refinement = _by_gain(a, b, near.gain)
        if refinement is not None:
            return refinement
    refinement = _by_solving(a, b, near.by.dense)
    return refinement or NotAssessed(
        "refinement in fractions",
        "no witness that was found in floats holds exactly",
        "compare the channels in floats, within 1e-9",
    )


def _by_gain(
    a: RationalChannel, b: RationalChannel, gain: NDArray[np.float64]
) -> RationalRefinement | None:
    for denominator in (COARSE, FINE):
        table = tuple(
            tuple(Fraction(number).limit_denominator(denominator) for number in row)
            for row in np.clip(gain, 0.0, 1.0).tolist()
        )
        vulnerabilities = a.g_vulnerability(table), b.g_vulnerability(table)
        if vulnerabilities[1] > vulnerabilities[0]:
            return RationalRefinement(False, None, table, *vulnerabilities)
    return None


def _by_solving(
    a: RationalChannel, b: RationalChannel, near: NDArray[np.float64]
) -> RationalRefinement | None:
    """Solve for the post-processing on the support of one in floats, and check it."""
    for threshold in (1e-9, 0.0):
        support = [(o, j) for o, j in np.argwhere(near > threshold).tolist()]
        if len(support) ** 2 * (b.shape[0] * b.shape[1] + a.shape[1]) > MOST_WORK:
            return None
        values = solution(_equations(a, b, support), [near[place] for place in support])
        if values is None or min(values) < 0:
            continue
        rows = [[Fraction()] * b.shape[1] for _ in range(a.shape[1])]
        for (o, j), value in zip(support, values, strict=True):
            rows[o][j] = value
        by = rational_channel(rows, secrets=a.outputs, outputs=b.outputs)
        made = tuple(tuple(inner(row, column) for column in by.columns) for row in a.rows)
        if made == b.rows:
            return RationalRefinement(True, by, None, Fraction(), Fraction())
    return None


def _equations(
    a: RationalChannel, b: RationalChannel, support: list[tuple[int, int]]
) -> list[Line]:
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


Relation = Literal["equivalent", "first", "second", "incomparable", "not assessed"]
OneWay = Refinement | RationalRefinement | NotAssessed


@dataclass(frozen=True, eq=False)
class ChannelComparison(Result):
    """Which of two channels tells more, for every prior and every gain."""

    names: tuple[str, str]  # Of the two channels
    forwards: OneWay  # Whether the second is the first one, post-processed; with the witness
    backwards: OneWay  # Whether the first is the second one, post-processed

    @property
    def relation(self) -> Relation:
        """What holds: "first" and "second" say which tells more."""
        if isinstance(self.forwards, NotAssessed) or isinstance(self.backwards, NotAssessed):
            return "not assessed"
        if self.forwards.holds:
            return "equivalent" if self.backwards.holds else "first"
        return "second" if self.backwards.holds else "incomparable"

    @property
    def grade(self) -> Grade:
        """The weaker of the two directions'."""
        return GRADES[
            max(GRADES.index(direction.grade) for direction in (self.forwards, self.backwards))
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "relation": self.relation,
            "grade": self.grade,
            "forwards": self.forwards.to_dict(),
            "backwards": self.backwards.to_dict(),
        }

    def __str__(self) -> str:
        a, b = self.names
        head = {
            "equivalent": f"{a} and {b} tell the same: each is the other, post-processed",
            "first": f"{a} tells more than {b}, to every attacker",
            "second": f"{b} tells more than {a}, to every attacker",
            "incomparable": f"{a} and {b} cannot be compared: some attackers learn more from one, "
            "others from the other",
            "not assessed": f"{a} and {b}: not decided",
        }[self.relation]
        return "\n".join([head, *_said(self.forwards, a, b), *_said(self.backwards, b, a)])


def _said(found: OneWay, first: str, second: str) -> list[str]:
    if isinstance(found, NotAssessed):
        return [f"  {first} to {second}: {found}"]
    if found.holds:
        near = f" within {found.gap:.1g} in sum" if isinstance(found, Refinement) else " exactly"
        return [f"  {second} is {first}, post-processed{near}"]
    comparison = f"{float(found.second):.6g} with {second}, {float(found.first):.6g} with {first}"
    return [
        f"  {second} is not {first}, post-processed: there is a gain of which an attacker gets "
        f"{comparison}"
    ]


def compare_channels(
    first: ChannelLike,
    second: ChannelLike,
    *,
    names: tuple[str, str] = ("the first", "the second"),
    exact: bool = False,
) -> ChannelComparison:
    """Return which of two channels tells more, with a witness for each direction.

    exact: Whether the witnesses are checked in fractions; the channels are then what
        `rational_channel` takes.

    Source: Narcissus theory 6.6.

    >>> a = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
    >>> compare_channels(a, [[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]]).relation
    'incomparable'
    """
    ask = refines_exactly if exact else refines
    return ChannelComparison(names, ask(first, second), ask(second, first))


def greatest_below(first: ChannelLike, second: ChannelLike) -> Channel:
    """Return the most that two channels both tell: their greatest lower bound.

    >>> low = greatest_below([[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]])
    >>> low.dense.round(6).tolist()[0]
    [0.642857, 0.357143]
    """
    a, b = _two(first, second)
    if _without_coins(a) and _without_coins(b):
        return _joined(a, b)
    if a.shape[0] == 2:
        return _of_curve(_upper(_curve(a), _curve(b)), a.secrets)
    return _comparable(a, b)[0]


def least_above(first: ChannelLike, second: ChannelLike) -> Channel:
    """Return the least that tells all that either channel does: their least upper bound.

    Parameters and errors are those of `greatest_below`.

    >>> high = least_above([[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]])
    >>> high.dense.round(6).tolist()[0]
    [0.5, 0.4, 0.1]
    """
    a, b = _two(first, second)
    if _without_coins(a) and _without_coins(b):
        return reduced(parallel(a, b))
    if a.shape[0] == 2:
        points = np.concatenate([_curve(a), _curve(b)])
        return _of_curve(_hull(points[np.lexsort((points[:, 1], points[:, 0]))]), a.secrets)
    return _comparable(a, b)[1]


def _two(first: ChannelLike, second: ChannelLike) -> tuple[Channel, Channel]:
    a, b = channel(first), channel(second)
    same_secrets("that are compared", a.secrets, b.secrets)
    return a, b


def _without_coins(c: Channel) -> bool:
    return bool(np.isin(c.dense, (0.0, 1.0)).all())


def _comparable(a: Channel, b: Channel) -> tuple[Channel, Channel]:
    if refines(a, b).holds:
        return b, a
    if refines(b, a).holds:
        return a, b
    raise InputError(
        "these channels have coins, more than two secrets, and neither refines the other: they "
        "may lack a greatest lower and a least upper bound. `parallel` is an upper bound"
    )


def _joined(a: Channel, b: Channel) -> Channel:
    """Join the secrets that either channel does not tell apart, and so on."""
    group = list(range(a.shape[0]))
    for c in (a, b):
        answers = c.dense.argmax(axis=1)
        for output in np.unique(answers):
            same = {group[i] for i in np.flatnonzero(answers == output)}
            group = [min(same) if number in same else number for number in group]
    made = of_program(lambda i: f"like {a.secrets[group[i]]}", range(len(group)))
    return channel(made.matrix, secrets=a.secrets, outputs=made.outputs)


def _curve(c: Channel) -> Floats:
    """Return the corners of the convex curve from (0, 0) to (1, 1), shape (k, 2).

    Sums of the outputs' chances under either secret, those first that tell most for the first.
    """
    pairs = c.dense.T[c.dense.sum(axis=0) > 0]
    slope = pairs[:, 1] / pairs.sum(axis=1)
    corners = np.cumsum(pairs[np.argsort(slope, kind="stable")], axis=0)
    return np.concatenate([[[0.0, 0.0]], np.minimum(corners[:-1], 1.0), [[1.0, 1.0]]])


def _hull(points: Floats) -> Floats:
    """Return the corners of the lower hull of points in order from left to right."""
    corners: list[Floats] = []
    for point in points:
        while len(corners) > 1 and _turns_right(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return np.array(corners)


def _turns_right(a: Floats, b: Floats, c: Floats) -> bool:
    edge, two = b - a, c - a
    return float(edge[0] * two[1] - edge[1] * two[0]) <= 0


def _upper(first: Floats, second: Floats) -> Floats:
    """Return the larger of two convex curves, with the places where they cross."""
    places = np.union1d(first[:, 0], second[:, 0])
    first_heights, two = (_height(curve, places) for curve in (first, second))
    gap = first_heights - two
    crossing = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossing] / (gap[crossing] - gap[crossing + 1])
    between = places[crossing] + share * np.diff(places)[crossing]
    heights = first_heights[crossing] + share * np.diff(first_heights)[crossing]
    points = np.stack(
        [
            np.concatenate([places, between, [1.0]]),
            np.concatenate([np.maximum(first_heights, two), heights, [1.0]]),
        ],
        axis=1,
    )
    return _hull(points[np.lexsort((points[:, 1], points[:, 0]))])


def _height(curve: Floats, places: Floats) -> Floats:
    """Return a curve's height; where it rises at the same time, at 1, the lower end."""
    rises = int(np.searchsorted(curve[:, 0], 1.0))
    return np.interp(places, curve[: rises + 1, 0], curve[: rises + 1, 1])


def _of_curve(corners: Floats, secrets: tuple[str, ...]) -> Channel:
    rows = np.maximum(np.diff(corners, axis=0), 0.0).T
    return channel(rows[:, rows.sum(axis=0) > 0], secrets=secrets)
