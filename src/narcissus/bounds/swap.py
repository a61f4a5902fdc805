"""The swap bound: tails for equal prior successes, exact where values and guesses are symmetric.

Source: Narcissus theory 4.3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import integer, probabilities
from narcissus.bounds.binomial import mass, tail_over_mass, upper_tail
from narcissus.bounds.exact import constraints, maximise
from narcissus.bounds.theorem import Needs, Question, Theorem, log_odds
from narcissus.bounds.threat import Threat
from narcissus.guarantees import Guarantee, require_replace_one

FloatArray = NDArray[np.float64]

PROGRAM_POINTS = 40  # default number of tangents of the program
LARGEST_PROGRAM = 1000  # most guesses for solving the program for one tail
_POINTS = 200  # tangents tried by the closed form
_UNDERFLOWS = 1e-290  # tails below it have lost digits, or soon will


def swap_tail(
    n: int,
    prior: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    at_least: int,
    *,
    guesses: int | None = None,
    inseparable: ArrayLike = 0.0,
) -> FloatArray:
    """Bound the probability of at least ``v`` successes under (epsilon, delta)-DP, in closed form.

    ``B + c (n delta / v) B (1 - B) / b`` with ``B`` and ``b`` the tail and the mass at ``v`` of
    binomial(r, beta), ``beta = expit(logit p + epsilon)``, ``c = (1 - kappa) / (1 - p)``; 1 where
    ``c (n delta / v) B / b`` exceeds 1. Prior, epsilon, delta and kappa broadcast.

    Source: Narcissus theory 4.3.

    prior: Upper bound on the prior success of every possible attempt.
    guesses: Number of guesses ``r``, fixed before the release is seen; the rest abstain. Default
        ``n``.
    inseparable: ``kappa``: probability that no guess separates two independent draws of a target
        (at least the collision probability); 0 is always valid.

    >>> round(float(swap_tail(2, 0.5, 0.1, 0.01, 1, inseparable=0.5)), 6)
    0.781362
    """
    r = n if guesses is None else guesses
    odds = log_odds(prior) + np.asarray(epsilon, dtype=np.float64)
    if at_least <= 0:
        return np.ones(np.broadcast_shapes(odds.shape, np.shape(delta), np.shape(inseparable)))
    if at_least > r:
        return np.zeros(np.broadcast_shapes(odds.shape, np.shape(delta), np.shape(inseparable)))
    v = at_least
    tail = upper_tail(r, v, odds)
    spread = (1.0 - np.asarray(inseparable)) * np.asarray(delta) * (n / v)
    if not np.any(spread):
        return np.clip(tail + 0.0 * spread, 0.0, 1.0)
    below = upper_tail(r, r - v + 1, -odds)  # of the failures
    with np.errstate(all="ignore"):
        ratio = tail / mass(r, v, odds)
        far = tail < _UNDERFLOWS
        if np.any(far):
            ratio = np.where(far, tail_over_mass(r, v, np.where(far, odds, -np.inf)), ratio)
        whole = spread / (1.0 - probabilities("prior", prior)) * ratio
        value = np.where(whole <= 1.0, tail + whole * below, 1.0)
        # Nothing is spent where delta (or what it can separate) is 0.
        value = np.where(spread == 0, tail, value)
        value = np.where(np.isnan(value), 1.0, value)
    return np.clip(value, 0.0, 1.0)


def swap_program(
    threat: Threat, guarantee: Guarantee, at_least: int, *, epsilons: ArrayLike | None = None
) -> float:
    """Bound the tail under many points of a profile at the same time, by a linear program.

    Maximises ``sum_{j >= v} w_j`` over distributions ``w`` of the count with, for every point,
    ``sum_j max(0, (1-p)(j+1) w_{j+1} - e^eps p (r-j) w_j) <= n (1-kappa) delta``. Of the threat its
    prior success, targets, guesses and ``kappa`` are used; the points are by default 40 tangents.

    Source: Narcissus theory 4.3.
    """
    require_replace_one(guarantee)
    n, r, p, kappa = threat.targets, threat.guesses, threat.prior, threat.inseparable
    v = integer("at_least", at_least)
    if v <= 0 or v > r or p == 1:
        return 1.0 if v <= r else 0.0
    points = (
        guarantee.tangents(PROGRAM_POINTS)
        if epsilons is None
        else np.atleast_1d(np.asarray(epsilons))
    )
    limits = (1 - kappa) * guarantee.profile(points)
    value = _solve(n, p, r, v, points=tuple(points.tolist()), limits=tuple(limits.tolist()))
    closed = swap_tail(n, p, points, guarantee.profile(points), v, guesses=r, inseparable=kappa)
    return min(value, float(closed.min()), 1.0)


@lru_cache(maxsize=16)  # a number of targets and the chance of exceeding it need the same tail
def _solve(
    n: int, p: float, r: int, v: int, *, points: tuple[float, ...], limits: tuple[float, ...]
) -> float:
    """Solve the program; rows are divided by ``n``, and by ``exp(eps)`` if it exceeds 1."""
    where = np.array(points)
    k, j = where.size, np.arange(r)
    shrink = np.exp(-np.maximum(where, 0.0))
    row = np.arange(k * r).reshape(k, r)
    entries = [
        (row, j + 1, np.outer(shrink, (1 - p) * (j + 1) / n)),
        (row, j, -np.outer(np.exp(np.minimum(where, 0.0)), p * (r - j) / n)),
        (row, r + 1 + row, -1.0),
        (row.size + np.arange(k)[:, None], r + 1 + row, 1.0),
    ]
    size = r + 1 + row.size
    solution = maximise(
        np.concatenate([(np.arange(r + 1) >= v).astype(float), np.zeros(row.size)]),
        constraints(entries, (row.size + k, size)),
        np.concatenate([np.zeros(row.size), np.array(limits) * shrink]),
        constraints([(0, np.arange(r + 1), 1.0)], (1, size)),
        np.ones(1),
    )
    return 1.0 if solution is None else solution.bound


def _closed(q: Question) -> float:
    return _least(q, q.guarantee.tangents(_POINTS))


def _one_target(q: Question) -> float:
    points = q.guarantee.tangents(2 * _POINTS)
    return _least(q, np.concatenate([-points[::-1], points]))


def _least(q: Question, points: FloatArray) -> float:
    deltas, kappa = q.guarantee.profile(points), q.threat.inseparable
    tails = swap_tail(q.n, q.p, points, deltas, q.v, guesses=q.r, inseparable=kappa)
    return float(tails.min())


SWAP = Theorem(
    id="swap",
    source="Narcissus theory 4.3",
    title="swap bound",
    says="A tail for equal prior successes, from one point of the profile.",
    about=("tail",),
    limit=_closed,
    inseparable=True,
    audits=True,
    own=True,
)
SWAP_PROGRAM = Theorem(
    id="swap-program",
    source="Narcissus theory 4.3",
    title="swap bound, linear program",
    says="A tail for equal prior successes, from many points of the profile at the same time.",
    about=("tail",),
    limit=lambda q: swap_program(q.threat, q.guarantee, q.v),
    needs=Needs(several_points=True, most_guesses=LARGEST_PROGRAM),
    inseparable=True,
    expensive=True,
    audits=True,
    own=True,
)
ONE_TARGET = Theorem(
    id="one-target",
    source="Narcissus theory 4.6",
    title="one target",
    says="The success on one target from that of the best guess, over the whole profile.",
    about=("success",),
    limit=_one_target,
    inseparable=True,
    own=True,
)
