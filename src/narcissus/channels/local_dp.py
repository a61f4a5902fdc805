"""Local differential privacy of a channel: its epsilon, and its whole profile.

A channel is (epsilon, delta)-LDP if ``sum_o max(0, C_ao - e^epsilon C_bo) <= delta`` for all
ordered pairs of secrets. Source: Chatzikokolakis et al. 2023, sections V-B and V-C.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from narcissus._pandas import pd
from narcissus.channels._kernels import in_threads, pair_block
from narcissus.channels._search import BLOCK
from narcissus.channels.channel import ClosedForm, channel, formula_of
from narcissus.errors import InputError, TooLargeError
from narcissus.results import Grade, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def local_dp_epsilon(matrix: Any) -> float:
    """Return the smallest epsilon for which the channel is epsilon-LDP; ``inf`` if there is none.

    Source: Chatzikokolakis et al. 2023, Equation 2.

    Examples
    --------
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
class LocalProfile(Result):
    """The smallest delta at each epsilon.

    Attributes
    ----------
    epsilon, delta
        The curve, of equal lengths.
    """

    epsilon: tuple[float, ...]
    delta: tuple[float, ...]

    @property
    def grade(self) -> Grade:
        """Always 'proved': computed exactly from the channel."""
        return "proved"

    def to_frame(self) -> Any:
        """Return the curve as a data frame, a row per epsilon."""
        return pd.DataFrame({"epsilon": self.epsilon, "delta": self.delta})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw delta against epsilon."""
        from matplotlib import pyplot as plt

        axes: Axes = ax if ax is not None else plt.subplots(layout="constrained")[1]
        axes.plot(self.epsilon, self.delta)
        axes.set_xlabel("epsilon")
        axes.set_ylabel("smallest delta")
        axes.set_ylim(0, 1)
        return axes


def local_dp_delta(matrix: Any, epsilon: float) -> float:
    """Return the smallest delta for which the channel is (epsilon, delta)-LDP.

    At epsilon 0 this is ``1 - beta*`` (Chatzikokolakis et al. 2023, Proposition 2).
    """
    return local_dp_profile(matrix, [epsilon]).delta[0]


def local_dp_profile(
    matrix: Any, epsilons: ArrayLike | None = None, *, most: float = 2e12
) -> LocalProfile:
    """Return the smallest delta at each epsilon.

    Parameters
    ----------
    matrix
        The channel.
    epsilons
        Where, each at least 0; by default 41 points from 0 to the channel's epsilon (to 10 if
        that is infinite).
    most
        Refuse more elementary operations than this (secrets squared, times outputs and points).

    Raises
    ------
    TooLargeError
        The search over all ordered pairs would take too long; the message says its size.
    """
    form = formula_of(matrix)
    source = channel(matrix) if form is None else form
    if epsilons is None:
        end = local_dp_epsilon(source)
        epsilons = np.linspace(0, end if math.isfinite(end) else 10.0, 41)
    points = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    if not (points >= 0).all():
        raise InputError(f"`epsilons` must be at least 0, got {points.min()!r}")
    if isinstance(source, ClosedForm):
        return LocalProfile(tuple(points.tolist()), tuple(source.delta(e) for e in points.tolist()))
    c = source
    n, m = c.shape
    work = float(n) * n * m * points.size
    if work > most:
        raise TooLargeError(
            f"the profile of {n} secrets x {m} outputs at {points.size} points takes {work:.1e} "
            f"operations, more than `most` = {most:.1e}; ask for fewer points"
        )
    rows = c.dense

    def block_row(task: tuple[int, float]) -> float:
        low, factor = task
        left = rows[low : low + BLOCK]
        if math.isinf(factor):  # only outputs that the other secret never gives count
            scaled = [np.where(rows[j : j + BLOCK] > 0, 2.0, 0.0) for j in range(0, n, BLOCK)]
            return max(float(pair_block(left, b, kind="excess").max()) for b in scaled)
        return max(
            float(pair_block(left, rows[j : j + BLOCK] * factor, kind="excess").max())
            for j in range(0, n, BLOCK)
        )

    with np.errstate(over="ignore"):
        factors = np.exp(points)
    starts = range(0, n, BLOCK)
    tasks = [(low, float(f)) for f in factors for low in starts]
    worst: Sequence[float] = in_threads(block_row, tasks)
    deltas = np.array(worst).reshape(points.size, len(starts)).max(axis=1)
    return LocalProfile(tuple(points.tolist()), tuple(np.minimum(1.0, deltas).tolist()))
