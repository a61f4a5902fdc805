"""Bayes security, ``beta*``: its worst pair, all pairs, quick bounds; and local DP of a channel.

``beta*(C) = min over pairs (a, b) of sum_o min(C_ao, C_bo) = 1 - max TV(C_a, C_b)``. A channel is
(epsilon, delta)-LDP if ``sum_o max(0, C_ao - e^epsilon C_bo) <= delta`` for all ordered pairs.
Source: Chatzikokolakis et al. 2023, Theorems 1 and 2, Proposition 5, sections V-B and V-C;
Narcissus theory 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from narcissus._pandas import pd
from narcissus._validation import distribution, non_negative
from narcissus.channels._search import (
    BLOCK,
    column_minima,
    in_threads,
    least_overlap,
    overlaps_with,
    pair_block,
)
from narcissus.channels.channel import ClosedForm, Matrix, ProvedResult, channel, formula_of
from narcissus.errors import InputError, TooLargeError
from narcissus.observer import SILENT, Observer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from narcissus.channels.channel import ChannelLike


MOST_DRAWN = 200  # Largest number of secrets in a heat map


@dataclass(frozen=True)
class WorstPair(ProvedResult):
    """``beta*`` of a channel."""

    value: float  # ``beta*`` in [0, 1]; 1 leaks nothing, 0 tells two secrets apart for certain
    pair: tuple[str, ...]  # Names of two secrets that reach it; empty if there is one secret alone
    indices: tuple[int, ...]  # Their numbers in the channel, from 0

    @property
    def advantage(self) -> float:
        """The largest advantage of any attacker over a coin, ``1 - beta*``."""
        return 1 - self.value

    def __str__(self) -> str:
        if not self.pair:
            return "EXACT: Bayes security 1: there is one secret, and nothing to tell apart"
        return (
            f"EXACT: Bayes security {self.value:.6g}, at the secrets {self.pair[0]!r} and "
            f"{self.pair[1]!r}\n  an attacker who knows that it is one of these two, equally "
            f"likely, names it with probability {1 - self.value / 2:.6g}"
        )


def beta_star(matrix: ChannelLike, *, observer: Observer = SILENT) -> WorstPair:
    """Compute ``beta*`` exactly, with the pair of secrets that is easiest to tell apart.

    Of one secret alone it is 1, by convention, and there is no pair.

    Source: Chatzikokolakis et al. 2023, Theorems 1 and 2; Narcissus theory 6.1.

    >>> found = beta_star([[0.9, 0.1, 0], [0.5, 0.5, 0], [0.51, 0.12, 0.37]])
    >>> round(found.value, 12), found.pair
    (0.6, ('s1', 's2'))
    """
    if (form := formula_of(matrix)) is not None:
        return WorstPair(form.beta_star, form.pair, form.indices)
    c = channel(matrix)
    if c.shape[0] == 1:
        return WorstPair(1.0, (), ())
    value, pair = least_overlap(c.matrix, observer=observer)
    return WorstPair(value, c.pair_names(pair), pair)


def tied_pairs(
    matrix: ChannelLike, *, tolerance: float = 1e-12, most: int = 100_000
) -> list[tuple[str, str]]:
    """Return all pairs of secrets that reach ``beta*``.

    tolerance: Relative: pairs up to ``beta* (1 + tolerance)`` count as tied.
    most: Refuse to list more pairs than this.
    """
    c = channel(matrix)
    limit = beta_star(c).value * (1 + non_negative("tolerance", tolerance))
    ties: list[tuple[int, int]] = []
    for i, j, values in _blocks(c.dense):
        # Sums in another order: let rounding in.
        hits = np.argwhere(values <= limit + 4 * np.finfo(float).eps * limit)
        ties += [(i + int(p), j + int(q)) for p, q in hits if i + p < j + q]
        if len(ties) > most:
            raise TooLargeError(
                f"at least {len(ties)} pairs reach beta*, more than `most` = {most}; "
                "raise `most` if you want to list them"
            )
    return [c.pair_names(pair) for pair in sorted(ties)]


def _blocks(rows: Matrix) -> Iterator[tuple[int, int, Matrix]]:
    """Yield the overlaps of blocks of rows, and where they begin, on and above the diagonal."""
    for i in range(0, len(rows), BLOCK):
        for j in range(i, len(rows), BLOCK):
            yield i, j, pair_block(rows[i : i + BLOCK], rows[j : j + BLOCK])


def pairwise(matrix: ChannelLike, *, most: int = 5_000) -> Matrix:
    """Return the Bayes security of every pair, shape (secrets, secrets), 1 on the diagonal."""
    c = channel(matrix)
    n = c.shape[0]
    if n > most:
        raise TooLargeError(
            f"the table of all pairs of {n} secrets would take {8 * n * n / 2**20:.0f} MiB; "
            f"at most {most} secrets (raise `most`), or ask `beta_star` for the worst pair"
        )
    out = np.ones((n, n))
    for i, j, overlaps in _blocks(c.dense):
        values = np.minimum(1.0, overlaps)
        out[i : i + BLOCK, j : j + BLOCK] = values
        out[j : j + BLOCK, i : i + BLOCK] = values.T
    np.fill_diagonal(out, 1.0)
    return out


def plot_pairwise(matrix: ChannelLike, *, ax: Axes | None = None, most: int = MOST_DRAWN) -> Axes:
    """Draw a heat map of the Bayes security of every pair; at most ``most`` secrets."""
    c = channel(matrix)
    if c.shape[0] > most:
        raise TooLargeError(
            f"a heat map of {c.shape[0]} secrets cannot be read; at most {most}: "
            "choose some with `Channel.rows`"
        )
    axes = new_axes(ax)
    draw_pairwise(axes, pairwise(c), c.secrets)
    return axes


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes to draw on: those given, or new ones."""
    from matplotlib import pyplot as plt

    return ax if ax is not None else plt.subplots(layout="constrained")[1]


