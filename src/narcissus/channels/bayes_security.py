"""Bayes security: ``beta*``, the pair of secrets that sets it, all pairs, and quick bounds.

``beta*(C) = min over pairs (a, b) of sum_o min(C_ao, C_bo) = 1 - max TV(C_a, C_b)``.
Source: Chatzikokolakis et al. 2023, Theorems 1 and 2, Proposition 5; Narcissus theory 6.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from narcissus._validation import distribution, non_negative
from narcissus.channels._kernels import pair_block
from narcissus.channels._search import BLOCK, column_minima, least_overlap, overlaps_with
from narcissus.channels.channel import Matrix, channel, formula_of
from narcissus.errors import InputError, TooLargeError
from narcissus.observer import SILENT, Observer
from narcissus.results import Grade, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 200
"""Largest number of secrets in a heat map."""


@dataclass(frozen=True)
class WorstPair(Result):
    """``beta*`` of a channel.

    Attributes
    ----------
    value
        ``beta*`` in [0, 1]; 1 leaks nothing, 0 tells two secrets apart for certain.
    pair
        Names of two secrets that reach it; empty if there is one secret alone.
    indices
        Their numbers in the channel, from 0.
    """

    value: float
    pair: tuple[str, ...]
    indices: tuple[int, ...]

    @property
    def grade(self) -> Grade:
        """Always 'proved': computed exactly from the channel."""
        return "proved"

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


def beta_star(matrix: Any, *, observer: Observer = SILENT) -> WorstPair:
    """Compute ``beta*`` exactly, with the pair of secrets that is easiest to tell apart.

    Of one secret alone it is 1, by convention, and there is no pair.

    Source: Chatzikokolakis et al. 2023, Theorems 1 and 2; Narcissus theory 6.1.

    Parameters
    ----------
    matrix
        The channel: a `Channel`, what `channel` takes, or a `ClosedForm`, by its formula.
    observer
        Hears of progress on channels with many secrets.

    Examples
    --------
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
    matrix: Any, *, tolerance: float = 1e-12, most: int = 100_000
) -> list[tuple[str, str]]:
    """Return all pairs of secrets that reach ``beta*``.

    Parameters
    ----------
    matrix
        The channel.
    tolerance
        Relative: pairs up to ``beta* (1 + tolerance)`` count as tied.
    most
        Refuse to list more pairs than this.

    Raises
    ------
    TooLargeError
        More than ``most`` pairs are tied; the message says how many at least.
    """
    c = channel(matrix)
    limit = beta_star(c).value * (1 + non_negative("tolerance", tolerance))
    rows = c.dense
    found: list[tuple[int, int]] = []
    for i in range(0, len(rows), BLOCK):
        for j in range(i, len(rows), BLOCK):
            values = pair_block(rows[i : i + BLOCK], rows[j : j + BLOCK])
            # Sums in another order: let rounding in.
            hits = np.argwhere(values <= limit + 4 * np.finfo(float).eps * limit)
            found += [(i + int(p), j + int(q)) for p, q in hits if i + p < j + q]
            if len(found) > most:
                raise TooLargeError(
                    f"at least {len(found)} pairs reach beta*, more than `most` = {most}; "
                    "raise `most` if you want to list them"
                )
    return [c.pair_names(pair) for pair in sorted(found)]


def pairwise(matrix: Any, *, most: int = 5_000) -> Matrix:
    """Return the Bayes security of every pair, shape (secrets, secrets), 1 on the diagonal.

    Raises
    ------
    TooLargeError
        More than ``most`` secrets.
    """
    c = channel(matrix)
    n = c.shape[0]
    if n > most:
        raise TooLargeError(
            f"the table of all pairs of {n} secrets would take {8 * n * n / 2**20:.0f} MiB; "
            f"at most {most} secrets (raise `most`), or ask `beta_star` for the worst pair"
        )
    rows, out = c.dense, np.ones((n, n))
    for i in range(0, n, BLOCK):
        for j in range(i, n, BLOCK):
            values = np.minimum(1.0, pair_block(rows[i : i + BLOCK], rows[j : j + BLOCK]))
            out[i : i + BLOCK, j : j + BLOCK] = values
            out[j : j + BLOCK, i : i + BLOCK] = values.T
    np.fill_diagonal(out, 1.0)
    return out


