"""Everybody's posterior from one release, for any number of people.

Mean field with people's own part taken out by linear response (adaptive TAP), solved as a convex
problem over the cells: a few dozen passes over the types of people.

**The convex problem.** Write the density of the noise as an integral over one variable for each
cell, ``theta``. Given ``theta`` people are independent, each with the belief ``prior * exp(sum of
theta over their cells)``, and the release is most likely where

    sum_types people * log Z(theta)  -  released . theta  +  sum variance * theta^2 / 2

is least (a saddle point; ridge regression of a multinomial logit, the released counts its data).
It is convex: L-BFGS finds the least from anywhere, with the diagonal ``variance + variance of the
cell's count`` as its first guess of the curvature.

**The own term**: how far people's own part in the cells has moved what is said about them. The
beliefs of a saddle point count everybody's own value among what the cells say. Take one person out:
by linear response the cells' ``theta`` moves by ``H^-1 a`` for a person with cells ``a``, where ``H
= variance + cov(counts)`` has the second derivatives. What remains is, for value ``v`` of a person
who is believed to have ``q``,

    log belief = log prior + a_v . theta - E_v / 2 + constant,
    E_v = (a_v - a_q)' H~^-1 (a_v - a_q),        a_q = sum of a_v over q,

with ``H~`` without the person (the adaptive TAP equations of Opper and Winther 2001, with the
linear response of theory F3; naive mean field has ``H = variance``, which takes out too much).
``E`` is computed, not tuned: from the whole matrix where it is small, and else from its diagonal,
corrected by the effective number of the cells' counts, which a few random probes estimate.

**Sites**: what a noisy count says of the true one, as the normal distribution that would say the
same. Gaussian noise is what it is. A Laplace density is replaced, cell by cell, by the normal
factor that gives the count the same mean and variance when everything else says that it is normal
(expectation propagation, Minka 2001). Where the noise is wide such a factor pulls with up to ``1 /
scale`` whatever the distance, twice as informative as Gaussian noise of the same variance.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy import special

from narcissus._arrays import Floats
from narcissus.attacks.table.shards import ShardedPosterior, split
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import TableQueries
from narcissus.mechanisms.noise import LaplaceNoise, Noise

MEMORY = 12  # pairs of steps that L-BFGS keeps
FALL = 1e-4  # of the slope that a step must win (Armijo)
STEPS = 30  # halvings of a step

WHOLE = 512
"""Types times values up to which the whole matrix is inverted."""

PROBED = 2_000
"""People over whom probes average; at least one probe, at most four."""

MOST_PROBES = 4

CONJUGATE_STEPS = 25
"""Most steps of a conjugate gradient."""

CLOSE = 1e-2
"""Share by which a further step must raise what a probe gives."""

CERTAIN = 1e-9
"""Free counts below which everybody's value is known, and nothing is left to correct."""

LEAST = 1e-6
"""Least curvature of a Laplace factor, in units of ``1 / scale^2``."""

NARROW = 1e-2
"""Least variance of a count, in units of ``scale^2``: a factor that is matched where beliefs are
all but certain would hold them there, right or wrong."""

ROUNDS = 3
"""How often own terms and the factors of Laplace noise are worked out anew."""

SLIGHT = 0.01
"""Mean change of own terms, in nats, that is left out."""

Steps = deque[tuple[Floats, Floats, float]]
"""The last moves, changes of the gradient, and inverses of their products."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the cells are believed to be at some ``theta``; shards keep those of people."""

    counts: Floats  # Expected count of each cell, shape (cells,)
    variance: Floats  # Its variance, people being independent


