"""How well DP-SGD can be told apart, from the attacker's side: two data sets that reach it.

A record that is replaced has gradients of the clipping norm in each step, one way in one data set,
the opposite way in the other. Each step then shows ``N(0, sigma^2)``, moved by 1 or by -1 if the
record was drawn into the batch. What many steps leave of the overlap is found between two limits
as for any other uses (`narcissus.channels.uses`).

Source: Narcissus theory 6.12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from narcissus._validation import between, integer, positive
from narcissus.channels.log_ratio import Floats, OnGrid
from narcissus.channels.uses import Overlap, overlap_after
from narcissus.results import Bound

BEYOND = 12.0
"""Standard deviations beyond which less lies, 1e-32, than the rounding that is allowed for."""
PIECE = 0.25
"""Widest piece, in standard deviations, that is integrated by 8 nodes."""
CELLS = 2**15
"""Cells of a grid that are integrated at once."""


@dataclass(frozen=True)
class SampledGaussianLogRatio:
    """The law of ``ln(P / Q)``, ``P = (1 - q) N(0, sigma^2) + q N(1, sigma^2)``, ``Q`` with -1."""

    noise: float  # ``sigma``, in clipping norms; above 0
    rate: float  # ``q``, in (0, 1]

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        positive("noise", self.noise)
        between("rate", self.rate, 0, 1, open_low=True)

    @property
    def empty(self) -> bool:
        """No: every output is possible with either."""
        return False

    @property
    def low(self) -> float:
        """Where what lies below is negligible."""
        return -self.high

    @property
    def high(self) -> float:
        """Where what lies above is negligible."""
        return float(self._ratio(np.array([self._end]))[0])

    @property
    def step(self) -> None:
        """There is none: its values fill the line."""
        return None

    @property
    def _end(self) -> float:
        return 1 + BEYOND * self.noise

    def _log_density(self, at: Floats, side: float) -> Floats:
        """Return ``ln P`` (side 1) or ``ln Q`` (side -1)."""
        scale = 2 * self.noise**2
        with np.errstate(divide="ignore"):
            rest = np.log1p(-np.float64(self.rate)) - at**2 / scale
        moved = math.log(self.rate) - (at - side) ** 2 / scale
        joined: Floats = np.logaddexp(rest, moved)
        return joined - math.log(self.noise) - math.log(2 * math.pi) / 2

    def _ratio(self, at: Floats) -> Floats:
        return self._log_density(at, 1.0) - self._log_density(at, -1.0)

    def _place(self, ratio: Floats) -> Floats:
        """Return where the ratio is so large; it rises, and is odd.

        With ``u = e^(t / sigma^2)`` it is the root of a quadratic equation, in logarithms.
        """
        x = np.maximum(np.abs(ratio), 1e-300)
        log_c = math.log(self.rate) - 1 / (2 * self.noise**2)
        with np.errstate(divide="ignore"):
            log_b = np.log1p(-np.float64(self.rate)) + x + np.log(-np.expm1(-x))
        log_root = np.logaddexp(2 * log_b, math.log(4) + 2 * log_c + x) / 2
        log_u = np.logaddexp(log_b, log_root) - math.log(2) - log_c
        return np.sign(ratio) * np.maximum(self.noise**2 * log_u, 0.0)

    def log_rho(self, s: float) -> float:
        """Return ``ln rho(s)``."""
        count = math.ceil(2 * self._end / (PIECE * self.noise))
        at, width = _nodes(np.linspace(-self._end, self._end, count + 1))
        logs = (1 - s) * self._log_density(at, 1.0) + s * self._log_density(at, -1.0)
        return math.log(math.fsum((np.exp(logs) * width).ravel()))

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Return the tilted law on the multiples of a step.

        Integrated over the outcome: pieces end where a cell of the grid does, and are never wide.
        """
        first, last = math.floor(self.low / step), math.ceil(self.high / step)
        mass = np.zeros(last - first + 2)
        log_rho = self.log_rho(s)
        mesh = np.arange(-self._end, self._end, PIECE * self.noise)
        for start in range(first, last, CELLS):
            cells = np.arange(start, min(start + CELLS, last) + 1)
            edges = np.clip(
                self._place(np.asarray(cells * step, dtype=np.float64)), -self._end, self._end
            )
            inside = mesh[(mesh > edges[0]) & (mesh < edges[-1])]
            cuts = np.union1d(edges, inside)
            if cuts.size < 2:
                continue
            at, width = _nodes(cuts)
            logs = (1 - s) * self._log_density(at, 1.0) + s * self._log_density(at, -1.0)
            weight = np.exp(logs - log_rho) * width
            place = self._ratio(at) / step
            cell = np.searchsorted(edges, (cuts[:-1] + cuts[1:]) / 2, side="right") - 1
            below = cells[np.clip(cell, 0, cells.size - 2)]
            share = np.clip(place - below[:, None], 0.0, 1.0)
            index = below - first
            mass += np.bincount(index, (weight * (1 - share)).sum(axis=1), mass.size)
            mass += np.bincount(index + 1, (weight * share).sum(axis=1), mass.size)
        return OnGrid(first, mass, 0.25)


def _nodes(cuts: Floats) -> tuple[Floats, Floats]:
    """Return 8 nodes in each piece and their weights, shapes (pieces, 8)."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    width = np.diff(cuts)[:, None] / 2
    return cuts[:-1, None] + width * (nodes + 1), width * weights


def sampled_gaussian_overlap(
    noise: float, rate: float, steps: int, *, tolerance: float = 1e-3
) -> Overlap:
    """Limit ``beta*`` of the two data sets above, from both sides.

    Parameters
    ----------
    noise
        Standard deviation over the clipping norm, above 0.
    rate
        Chance that a record is in a batch, in [0, 1].
    steps
        At least 1.
    tolerance
        Relative distance of the limits that is enough; they hold anyway.

    Notes
    -----
    Source: Narcissus theory 6.12, by 6.4.

    Examples
    --------
    >>> found = sampled_gaussian_overlap(1.0, 1.0, 1)  # two normal laws, 2 apart
    >>> found.low <= math.erfc(1 / math.sqrt(2)) <= found.high
    True
    """
    times = integer("steps", steps, low=1)
    if between("rate", rate, 0, 1) == 0:
        return Overlap(1.0, 1.0)
    return overlap_after([(SampledGaussianLogRatio(noise, rate), times)], tolerance)


def dp_sgd_reached(noise: float, rate: float, steps: int) -> Bound:
    """Limit the ``beta*`` of DP-SGD from above: some two data sets are told apart so well.

    No accountant can prove a larger ``beta*`` for a replaced record against an attacker who sees
    every step; the guarantee is the other direction (`from_guarantee`).

    Parameters
    ----------
    noise, rate, steps
        As in `sampled_gaussian_overlap` and `narcissus.guarantees.dp_sgd`.

    Notes
    -----
    Source: Narcissus theory 6.12.
    """
    return Bound(
        sampled_gaussian_overlap(noise, rate, steps).high,
        "beta* of two data sets that differ in one record",
        "Narcissus theory 6.12",
        (
            "every step is released, and the record's gradients have the clipping norm, one way in "
            "one data set and the opposite way in the other",
        ),
    )