def plot_pairwise(matrix: Any, *, ax: Axes | None = None, most: int = MOST_DRAWN) -> Axes:
    """Draw a heat map of the Bayes security of every pair; at most ``most`` secrets.

    Raises
    ------
    TooLargeError
        More secrets than can be told apart in a picture.
    """
    from matplotlib import pyplot as plt

    c = channel(matrix)
    if c.shape[0] > most:
        raise TooLargeError(
            f"a heat map of {c.shape[0]} secrets cannot be read; at most {most}: "
            "choose some with `Channel.rows`"
        )
    axes: Axes = ax if ax is not None else plt.subplots(layout="constrained")[1]
    draw_pairwise(axes, pairwise(c), c.secrets)
    return axes


def draw_pairwise(axes: Axes, values: Matrix, secrets: tuple[str, ...]) -> None:
    image = axes.imshow(values, vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
    figure = axes.get_figure()
    assert figure is not None
    figure.colorbar(image, ax=axes, label="Bayes security of the pair (1: nothing leaks)")
    if len(secrets) <= 25:
        axes.set_xticks(range(len(secrets)), secrets, rotation=90)
        axes.set_yticks(range(len(secrets)), secrets)
    axes.set_xlabel("secret")
    axes.set_ylabel("secret")


@dataclass(frozen=True)
class QuickBounds(Result):
    """Limits of ``beta*`` in time linear in the channel.

    Attributes
    ----------
    low
        ``beta*`` is at least this.
    high
        ``beta*`` is at most this; None where the reference lies outside the convex hull of the
        rows, or cannot be shown to lie inside.
    why
        Why there is no upper limit, if there is none.
    """

    low: float
    high: float | None
    why: str = ""

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"


def quick_bounds(matrix: Any, reference: ArrayLike | str = "centroid") -> QuickBounds:
    """Limit ``beta*`` from distances to one reference distribution, in ``O(nm)``.

    Parameters
    ----------
    matrix
        The channel.
    reference
        "centroid" (the mean row), "uniform", or a distribution over the outputs.

    Returns
    -------
    QuickBounds
        ``low = max(1 - 2r, sum_o min_s C_so)`` with ``r`` the largest distance of a row to the
        reference, and ``high = 1 - r`` if the reference is in the convex hull of the rows.

    Source: Chatzikokolakis et al. 2023, Proposition 5; Narcissus theory 6.1.
    """
    c = channel(matrix)
    m = c.shape[1]
    inside: bool | None = None
    if isinstance(reference, str):
        if reference == "centroid":
            point, inside = np.asarray(c.matrix.mean(axis=0)).ravel(), True
        elif reference == "uniform":
            point = np.full(m, 1 / m)
        else:
            raise InputError(
                f"`reference` must be 'centroid', 'uniform' or a distribution, got {reference!r}"
            )
    else:
        point = distribution("reference", reference)
        if point.size != m:
            raise InputError(f"`reference` must have {m} entries, one per output, got {point.size}")
    radius = float(max(0.0, 1 - overlaps_with(c.matrix, point).min()))
    low = max(0.0, 1 - 2 * radius, math.fsum(column_minima(c.matrix)))
    if inside is None:
        if c.shape[0] * m > 10**6:
            return QuickBounds(
                low, None, "too large to check that the reference is in the convex hull of the rows"
            )
        inside = _in_hull(c.dense, point)
    if not inside:
        return QuickBounds(low, None, "the reference is not in the convex hull of the rows")
    return QuickBounds(low, min(1.0, 1 - radius))


def _in_hull(rows: Matrix, point: Matrix) -> bool:
    """Return whether ``point`` is a mixture of the rows, by a linear program."""
    n = len(rows)
    solution = optimize.linprog(
        np.zeros(n),
        A_eq=np.vstack([rows.T, np.ones(n)]),
        b_eq=np.append(point, 1.0),
        bounds=(0, None),
        method="highs",
    )
    return bool(solution.status == 0)


def l2_bounds(matrix: Any) -> QuickBounds:
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
