"""The one-target optimum of priors with too many values to list.

Known are the masses of a target's ``K`` likeliest values, and an upper bound ``tau`` on every
other. The rest, ``R``, is assigned to ``R / tau`` values of mass ``tau``: the worst prior that
fits. Its optimum bounds the prior's, and equals it once no unlisted value could raise it. Or the
masses by rank follow a formula.

Source: Narcissus theory 4.6 and 4.11.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, positive
from narcissus.bounds.interpolation import LARGEST, interpolation_tails
from narcissus.bounds.one_target import optimum, profile_cost
from narcissus.bounds.theorem import Needs, Question, Theorem, points_of
from narcissus.bounds.threat import ListedPriors, RankedPrior, spread
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP, require_replace_one

FloatArray = NDArray[np.float64]

MOST_LISTED = 2**19
"""Values of one target's prior that are listed at most."""

_FIRST = 1024  # values listed first; eight times as many at each further step
_CELLS = 2**22  # masses held at once
_DUST = 1e-300  # total mass below which no value matters


Listing = Callable[[NDArray[np.intp], int, FloatArray], ListedPriors]
"""From the numbers of some targets, how many values to list of each at most, and for each the
least probability worth listing, to their priors."""


def listed_optimum(priors: ListedPriors, guarantee: Guarantee) -> FloatArray:
    """Bound the success of any attacker on one target, exact match, from the likeliest values.

    The result has shape (m,); each entry is at least `narcissus.bounds.optimum` of the whole prior.

    Source: Narcissus theory 4.6. *Proof.* With multipliers ``lambda`` of sum ``Lambda`` the bound
    is ``Lambda + sum_z h(D_z - lambda_z, Lambda - lambda_z)``, ``h`` convex and 0 at (0, B) (see
    `narcissus.bounds.optimum`). Assign ``t lambda_tau`` to an unlisted value of mass ``t tau``: its
    term is at most ``t h(tau - lambda_tau, Lambda - lambda_tau)``, and the shares ``t`` sum to ``R
    / tau``. So the bound for ``R / tau`` values of mass ``tau``, whole or not, holds for the actual
    ones.

    >>> from narcissus.guarantees import PureDP
    >>> listed_optimum(ListedPriors([[0.5, 0.3]], [0.1]), PureDP(1.0)).round(6)
    array([0.584847])
    """
    return optimum(*_as_asked(priors.with_rest(priors.unlisted), guarantee))


def _as_asked(
    prior: tuple[FloatArray, FloatArray], guarantee: Guarantee
) -> tuple[FloatArray, Guarantee, None, FloatArray]:
    return prior[0], guarantee, None, prior[1]


@dataclass(frozen=True, eq=False)
class OptimumByListing:
    """Upper bounds on each target's success, and how much more listing might lower them."""

    value: FloatArray  # the bound, shape (m,)
    # excess over the bound if no unlisted value mattered, shape (m,). Under pure DP a 0 means
    # that the value *is* the optimum of the whole prior; otherwise it is an upper bound on
    # it.
    left_open: FloatArray
    listed: NDArray[np.intp]  # number of values listed, shape (m,)


