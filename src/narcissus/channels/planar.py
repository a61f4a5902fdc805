"""Planar Laplace and planar geometric noise on the points of a grid (geo-indistinguishability).

Both fall with the Euclidean distance and are clamped to the grid, which is post-processing: they
keep epsilon-d-privacy for that distance.

``e^(-a r)`` is a mixture of Gaussians over their variance v: with ``u = ln v``

    e^(-a r) = integral of g(u; 1/2) e^(-r^2 / 2v) du,
    a^2 / (2 pi) e^(-a r) = integral of g(u; 3/2) e^(-r^2 / 2v) / (2 pi v) du,
    g(u; s) = (v a^2 / 2)^s e^(-v a^2 / 2) / Gamma(s).

Given v the two coordinates are independent, so that a table of all masses is one product of
matrices, of terms that are positive. The integrand is analytic in the strip ``|Im u| < pi/2``, and
the trapezoidal rule of step h is off by at most ``2 M / (e^(2 pi b / h) - 1)``, M the integral of
its modulus at ``Im u = b``. There ``|e^(-r^2 / 2v)| <= e^(-r^2 cos b / 2|v|)``; with
``v' = |v| / cos b`` this is the same mixture for ``a cos b``, times ``(cos b)^(-1/2)`` (s = 1/2) or
``(cos b)^(-5/2)`` (s = 3/2, where the two normal densities bring ``1 / cos b`` more).

Source: Andrés et al. 2013 (planar Laplace); Trefethen and Weideman 2014, theorem 5.1 (the
trapezoidal rule); Narcissus theory 6.11.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats
from narcissus._validation import integer, positive
from narcissus.channels.channel import Channel, channel
from narcissus.channels.closed_forms import OfMatrix, check_size, put
from narcissus.errors import InputError

Factor = Callable[[float], tuple[Floats, Floats]]
"""Variance -> the coordinate's masses of all pieces, and what rounding may have done to each."""

STRIP = 1.0  # Height at which the integrand's modulus is taken, below pi / 2
FINE = 60.0  # Exponent of what the rule and the cut on the right are off by, before distances
CUT = 18.0  # Figures that the cut on the left leaves to what holds the origin


