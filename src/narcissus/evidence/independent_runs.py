"""Refutation from many independent runs, each with its own secret: the largest epsilon, and mu.

In each run a secret is drawn from a prior, uniform or not, a release is made of it alone, and an
attack names it. Under a guarantee each run succeeds with probability at most the optimum for that
prior, given any results of the others, so the number of successes is at most binomial.

Source: Narcissus theory 4.6 (the optimum for any prior), 5 (refutation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy import special

from narcissus._validation import between, distribution, integer
from narcissus.bounds import optimum
from narcissus.evidence.refutation import largest_refuted
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP


@dataclass(frozen=True)
class RefutedByRuns:
    """The guarantees refuted by an attack's successes, each singly at the same confidence."""

    # every (epsilon', delta)-DP with ``epsilon' < epsilon`` is refuted, about replacing the
    # secret; 0 if none is
    epsilon: float
    mu: float  # every mu'-Gaussian DP with ``mu' < mu`` is refuted


def refuted_by_runs(
    prior: ArrayLike,
    runs: int,
    correct: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> RefutedByRuns:
    """Find the largest epsilon, and mu, refuted by ``correct`` successes in ``runs`` independent
    runs.

    All runs draw their secret from ``prior``, shape (values,); ``delta`` belongs to the epsilon.

    >>> found = refuted_by_runs([0.5, 0.3, 0.2], 1000, 700)
    >>> round(found.epsilon, 3)
    1.425
    """
    chances = distribution("prior", prior)
    n = integer("runs", runs, low=1)
    k = integer("correct", correct, low=0, high=n)
    allowed = between("delta", delta, 0, 1, open_high=True)
    alpha = 1 - between("confidence", confidence, 0, 1, open_low=True, open_high=True)

    def p_value(guarantee: Guarantee) -> float:
        share = min(1.0, float(optimum(chances, guarantee)[0]))
        return 1.0 if k == 0 else float(special.betainc(k, n - k + 1, share))

    def pair(epsilon: float) -> Guarantee:
        return ApproximateDP(epsilon, allowed) if allowed > 0 else PureDP(epsilon)

    kinds: tuple[Callable[[float], Guarantee], ...] = (pair, GaussianDP)
    epsilon, mu = (
        largest_refuted(lambda level, kind=kind: p_value(kind(level)), alpha, 1e-6, largest=100.0)
        for kind in kinds
    )
    return RefutedByRuns(epsilon, mu)
