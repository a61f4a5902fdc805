"""The one-target optimum of a secret with very many values, whose masses by rank follow a formula.

Source: Narcissus theory 4.6 and 4.11.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from narcissus.bounds.interpolation import LARGEST, interpolation_tails
from narcissus.bounds.one_target import optimum, profile_cost
from narcissus.bounds.ranked_prior import RankedPrior, spread
from narcissus.bounds.theorem import Needs, Question, Theorem, points_of
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP, require_replace_one

FloatArray = NDArray[np.float64]


def ranked_optimum(prior: RankedPrior, guarantee: Guarantee) -> float:
    """Return the success of the best attacker on the best mechanism, exact match.

    Exact under pure and approximate DP; otherwise an upper bound as by `narcissus.bounds.optimum`,
    for a prior of about a thousand groups of values (`narcissus.bounds.ranked_prior.spread`). Under
    (epsilon, delta): ``delta + (1 - delta) max_k e^eps S_k / (e^eps + k - 1)``, ``S_k`` the mass of
    the ``k`` likeliest values. It rises with ``k`` as long as ``S_k < p_{k+1} (e^eps - 1 + k)`` and
    never again after, so bisection finds the best ``k``.

    Source: Narcissus theory 4.6 and 4.11.

    Parameters
    ----------
    prior
        Prior of the secret, such as `narcissus.priors.Zipf`.
    guarantee
        About replace-one neighbours.

    Examples
    --------
    >>> from narcissus.priors import Zipf
    >>> round(ranked_optimum(Zipf(1.2, 10**9), ApproximateDP(3.0, 1e-5)), 10)
    0.3143734043
    >>> from narcissus.guarantees import GaussianDP
    >>> curve = GaussianDP.from_epsilon_delta(10.0, 1e-5)
    >>> round(ranked_optimum(Zipf(1.1, 10**9), curve), 9)
    0.2028339
    """
    require_replace_one(guarantee)
    if not isinstance(guarantee, PureDP | ApproximateDP):
        masses, counts = spread(prior)
        return float(optimum(masses, guarantee, counts=counts)[0])
    delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
    shrink = math.exp(-guarantee.epsilon)

    def rises(k: int) -> bool:
        if k == prior.n:
            return False
        # divided by e^eps, so that nothing overflows
        return shrink * prior.head(k) < prior.probability(k + 1) * (1.0 + shrink * (k - 1))

    low, high = 0, prior.n  # it rises at `low` (or it is 0), and not at `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rises(middle) else (low, middle)
    pure = prior.head(high) / (1.0 + (high - 1) * shrink)
    return min(1.0, delta + (1.0 - delta) * pure)


@lru_cache(maxsize=4)
def ranked_tails(prior: RankedPrior, guarantee: Guarantee, n: int) -> FloatArray:
    """Bound ``Pr[at least v of n targets fall]``, ``v = 0 .. n + 1``, shape (n + 2,).

    The interpolation theorem at several points of the profile; under pure DP the exact optimum,
    each target attacked separately. The ``n`` targets are independent, each with this prior.
    """
    require_replace_one(guarantee)
    if isinstance(guarantee, PureDP):
        exact = np.full(n, ranked_optimum(prior, guarantee))
        return interpolation_tails(exact, np.zeros(n))
    masses, counts = spread(prior)
    least = np.ones(n + 2)
    for epsilon in points_of(guarantee):
        base, cost = profile_cost(masses, guarantee, float(epsilon), counts)
        tails = interpolation_tails(np.full(n, base[0]), np.full(n, cost[0]))
        least = np.minimum(least, tails)
    return least


def _ranked(q: Question) -> RankedPrior:
    assert q.threat.ranked is not None
    return q.threat.ranked


RANKED = Theorem(
    id="one-target-optimum-ranked",
    source="Narcissus theory 4.11",
    title="one-target optimum, by rank",
    says="The success on one target whose values are too many to list, their masses a formula.",
    about=("success",),
    limit=lambda q: ranked_optimum(_ranked(q), q.guarantee),
    needs=Needs(ranked=True),
    own=True,
)

RANKED_TAIL = Theorem(
    id="interpolation-ranked",
    source="Narcissus theory 4.10",
    title="interpolation, by rank",
    says="A tail of targets whose values are too many to list, their masses a formula.",
    about=("tail",),
    limit=lambda q: float(ranked_tails(_ranked(q), q.guarantee, q.n)[q.v]),
    needs=Needs(ranked=True, most_targets=LARGEST),
    own=True,
)