def masses(
    rate: float,
    power: float,
    factor: Factor,
    reach: int,
    modulus: Floats,
    inside: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Return the masses of all pairs of pieces, and a bound on each one's error.

    rate: Fall of the density with the distance, ``a``; above 0.
    power: 1/2 for points, 3/2 for areas: ``s`` above.
    factor: See `Factor`; the pieces are of one coordinate, shape (pieces,), at most ``1 + 2.6 sqrt
        v``.
    reach: Largest distance of a piece in either coordinate.
    modulus: Bound on the pair's mass for the rate ``a cos b``, times the power of ``cos b`` above;
        shape (pieces, pieces).
    inside: Whether a piece holds the origin, shape (pieces,).

    Source: Narcissus theory 6.11.
    """
    step = 2 * math.pi * STRIP / (FINE + rate * reach)
    start = -(CUT / power) * math.log(10) - 2 * math.log(max(rate, 1.0))
    largest_load = FINE + 3 * rate * reach  # of v a^2 / 2
    end = math.log(2 * largest_load / rate**2)
    nodes = start + step * np.arange(math.ceil((end - start) / step) + 1)
    variances = np.exp(nodes)
    load = variances * rate**2 / 2
    logs = power * np.log(load) - load - math.lgamma(power)
    weight = step * np.exp(logs)
    wrong = _EPS * (8 + 2 * (np.abs(nodes) + load)) * weight
    factors = [factor(float(v)) for v in variances]
    pieces, rounded = np.array([f for f, _ in factors]), np.array([e for _, e in factors])
    mass = pieces.T @ (weight[:, None] * pieces)
    errors = rounded.T @ (weight[:, None] * pieces)
    errors = errors + errors.T + pieces.T @ (wrong[:, None] * pieces)
    errors += _EPS * nodes.size * mass
    fine = 2 * math.pi * STRIP / step
    errors += 2 * modulus * math.exp(-fine) / -math.expm1(-fine)
    # left of the first node: a piece that holds the origin has at most its mass there or 1, any
    # other falls with v; right of the last: the weights fall by e^-30h and more from node to node
    first = np.where(inside, np.maximum(pieces[0], 1.0), pieces[0])
    errors += 1.01 * weight[0] / math.expm1(power * step) * np.outer(first, first)
    last = weight[-1] * (1 + 2.6 * math.sqrt(float(variances[-1]))) ** 2
    errors += last / math.expm1(30 * step)
    return mass, errors


def off_by(values: Floats, errors: Floats) -> float:
    """Return the largest relative error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = float(np.max(errors / values)) if (values > 0).all() else math.inf
    if not worst < 1e-9:
        raise InputError(
            "some points are told apart so well that floating point does not hold their masses; "
            "take a smaller epsilon, or a grid that spans less"
        )
    return worst


LEAST_RATE = 1e-3  # Epsilon times the grid's step below which geometric noise needs too many terms
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class _Grid(OfMatrix):
    """Noise in the plane on a grid of ``width`` x ``height`` points.

    A coordinate's pieces are, in this order, the places at the distances 0 to n - 1, all places
    from these distances on, and all places, with n the longer side.
    """

    width: int
    height: int
    epsilon: float
    step: float = 1.0

    def __post_init__(self) -> None:
        width, height = (integer(name, getattr(self, name), low=1) for name in ("width", "height"))
        if width * height == 1:
            raise InputError("a grid needs two points at least")
        epsilon, step = positive("epsilon", self.epsilon), positive("step", self.step)
        put(self, width=width, height=height, epsilon=epsilon, step=step)
        check_size(self.secrets, self.secrets)

    @property
    def secrets(self) -> int:
        return self.width * self.height

    @property
    def rate(self) -> float:
        return self.epsilon * self.step

    @property
    def distances(self) -> Floats:
        """Euclidean distances of the points, shape (secrets, secrets)."""
        y, x = (side.ravel() * self.step for side in np.indices((self.height, self.width)))
        return np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))

    @property
    def off_by(self) -> float:
        """Proved limit on the relative error of each entry of the channel."""
        return off_by(*self._pieces)

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats]:
        """Masses of all pairs of pieces, and what they are off by at most."""
        raise NotImplementedError

    def channel(self) -> Channel:
        """Return the channel; a point is named by its column and row, from 1."""
        self.off_by  # noqa: B018 - refuses what floating point does not hold
        table, n = self._pieces[0], max(self.width, self.height)
        across, down = _which(self.width, n), _which(self.height, n)
        # [y, x, y', x'] from [y, y'] and [x, x']
        matrix = table[down[:, None, :, None], across[None, :, None, :]]
        names = [f"{x + 1},{y + 1}" for y in range(self.height) for x in range(self.width)]
        entries = matrix.reshape(self.secrets, self.secrets)
        return channel(np.minimum(entries, 1.0), secrets=names, outputs=names)


def _which(size: int, n: int) -> NDArray[np.intp]:
    if size == 1:
        return np.array([[2 * n]])
    place = np.arange(size)
    far = np.abs(np.subtract.outer(place, place))
    far[:, [0, -1]] += n
    return far


