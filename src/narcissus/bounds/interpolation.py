"""The interpolation theorem: the count of fallen independent targets under a whole profile.

The domination theorem charges the full price of each target's leak at every count. This theorem
charges it only to the extent that the target is still decisive: near the count in question.

Source: Narcissus theory 4.10.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from narcissus._validation import integer, probabilities
from narcissus.bounds.domination_point import dominate_point
from narcissus.bounds.interpolation_search import Multipliers, Search
from narcissus.bounds.one_target import profile_multipliers
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.bounds.rows import prior_rows
from narcissus.bounds.theorem import Needs, Question, Theorem, points_of
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

_SMALL = 512  # targets up to which all sums are of positive terms, one target after the other
_NEGLIGIBLE = 1e-17  # tails may be too large by so little, which is quicker
_ROUNDING = 1e-12  # far above what transforms of numbers up to 1 lose; added where they are used
_FEW = 20  # points at which programs are solved, where success is not exact match


def interpolation_tails(optima: ArrayLike, costs: ArrayLike) -> FloatArray:
    """Bound ``Pr[at least v fall]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    ``Pr[R >= v] + sum_i costs_i E[1 / (1 + |R_-i - (v - 1)|)]``, ``R`` the sum of independent
    Bernoulli(``optima_i``) and ``R_-i`` the same without target ``i``.

    Source: Narcissus theory 4.10. Larger numbers are valid too: for targets drawn independently
    from a population, upper bounds on both means suffice.

    Parameters
    ----------
    optima
        Each target's ``o``, shape (n,), in [0, 1].
    costs
        Upper bound on the cost of each target's leak, at least 0, shape (n,): ``delta Theta`` at
        one point of the profile, or the sum over a whole profile; see
        `narcissus.bounds.interpolation`.

    Examples
    --------
    >>> interpolation_tails([0.731, 0.731], [0.003, 0.003]).round(3)[1:3]
    array([0.931, 0.54 ])
    """
    o, c = probabilities("optima", optima), np.asarray(costs, dtype=np.float64)
    if o.ndim != 1 or c.shape != o.shape:
        raise InputError(f"`optima` and `costs` must be vectors of one length, got {o.shape}, "
                         f"{c.shape}")  # fmt: skip
    if not (c >= 0).all():
        raise InputError("`costs` must be numbers of at least 0")
    n = o.size
    table = PoissonBinomial(o).tails(_NEGLIGIBLE)
    table[1 : n + 1] += _added(o, np.minimum(c, 1.0))
    if np.isnan(table).any():
        raise InputError("`optima` and `costs` give no numbers")
    table = np.minimum.accumulate(np.minimum(table, 1.0))
    table[0], table[-1] = 1.0, 0.0
    return table


def _added(o: FloatArray, c: FloatArray) -> FloatArray:
    """Return the contribution of leaks to the tails for ``v = 1 .. n``."""
    if not c.any():
        return np.zeros(o.size)
    alike = o.size > _SMALL and (o == o[0]).all()
    return _nearness(_alike(o, c) if alike else _left_out(o, c))


def _alike(o: FloatArray, c: FloatArray) -> FloatArray:
    """Return `_added` for identical targets: leaving any one out leaves the same law."""
    return float(c.sum()) * (PoissonBinomial(o[1:]).pmf() + _ROUNDING / o.size)


def _left_out(o: FloatArray, c: FloatArray) -> FloatArray:
    """Return ``sum_i c_i Pr[R_-i = k]`` for ``k = 0 .. n - 1``, rounded up slightly."""
    n = o.size
    if n <= _SMALL:
        law, left = np.zeros(n + 1), np.zeros(n + 1)
        law[0] = 1.0
        with np.errstate(under="ignore"):
            for i in range(n):
                p, q = o[i], 1.0 - o[i]
                left[1 : i + 1] = left[1 : i + 1] * q + left[:i] * p + c[i] * law[1 : i + 1]
                left[0] = left[0] * q + c[i] * law[0]
                law[1 : i + 2] = law[1 : i + 2] * q + law[: i + 1] * p
                law[0] *= q
        return left[:n]
    width = 1 << (n - 1).bit_length()  # targets that never fall and cost nothing fill it up
    law, left = np.zeros((width, 2)), np.zeros((width, 2))
    law[:, 0] = 1.0
    law[:n, 0], law[:n, 1], left[:n, 0] = 1.0 - o, o, c
    while law.shape[0] > 1:
        size = 2 * (law.shape[1] - 1)
        wide = fft.next_fast_len(size + 1, real=True)
        laws, lefts = fft.rfft(law, wide, axis=1), fft.rfft(left, wide, axis=1)
        law = fft.irfft(laws[::2] * laws[1::2], wide, axis=1)[:, : size + 1]
        both = lefts[::2] * laws[1::2] + lefts[1::2] * laws[::2]
        left = fft.irfft(both, wide, axis=1)[:, : size + 1]
    return np.maximum(left[0, :n], 0.0) + _ROUNDING * float(c.sum()) / n


def _nearness(weights: FloatArray) -> FloatArray:
    """Return ``sum_k weights_k / (1 + |k - (v - 1)|)`` for ``v = 1 .. n``, shape (n,)."""
    n = weights.size
    if n <= _SMALL:
        return _near(n) @ weights
    distance = 1.0 / (1.0 + np.abs(np.arange(1 - n, n)))
    wide = fft.next_fast_len(3 * n - 2, real=True)
    product = fft.irfft(fft.rfft(weights, wide) * fft.rfft(distance, wide), wide)
    return np.maximum(product[n - 1 : 2 * n - 1], 0.0) + _ROUNDING * float(weights.sum())


@lru_cache(maxsize=4)
def _near(n: int) -> FloatArray:
    places = np.arange(n)
    return 1.0 / (1.0 + np.abs(places[:, None] - places))


def target_multipliers(
    priors: ArrayLike, guarantee: Guarantee, epsilon: float, success: ArrayLike | None = None
) -> Multipliers:
    """Compute the theorem's numbers of each target at one epsilon of the profile.

    For exact match (``success`` None) the costs use the whole profile and are at most
    ``delta (1 - o)``; else they are ``delta Theta`` of the domination theorem.
    """
    if success is None:
        return Multipliers(*profile_multipliers(priors, guarantee, epsilon))
    mu, theta = dominate_point(priors, success, epsilon)
    optima = np.minimum(mu.sum(axis=1), 1.0)
    costs = float(guarantee.profile(epsilon)) * theta
    return Multipliers(prior_rows("priors", priors), mu, optima, costs)


def interpolation(
    priors: ArrayLike,
    guarantee: Guarantee,
    at_least: int,
    success: ArrayLike | None = None,
    *,
    repeats: ArrayLike | None = None,
    epsilons: ArrayLike | None = None,
) -> Bound:
    """Bound the probability that at least ``at_least`` independent targets fall.

    Source: Narcissus theory 4.10, with the proof. At the same point it never exceeds
    `narcissus.bounds.domination`.

    Parameters
    ----------
    priors
        One distribution per target, shape (n, V); zeros pad shorter rows.
    guarantee
        About replace-one neighbours.
    at_least
        The count ``v``.
    success
        None for exact match; else a 0/1 matrix, shape (V, Z), the same for all targets.
    repeats
        Number of targets per row, shape (n,); default one each.
    epsilons
        Points of the profile; default the guarantee's tangents, and larger ones if it has only one.
        After the best common point each target may use its own.

    Examples
    --------
    >>> from narcissus.guarantees import ApproximateDP
    >>> round(interpolation([[0.7, 0.3]] * 12, ApproximateDP(1.0, 0.001), 9).value, 6)
    0.591314
    """
    require_replace_one(guarantee)
    rows = prior_rows("priors", priors)
    v = integer("at_least", at_least)
    counts = np.ones(len(rows), dtype=np.int64) if repeats is None else np.asarray(repeats)
    if counts.shape != (len(rows),) or (counts < 1).any():
        raise InputError("`repeats` must be whole numbers from 1, one for each prior")
    rows, back = np.unique(rows, axis=0, return_inverse=True)
    rows = rows / rows.sum(axis=1, keepdims=True)
    many = np.bincount(np.ravel(back), weights=counts).astype(np.int64)
    if epsilons is not None:
        points = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    else:
        points = points_of(guarantee) if success is None else points_of(guarantee, _FEW)
    points, n = np.unique(np.maximum(points, 0.0)), int(many.sum())
    one_point = epsilons is None and guarantee.tangents(3).size < 3

    def multipliers(k: int) -> Multipliers:
        return target_multipliers(rows, guarantee, float(points[k]), success)

    at = multipliers if success is None else cache(multipliers)  # the others take programs
    value = 1.0 if v <= 0 else 0.0
    if 0 < v <= n:
        value = Search(at, points.size, many, v, _added, one_point).least()
    return INTERPOLATION.claim(
        value,
        f"probability that at least {v} of {n} targets fall",
        (guarantee.describe(), "the targets' values are independent given what the attacker knows"),
    )


def _of_threat(q: Question) -> float:
    threat = q.threat
    values = np.array(threat.values)
    return interpolation(values, q.guarantee, q.v, threat.success, repeats=[q.n]).value


LARGEST = 100_000
"""Targets up to which a question is answered by it: each point takes a sum over all counts."""

INTERPOLATION = Theorem(
    id="interpolation",
    source="Narcissus theory 4.10",
    title="interpolation",
    says="A tail for any priors and any success, paying for leaks only near the count.",
    about=("tail",),
    limit=_of_threat,
    needs=Needs(values=True, not_pure=True, most_targets=LARGEST),
    own=True,
)
