"""The swap bound: tails for equal prior successes, exact where values and guesses are symmetric.

Source: Narcissus theory 4.3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from narcissus._validation import integer, probabilities, probability
from narcissus.bounds.binomial import mass, tail_over_mass, upper_tail
from narcissus.bounds.linear_program import maximise
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

THEOREM = "Narcissus theory 4.3 (swap bound)"
PROGRAM_POINTS = 40  # tangents that the program uses where none are named
_UNDERFLOWS = 1e-290  # tails below it have lost digits, or soon will


def posterior(prior: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Give ``expit(logit(prior) + epsilon)``: success odds times ``exp(epsilon)``.

    Any shapes that broadcast; right for priors of 1e-300 and epsilons of 1e4.

    Notes
    -----
    Source: Swanberg et al. 2025, Theorem 3.2.
    """
    return special.expit(log_odds(prior) + np.asarray(epsilon, dtype=np.float64))


def log_odds(prior: ArrayLike) -> FloatArray:
    """Give ``log(prior / (1 - prior))``."""
    return special.logit(probabilities("prior", prior))


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
    """Limit the probability of at least ``v`` successes under (epsilon, delta)-DP, closed form.

    ``B + c (n delta / v) B (1 - B) / b`` with ``B`` and ``b`` the tail and the mass at ``v`` of
    binomial(r, beta), ``beta = expit(logit p + epsilon)``, ``c = (1 - kappa) / (1 - p)``; 1 where
    ``c (n delta / v) B / b`` exceeds 1.

    Parameters
    ----------
    n
        Number of targets.
    prior
        Limit of the prior success of every attempt that the attack can make; broadcasts.
    epsilon, delta
        For a replaced record; broadcast.
    at_least
        The count ``v``.
    guesses
        How many guesses ``r`` are made, fixed before the release is seen; the rest abstain.
        Default ``n``.
    inseparable
        ``kappa``: probability that no guess tells two independent draws of a target apart (at
        least the collision probability); 0 is always valid. Broadcasts.

    Returns
    -------
    array of the broadcast shape
        In [0, 1].

    Notes
    -----
    Source: Narcissus theory 4.3.

    Examples
    --------
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


def swap_bound(
    n: int,
    prior: float,
    guarantee: Guarantee,
    at_least: int,
    *,
    guesses: int | None = None,
    inseparable: float = 0.0,
) -> Bound:
    """Give the swap bound at the best single point of the guarantee's profile; see `swap_tail`."""
    require_replace_one(guarantee)
    n, p, r, kappa, v = threat(n, prior, guesses, inseparable, at_least)
    points = guarantee.tangents(200)
    values = swap_tail(n, p, points, guarantee.profile(points), v, guesses=r, inseparable=kappa)
    return Bound(
        float(values.min()), quantity(n, v), THEOREM, assumptions(guarantee, p, r, n, kappa)
    )


def swap_program(
    n: int,
    prior: float,
    guarantee: Guarantee,
    at_least: int,
    *,
    guesses: int | None = None,
    inseparable: float = 0.0,
    epsilons: ArrayLike | None = None,
) -> Bound:
    """Limit the tail under many points of a profile at once, by a linear program.

    Maximises ``sum_{j >= v} w_j`` over distributions ``w`` of the count with, for every point,
    ``sum_j max(0, (1-p)(j+1) w_{j+1} - e^eps p (r-j) w_j) <= n (1-kappa) delta``.

    Parameters
    ----------
    n, prior, at_least, guesses, inseparable
        As in `swap_tail`.
    guarantee
        About replace-one neighbours.
    epsilons
        Points of the profile to use; default 40 tangents. More only tighten.

    Notes
    -----
    Source: Narcissus theory 4.3.
    """
    require_replace_one(guarantee)
    n, p, r, kappa, v = threat(n, prior, guesses, inseparable, at_least)
    about = quantity(n, v), f"{THEOREM}, linear program", assumptions(guarantee, p, r, n, kappa)
    if v <= 0 or v > r or p == 1:
        return Bound(1.0 if v <= r else 0.0, *about)
    points = (
        guarantee.tangents(PROGRAM_POINTS)
        if epsilons is None
        else np.atleast_1d(np.asarray(epsilons))
    )
    limits = (1 - kappa) * guarantee.profile(points)
    value = _solve(n, p, r, v, points=tuple(points.tolist()), limits=tuple(limits.tolist()))
    closed = swap_tail(n, p, points, guarantee.profile(points), v, guesses=r, inseparable=kappa)
    return Bound(min(value, float(closed.min()), 1.0), *about)


@lru_cache(maxsize=16)  # a number of targets and the chance of exceeding it ask for the same tail
def _solve(
    n: int, p: float, r: int, v: int, *, points: tuple[float, ...], limits: tuple[float, ...]
) -> float:
    """Solve the program; rows are divided by ``n`` and by ``exp(eps)`` where that exceeds 1."""
    where = np.array(points)
    k = where.size
    j = np.arange(r)
    shrink = np.exp(-np.maximum(where, 0.0))
    up = np.outer(shrink, (1 - p) * (j + 1) / n)
    down = np.outer(np.exp(np.minimum(where, 0.0)), p * (r - j) / n)
    rows = np.arange(k * r)
    column = np.tile(j, k)
    counts = sparse.csr_array(
        (
            np.concatenate([up.ravel(), -down.ravel()]),
            (np.concatenate([rows, rows]), np.concatenate([column + 1, column])),
        ),
        shape=(k * r, r + 1),
    )
    upper = sparse.vstack(
        [
            sparse.hstack([counts, -sparse.eye_array(k * r)]),
            sparse.hstack(
                [
                    sparse.csr_array((k, r + 1)),
                    sparse.kron(sparse.eye_array(k), np.ones((1, r))),
                ]
            ),
        ]
    )
    most = np.concatenate([np.zeros(k * r), np.array(limits) * shrink])
    gain = np.concatenate([(np.arange(r + 1) >= v).astype(float), np.zeros(k * r)])
    one = sparse.csr_array(np.concatenate([np.ones(r + 1), np.zeros(k * r)])[None, :])
    found = maximise(gain, upper, most, one, np.ones(1))
    return 1.0 if found is None else found.bound


def threat(
    n: int, prior: float, guesses: int | None, inseparable: float, at_least: int
) -> tuple[int, float, int, float, int]:
    """Check what every bound for equal priors takes: ``(n, p, r, kappa, v)``."""
    targets = integer("n", n, low=1)
    r = targets if guesses is None else integer("guesses", guesses, low=0)
    if r > targets:
        raise InputError(f"`guesses` must be at most the {targets} targets, got {r}")
    return (
        targets,
        probability("prior", prior),
        r,
        probability("inseparable", inseparable),
        integer("at_least", at_least),
    )


def quantity(n: int, v: int) -> str:
    """Say what a tail limits."""
    return f"probability that at least {v} of {n} targets fall"


def assumptions(guarantee: Guarantee, p: float, r: int, n: int, kappa: float) -> tuple[str, ...]:
    """Say what a tail for equal priors rests on."""
    said = [
        guarantee.describe(),
        "the targets' values are independent given what the attacker knows",
        f"no attempt that the attack can make succeeds a priori with probability above {p:g}",
    ]
    if r < n:
        said.append(f"the number of guesses, {r}, is fixed before the release is seen")
    if kappa > 0:
        said.append(inseparable_draws(kappa))
    return tuple(said)


def inseparable_draws(kappa: float) -> str:
    """Say what ``kappa`` of theory 4.3 is."""
    return f"no guess tells two draws of a target apart with probability {kappa:g}"