class Dual:
    """The problem for some people and one release."""

    def __init__(self, shards: ShardedPosterior, released: Floats, variance: Floats) -> None:
        self.shards = shards
        self.released = released  # or what it is read as, shape (cells,)
        self.variance = variance  # of the noise

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective a person, and its gradient."""
        answers = self.shards.ask("evaluate", theta)
        total: float = sum(objective for objective, _ in answers)
        counts, n = (
            self.shards.added([cell_counts for _, cell_counts in answers]),
            float(self.shards.people),
        )
        pull = self.variance * theta - self.released
        value = total + float(theta @ (pull - 0.5 * self.variance * theta))
        return value / n, (counts + pull) / n

    def beliefs(self, theta: Floats) -> Beliefs:
        """Update each shard's beliefs at ``theta``; return the cells' means and variances."""
        answers = self.shards.tell("believe", theta)
        counts, variance = ([answer[part] for answer in answers] for part in (0, 1))
        return Beliefs(self.shards.added(counts), self.shards.added(variance))

    def curve(self, vector: Floats) -> Floats:
        """Multiply a vector over cells by the second derivatives where the beliefs are."""
        counts = self.shards.added(self.shards.ask("curve", vector))
        return self.variance * vector + counts

    def probe(self) -> Floats:
        """Draw normal errors of the cells' counts with the covariance that beliefs give them."""
        return self.shards.added(self.shards.tell("probe"))

    def solve(self, theta: Floats, diagonal: Floats, passes: int, tolerance: float) -> Floats:
        """Find the least by L-BFGS (Nocedal 1980), starting from ``theta``.

        It stops after so many steps, or when one wins less than ``tolerance`` nats a person; the
        ``diagonal`` is a guess of the second derivatives, above 0.
        """
        steps: Steps = deque(maxlen=MEMORY)
        n = float(self.shards.people)
        value, gradient = self.evaluate(theta)
        for _ in range(passes):
            step = -_inverse(steps, gradient, n / diagonal)
            slope = float(gradient @ step)
            point = self._search(theta, step, value, slope)
            if point is None:
                break
            new, new_value, new_gradient = point
            moved, change = new - theta, new_gradient - gradient
            if float(moved @ change) > 0:
                steps.append((moved, change, 1 / float(moved @ change)))
            won = value - new_value
            theta, value, gradient = new, new_value, new_gradient
            if won < tolerance:
                break
        return theta

    def _search(
        self, theta: Floats, step: Floats, value: float, slope: float
    ) -> tuple[Floats, float, Floats] | None:
        """Go along a step, less far where that overshoots; None where nothing is won."""
        length = 1.0
        for _ in range(STEPS):
            new = theta + length * step
            new_value, gradient = self.evaluate(new)
            if new_value <= value + FALL * length * slope:
                return new, new_value, gradient
            end = float(gradient @ step)  # where a straight slope would be zero
            length *= min(0.7, max(0.02, slope / (slope - end))) if end > 0 else 0.5
        return None


def _inverse(kept: Steps, gradient: Floats, scale: Floats) -> Floats:
    """Multiply a gradient by the inverse of the curvature, as the last steps showed it."""
    vector = gradient.copy()
    shares: list[float] = []
    for moved, change, inverse in reversed(kept):
        share = inverse * float(moved @ vector)
        vector -= share * change
        shares.append(share)
    vector *= scale
    if kept:
        moved, change, inverse = kept[-1]
        vector *= 1 / (inverse * float(change @ (scale * change)))
    for (moved, change, inverse), share in zip(kept, reversed(shares), strict=True):
        vector += moved * (share - inverse * float(change @ vector))
    return vector