def draw_pairwise(axes: Axes, values: Matrix, secrets: tuple[str, ...]) -> None:
    image = axes.imshow(values, vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
    figure = axes.get_figure()
    assert figure is not None
    figure.colorbar(image, ax=axes, label="Bayes security of the pair (1: nothing leaks)")
    if len(secrets) <= 25:
        axes.set_xticks(range(len(secrets)), secrets, rotation=90)
        axes.set_yticks(range(len(secrets)), secrets)
    axes.set(xlabel="secret", ylabel="secret")


@dataclass(frozen=True)
class QuickBounds(ProvedResult):
    """Limits of ``beta*`` in time linear in the channel."""

    low: float
    high: float | None  # None where the reference is not shown to be in the hull of the rows
    why: str = ""  # Why there is no upper limit, if there is none


def quick_bounds(matrix: ChannelLike, reference: ArrayLike | str = "centroid") -> QuickBounds:
    """Limit ``beta*`` from distances to one reference distribution, in ``O(nm)``.

    reference: "centroid" (the mean row), "uniform", or a distribution over the outputs.

    ``low = max(1 - 2r, sum_o min_s C_so)`` with ``r`` the largest distance of a row to the
    reference, and ``high = 1 - r`` if the reference is in the convex hull of the rows.

    Source: Chatzikokolakis et al. 2023, Proposition 5; Narcissus theory 6.1.
    """
    c = channel(matrix)
    n, m = c.shape
    is_centroid = isinstance(reference, str) and reference == "centroid"
    if is_centroid:
        point = np.asarray(c.matrix.mean(axis=0)).ravel()
    elif not isinstance(reference, str):
        point = distribution("reference", reference)
        if point.size != m:
            raise InputError(f"`reference` must have {m} entries, one per output, got {point.size}")
    elif reference == "uniform":
        point = np.full(m, 1 / m)
    else:
        raise InputError(
            f"`reference` must be 'centroid', 'uniform' or a distribution, got {reference!r}"
        )
    radius = float(max(0.0, 1 - overlaps_with(c.matrix, point).min()))
    low = max(0.0, 1 - 2 * radius, math.fsum(column_minima(c.matrix)))
    if not is_centroid:
        if n * m > 10**6:
            return QuickBounds(
                low, None, "too large to check that the reference is in the convex hull of the rows"
            )
        mixture = optimize.linprog(
            np.zeros(n),
            A_eq=np.vstack([c.dense.T, np.ones(n)]),
            b_eq=np.append(point, 1.0),
            bounds=(0, None),
            method="highs",
        )
        if mixture.status != 0:
            return QuickBounds(low, None, "the reference is not in the convex hull of the rows")
    return QuickBounds(low, min(1.0, 1 - radius))


def l2_bounds(matrix: ChannelLike) -> QuickBounds:
    """Limit ``beta*`` from the Euclidean diameter ``d`` of the rows.

    ``1 - sqrt(m) d / 2 <= beta* <= 1 - d / 2``: loose for many outputs.

    Source: Chatzikokolakis et al. 2023, section VII-C (the trivial embedding of L1 into L2).
    """
    c = channel(matrix)
    rows = c.dense
    squares = np.einsum("ij,ij->i", rows, rows)
    widest, pair = 0.0, (0, 0)
    for i in range(0, len(rows), 1024):
        block = squares[i : i + 1024, None] + squares - 2 * rows[i : i + 1024] @ rows.T
        p, q = np.unravel_index(int(np.argmax(block)), block.shape)
        if block[p, q] > widest:
            widest, pair = float(block[p, q]), (i + int(p), int(q))
    # Squared distances are differences here: good for finding the pair, so measure it afresh, and
    # leave room for their rounding on the other side.
    longest = float(np.linalg.norm(rows[pair[0]] - rows[pair[1]]))
    low = max(0.0, 1 - math.sqrt(c.shape[1]) * (math.sqrt(widest) + 1e-7) / 2)
    return QuickBounds(low, min(1.0, 1 - longest / 2))


def local_dp_epsilon(matrix: ChannelLike) -> float:
    """Return the smallest epsilon for which the channel is epsilon-LDP; ``inf`` if there is none.

    Source: Chatzikokolakis et al. 2023, Equation 2.

    >>> round(local_dp_epsilon([[0.75, 0.25], [0.25, 0.75]]), 6)  # ln 3
    1.098612
    """
    if (form := formula_of(matrix)) is not None:
        return form.local_epsilon
    c = channel(matrix)
    top, bottom = c.column_max(), c.column_min()
    used = top > 0
    if (bottom[used] == 0).any():
        return math.inf
    # Logarithms first: the ratio itself can overflow.
    return float(np.max(np.log(top[used]) - np.log(bottom[used])))


@dataclass(frozen=True)
class LocalProfile(ProvedResult):
    """The smallest delta at each epsilon, of equal lengths."""

    epsilon: tuple[float, ...]
    delta: tuple[float, ...]

    def to_frame(self) -> Any:
        return pd.DataFrame({"epsilon": self.epsilon, "delta": self.delta})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        axes = new_axes(ax)
        axes.plot(self.epsilon, self.delta)
        axes.set(xlabel="epsilon", ylabel="smallest delta", ylim=(0, 1))
        return axes


def local_dp_delta(matrix: ChannelLike, epsilon: float) -> float:
    """Return the smallest delta for which the channel is (epsilon, delta)-LDP.

    At epsilon 0 this is ``1 - beta*`` (Chatzikokolakis et al. 2023, Proposition 2).
    """
    return local_dp_profile(matrix, [epsilon]).delta[0]


def local_dp_profile(
    matrix: ChannelLike, epsilons: ArrayLike | None = None, *, most: float = 2e12
) -> LocalProfile:
    """Return the smallest delta at each epsilon.

    epsilons: Where, each at least 0; by default 41 points from 0 to the channel's epsilon (to 10 if
        that is infinite).
    most: Refuse more elementary operations than this (secrets squared, times outputs and points).
    """
    source = formula_of(matrix) or channel(matrix)
    if epsilons is None:
        end = local_dp_epsilon(source)
        epsilons = np.linspace(0, end if math.isfinite(end) else 10.0, 41)
    points = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    if not (points >= 0).all():
        raise InputError(f"`epsilons` must be at least 0, got {points.min()!r}")
    if isinstance(source, ClosedForm):
        return LocalProfile(tuple(points.tolist()), tuple(source.delta(e) for e in points.tolist()))
    (n, m), rows = source.shape, source.dense
    work = float(n) * n * m * points.size
    if work > most:
        raise TooLargeError(
            f"the profile of {n} secrets x {m} outputs at {points.size} points takes {work:.1e} "
            f"operations, more than `most` = {most:.1e}; ask for fewer points"
        )

    def scaled(block: Matrix, factor: float) -> Matrix:
        # Of an infinite factor only outputs that the other secret never gives count.
        return np.where(block > 0, 2.0, 0.0) if math.isinf(factor) else block * factor

    def block_row(task: tuple[int, float]) -> float:
        low, factor = task
        left = rows[low : low + BLOCK]
        return max(
            float(pair_block(left, scaled(rows[j : j + BLOCK], factor), kind="excess").max())
            for j in range(0, n, BLOCK)
        )

    with np.errstate(over="ignore"):
        factors = np.exp(points)
    starts = range(0, n, BLOCK)
    worst = in_threads(block_row, [(low, float(f)) for f in factors for low in starts])
    deltas = np.array(worst).reshape(points.size, len(starts)).max(axis=1)
    return LocalProfile(tuple(points.tolist()), tuple(np.minimum(1.0, deltas).tolist()))