def optimum_by_listing(
    listing: Listing,
    targets: int,
    guarantee: Guarantee,
    most: int = MOST_LISTED,
    tolerance: float = 1e-5,
) -> OptimumByListing:
    """List values of each target's prior until the bound on its success is settled.

    Source: Narcissus theory 4.6. Under pure DP ``e^eps S_k / (e^eps + k - 1)`` rises with ``k``
    exactly as long as the next value exceeds ``e^-eps`` times it, so values below ``e^-eps`` times
    the current maximum need not be listed.

    most: Largest number of values listed per target; if reached, the bound holds but is looser.
    tolerance: Largest ``left_open`` at which listing stops; 0 under pure DP.
    """
    bound = integer("most", most, low=1)
    pure = isinstance(guarantee, PureDP)
    slack = 0.0 if pure else positive("tolerance", tolerance)
    reach = _reach(guarantee, slack)
    value, left_open = np.ones(targets), np.ones(targets)
    thresholds, listed = np.zeros(targets), np.zeros(targets, dtype=np.intp)
    waiting, size = np.arange(targets), min(_FIRST, bound)
    while waiting.size:
        each = max(1, _CELLS // size)
        for start in range(0, waiting.size, each):
            some = waiting[start : start + each]
            priors = listing(some, size, thresholds[some])
            optima = listed_optimum(priors, guarantee)
            floor = optimum(*_as_asked(priors.with_rest(np.full(some.size, _DUST)), guarantee))
            value[some], left_open[some] = optima, np.maximum(optima - floor, 0.0)
            listed[some] = (priors.masses > 0).sum(axis=1)
            surely = floor if pure else priors.masses.max(axis=1)
            thresholds[some] = surely * np.exp(-reach)
        if size == bound:
            break
        waiting, size = waiting[left_open[waiting] > slack], min(8 * size, bound)
    return OptimumByListing(value, left_open, listed)


def _reach(guarantee: Guarantee, slack: float) -> float:
    """Return the log ratio below the current maximum at which a value cannot matter."""
    if isinstance(guarantee, PureDP):
        return guarantee.epsilon
    return guarantee.epsilon_beyond(float(guarantee.profile(np.inf)) + slack)


def _of_threat(q: Question) -> float:
    threat = q.threat
    priors = ListedPriors(np.array([threat.likeliest]), np.array([threat.unlisted]))
    return float(listed_optimum(priors, q.guarantee)[0])


LISTED = Theorem(
    id="one-target-optimum-listed",
    source="Narcissus theory 4.6",
    title="one-target optimum, from the likeliest values",
    says=(
        "The success on one target whose values are too many to list, from the likeliest of them: "
        "an upper limit of the optimum, and the optimum itself under pure DP once all values count."
    ),
    about=("success",),
    limit=_of_threat,
    needs=Needs(likeliest=True),
    own=True,
)


def ranked_optimum(prior: RankedPrior, guarantee: Guarantee) -> float:
    """Return the success of the best attacker on the best mechanism, exact match.

    Exact under pure and approximate DP; otherwise an upper bound as by `narcissus.bounds.optimum`,
    for a prior of about a thousand groups of values (`narcissus.bounds.threat.spread`). Under
    (epsilon, delta): ``delta + (1 - delta) max_k e^eps S_k / (e^eps + k - 1)``, ``S_k`` the mass of
    the ``k`` likeliest values. It rises with ``k`` as long as ``S_k < p_{k+1} (e^eps - 1 + k)`` and
    never again after, so bisection finds the best ``k``.

    Source: Narcissus theory 4.6 and 4.11.

    >>> from narcissus.priors import Zipf
    >>> round(ranked_optimum(Zipf(1.2, 10**9), ApproximateDP(3.0, 1e-5)), 10)
    0.3143734043
    """
    require_replace_one(guarantee)
    if not isinstance(guarantee, PureDP | ApproximateDP):
        masses, counts = spread(prior)
        return float(optimum(masses, guarantee, counts=counts)[0])
    delta, shrink = guarantee.delta, math.exp(-guarantee.epsilon)

    def falls(k: int) -> bool:
        # divided by e^eps, so that nothing overflows
        return shrink * prior.head(k) >= prior.probability(k + 1) * (1.0 + shrink * (k - 1))

    k = 1 + bisect_left(range(1, prior.n), True, key=falls)
    pure = prior.head(k) / (1.0 + (k - 1) * shrink)
    return min(1.0, delta + (1.0 - delta) * pure)


@lru_cache(maxsize=4)
def ranked_tails(prior: RankedPrior, guarantee: Guarantee, n: int) -> FloatArray:
    """Bound ``Pr[at least v of n targets are reconstructed]``, ``v = 0 .. n + 1``, shape (n + 2,).

    The interpolation theorem at several points of the profile; under pure DP the exact optimum,
    each target attacked separately. The ``n`` targets are independent, each with this prior.
    """
    require_replace_one(guarantee)
    if isinstance(guarantee, PureDP):
        exact = np.full(n, ranked_optimum(prior, guarantee))
        return interpolation_tails(exact, np.zeros(n))
    masses, counts = spread(prior)
    table = np.ones(n + 2)
    for epsilon in points_of(guarantee):
        base, cost = profile_cost(masses, guarantee, float(epsilon), counts)
        tails = interpolation_tails(np.full(n, base[0]), np.full(n, cost[0]))
        table = np.minimum(table, tails)
    return table


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