def add_own_terms(dual: Dual, beliefs: Beliefs) -> float:
    """Subtract people's own part from each shard's log beliefs.

    Returns the mean of how far that moves people, in nats.
    """
    shards = dual.shards
    factor = 1.0
    if shards.size <= WHOLE:
        shards.tell("respond", dual.variance, True)
    else:
        diagonal = dual.variance + beliefs.variance
        shards.tell("respond", diagonal, False)
        as_diagonal = float((beliefs.variance / diagonal).sum())
        if as_diagonal >= CERTAIN:
            # trace(H^-1 cov(counts)), the effective number of free counts
            probes = min(MOST_PROBES, -(-PROBED // shards.people))
            free = sum(_form(dual, diagonal) for _ in range(probes)) / probes
            factor = free / as_diagonal
    return sum(shards.tell("correct", factor)) / float(shards.people)


def _form(dual: Dual, diagonal: Floats) -> float:
    """Return ``b' H^-1 b`` for a random ``b`` with the covariance of the counts.

    Conjugate gradients, preconditioned by the diagonal; the form grows with each step (Hestenes
    and Stiefel 1952).
    """
    rest = dual.probe()
    step = rest / diagonal
    size = float(rest @ step)
    total = 0.0
    for _ in range(CONJUGATE_STEPS):
        curved = dual.curve(step)
        length = size / max(float(step @ curved), 1e-300)
        total += length * size
        rest = rest - length * curved
        if length * size <= CLOSE * total:
            break
        scaled = rest / diagonal
        before, size = size, float(rest @ scaled)
        step = scaled + (size / before) * step
    return total


@dataclass(frozen=True, eq=False)
class Sites:
    """Normal factors, one a cell: ``count ~ N(released, variance)``, shape (cells,)."""

    released: Floats
    variance: Floats


def first_sites(noise: Noise, released: Floats) -> Sites:
    """Return normal noise of the same variance."""
    factor = 1.0 if noise.kind == "gaussian" else 2.0
    return Sites(released, np.full(released.shape, factor * noise.scale**2))


def better_sites(
    noise: LaplaceNoise, released: Floats, sites: Sites, theta: Floats, variance: Floats
) -> Sites:
    """Match the Laplace factors where the beliefs now are.

    ``theta`` is the present factors' pull on each count, ``(sites.released - expected) /
    sites.variance``; ``variance`` that of each count, its own factor left out.
    """
    spread = np.maximum(variance, NARROW * noise.scale**2)
    mean = sites.released - theta * (sites.variance + spread)
    pull, curve = _laplace(noise.scale, spread, released - mean)
    curve = np.clip(curve, LEAST / noise.scale**2, (1 - 1e-9) / spread)
    return Sites(mean + pull / curve, 1 / curve - spread)


def _laplace(scale: float, variance: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Return slope and curvature, in the mean ``m``, of ``-log E exp(-|r - s| / scale)``.

    With ``s ~ N(m, variance)`` and ``off = r - m``: the slope is given with the sign that it pulls
    ``m`` towards ``r``, in [-1 / scale, 1 / scale].
    """
    width = np.sqrt(variance)
    above, below = off / width - width / scale, -off / width - width / scale
    log_above = special.log_ndtr(above) - off / scale  # the count lies below what was released
    log_below = special.log_ndtr(below) + off / scale
    share = special.expit(log_above - log_below)
    mills = np.exp(-0.5 * above**2 - special.log_ndtr(above)) + np.exp(
        -0.5 * below**2 - special.log_ndtr(below)
    )
    mills /= np.sqrt(2 * np.pi)
    curve = 2 / scale * share * (1 - share) * (mills / width - 2 / scale)
    return (2 * share - 1) / scale, curve


def cavity_beliefs(
    targets: Targets, noise: Noise, released: Floats, passes: int, tolerance: float
) -> Floats:
    """Return everybody's approximate posterior, shape (n, values).

    The noise has a scale above 0; what is neither Gaussian nor Laplace noise is read as Gaussian
    noise of twice its scale squared. ``passes`` is the most passes over the people each time that
    the problem is solved; a solution is good enough when one wins less than ``tolerance``.
    """
    with split(targets) as shards:
        beliefs = _solved(shards, targets.queries, noise, released, passes, tolerance)
    return beliefs[targets.types.of]


def _solved(
    shards: ShardedPosterior,
    queries: TableQueries,
    noise: Noise,
    released: Floats,
    passes: int,
    tolerance: float,
) -> Floats:
    """Return what is believed of each type, shape (types, values)."""
    released = released[shards.cells]
    sites = first_sites(noise, released)
    # Nobody is moved by more than their tables over the variance, and on average by a quarter.
    has_own_terms = sum(p.tables for p in queries.patterns) > 4 * SLIGHT * sites.variance.min()
    dual = Dual(shards, sites.released, sites.variance)
    theta = np.zeros(len(released))
    beliefs = dual.beliefs(theta)
    for last in (*[False] * ROUNDS, True):
        theta = dual.solve(theta, dual.variance + beliefs.variance, passes, tolerance)
        beliefs = dual.beliefs(theta)
        if last:
            break
        moved = add_own_terms(dual, beliefs) if has_own_terms else 0.0
        if isinstance(noise, LaplaceNoise):
            sites = better_sites(noise, released, sites, theta, beliefs.variance)
        elif moved < SLIGHT:
            break
        dual = Dual(shards, sites.released, sites.variance)
    return np.concatenate(shards.ask("result"))
