"""What two channels both tell, and the least that tells what either does, where there is one.

Refinement is no lattice: channels with coins over three secrets or more need have neither bound.
They have both if one refines the other, if neither has coins (partitions of the secrets), and if
there are two secrets: there a channel is the convex curve of its outputs' summed chances, the lower
curve tells more, and the convex curves are a lattice.

Source: Landauer and Redmond 1993 (partitions); Blackwell 1953 (two secrets); Narcissus theory 6.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.channel import Channel, channel, same_secrets
from narcissus.channels.compose import parallel
from narcissus.channels.deterministic import of_program
from narcissus.channels.hyper import reduced
from narcissus.channels.refinement import refines
from narcissus.errors import InputError

Floats = NDArray[np.float64]


def greatest_below(first: Any, second: Any) -> Channel:
    """Return the most that two channels both tell: their greatest lower bound.

    Parameters
    ----------
    first, second
        Channels over the same secrets.

    Raises
    ------
    InputError
        Other secrets; or there need be none: three secrets or more, coins, and neither refines the
        other.

    Examples
    --------
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


def least_above(first: Any, second: Any) -> Channel:
    """Return the least that tells all that either channel does: their least upper bound.

    Parameters and errors are those of `greatest_below`.

    Examples
    --------
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


def _two(first: Any, second: Any) -> tuple[Channel, Channel]:
    a, b = channel(first), channel(second)
    same_secrets("that are compared", a.secrets, b.secrets)
    return a, b


def _without_coins(c: Channel) -> bool:
    return bool(np.isin(c.dense, (0.0, 1.0)).all())


def _comparable(a: Channel, b: Channel) -> tuple[Channel, Channel]:
    """Return the one that tells less and the one that tells more."""
    if refines(a, b).holds:
        return b, a
    if refines(b, a).holds:
        return a, b
    raise InputError(
        "these channels have coins, more than two secrets, and neither refines the other: they "
        "need have no greatest lower and no least upper bound. `parallel` is an upper bound"
    )


def _joined(a: Channel, b: Channel) -> Channel:
    """Join the secrets that either channel does not tell apart, and so on."""
    group = list(range(a.shape[0]))
    for c in (a, b):
        said = c.dense.argmax(axis=1)
        for output in np.unique(said):
            same = {group[i] for i in np.flatnonzero(said == output)}
            group = [min(same) if one in same else one for one in group]
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
    kept: list[Floats] = []
    for point in points:
        while len(kept) > 1 and _turns_right(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return np.array(kept)


def _turns_right(a: Floats, b: Floats, c: Floats) -> bool:
    one, two = b - a, c - a
    return float(one[0] * two[1] - one[1] * two[0]) <= 0


def _upper(first: Floats, second: Floats) -> Floats:
    """Return the larger of two convex curves, with the places where they cross."""
    places = np.union1d(first[:, 0], second[:, 0])
    one, two = (_height(curve, places) for curve in (first, second))
    gap = one - two
    crossing = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossing] / (gap[crossing] - gap[crossing + 1])
    between = places[crossing] + share * np.diff(places)[crossing]
    heights = one[crossing] + share * np.diff(one)[crossing]
    points = np.stack(
        [np.concatenate([places, between, [1.0]]),
         np.concatenate([np.maximum(one, two), heights, [1.0]])], axis=1,
    )  # fmt: skip
    return _hull(points[np.lexsort((points[:, 1], points[:, 0]))])


def _height(curve: Floats, places: Floats) -> Floats:
    """Return a curve's height; where it rises at once, at 1, the lower end."""
    rises = int(np.searchsorted(curve[:, 0], 1.0))
    return np.interp(places, curve[: rises + 1, 0], curve[: rises + 1, 1])


def _of_curve(corners: Floats, secrets: tuple[str, ...]) -> Channel:
    """Return the channel with an output per piece of a curve, the first secret's first."""
    rows = np.maximum(np.diff(corners, axis=0), 0.0).T
    return channel(rows[:, rows.sum(axis=0) > 0], secrets=secrets)