@dataclass(frozen=True)
class PlanarLaplace(_Grid):
    """Planar Laplace noise, moved to the nearest point of the grid.

    The noise z has the density ``epsilon^2 / (2 pi) e^(-epsilon |z|)``.

    Source: Andrés et al. 2013.

    width: Points from left to right.
    height: Points from bottom to top.
    epsilon: Privacy level for a distance of 1.
    step: Distance of neighbouring points.

    >>> round(float(PlanarLaplace(3, 3, 0.5).channel().dense[0, 0]), 12)
    0.335866198921
    """

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats]:
        n, falls = max(self.width, self.height), self.rate * math.cos(STRIP)
        low = np.concatenate([np.arange(n) - 0.5, np.arange(n) - 0.5, [0.0]])
        far = np.hypot.outer(np.maximum(low, 0.0), np.maximum(low, 0.0)) * falls
        modulus = (1 + far) * np.exp(-far) * math.cos(STRIP) ** -2.5
        return masses(self.rate, 1.5, lambda v: _areas(v, n), n, modulus, low <= 0)


def _areas(variance: float, n: int) -> tuple[Floats, Floats]:
    """Return a normal law's masses of unit cells, of what begins with each, and of all."""
    start = (np.arange(n) - 0.5) / math.sqrt(2 * variance)
    end = (np.arange(n) + 0.5) / math.sqrt(2 * variance)
    near = end < 0.5  # there erf keeps the digits that erfc loses
    size = np.where(near, special.erf(end), special.erfc(start)) / 2
    cells = np.where(
        near, special.erf(end) - special.erf(start), special.erfc(start) - special.erfc(end)
    )
    cells = np.maximum(cells, 0.0) / 2
    tails = special.erfc(start) / 2
    rounding = _EPS * (8 + 4 * start**2)
    return (
        np.concatenate([cells, tails, [1.0]]),
        np.concatenate([np.abs(size) * rounding, tails * rounding, [_EPS]]),
    )


@dataclass(frozen=True)
class PlanarGeometric(_Grid):
    """Planar geometric noise: a point of the endless grid, the nearest of ours where it is none.

    The noise z has a probability proportional to ``e^(-epsilon |z|)``.

    Source: Chatzikokolakis et al. 2017 (planar geometric).

    width: Points from left to right.
    height: Points from bottom to top.
    epsilon: Privacy level for a distance of 1; times ``step`` at least 0.001.
    step: Distance of neighbouring points.

    >>> round(float(PlanarGeometric(3, 3, 0.5).channel().dense[0, 0]), 12)
    0.340764659706
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate < LEAST_RATE:
            raise InputError(
                f"`epsilon` times `step` is {self.rate:g}; geometric noise takes {LEAST_RATE:g} "
                "at least: use planar Laplace noise, which is nearly the same there"
            )

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats]:
        n, ratio = max(self.width, self.height), math.exp(-self.rate * math.cos(STRIP) / 2**0.5)
        cells = ratio ** np.arange(n)  # a distance is at least the sum of coordinates over sqrt 2
        above = np.concatenate([cells, cells / (1 - ratio), [(1 + ratio) / (1 - ratio)]])
        modulus = np.outer(above, above) * math.cos(STRIP) ** -0.5
        inside = np.zeros(2 * n + 1, dtype=bool)
        inside[[0, n, 2 * n]] = True
        pair_masses, errors = masses(self.rate, 0.5, lambda v: _points(v, n), n, modulus, inside)
        total = float(pair_masses[-1, -1])
        return pair_masses / total, (
            errors + pair_masses * float(errors[-1, -1]) / total
        ) / total * (1 + 1e-9)


def _points(variance: float, n: int) -> tuple[Floats, Floats]:
    """Return ``e^(-i^2 / 2v)`` at the first places, summed from each on, and over all places."""
    last = n + math.ceil(math.sqrt(n * n + 90 * variance))  # beyond it less than an ulp of any sum
    power = np.arange(last) ** 2 / (2 * variance)
    each = np.exp(-power)
    wrong = _EPS * (4 + 2 * power) * each
    sums = np.cumsum(each[::-1])[::-1]
    lost = np.cumsum(wrong[::-1])[::-1] + _EPS * last * sums
    return (
        np.concatenate([each[:n], sums[:n], [2 * sums[0] - 1]]),
        np.concatenate([wrong[:n], lost[:n], [2 * lost[0] + _EPS]]),
    )
