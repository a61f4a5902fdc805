"""The one-target optimum of a secret of very many values, whose masses by rank are a formula.

Source: Narcissus theory 4.6 and 4.11.
"""

from __future__ import annotations

import math
from typing import Protocol

from narcissus.guarantees import ApproximateDP, PureDP, require_replace_one


class RankedPrior(Protocol):
    """A distribution of a secret, by the ranks of its values from the likeliest on."""

    @property
    def n(self) -> int:
        """How many values there are."""
        ...

    def probability(self, rank: int) -> float:
        """Give the probability of the value of a rank, from 1; it falls with the rank."""
        ...

    def head(self, k: int) -> float:
        """Give the probability of the ``k`` likeliest values together, ``0 <= k <= n``."""
        ...


def ranked_optimum(prior: RankedPrior, guarantee: PureDP | ApproximateDP) -> float:
    """Give the success of the best attacker on the best mechanism, exact match; exact.

    ``delta + (1 - delta) max_k e^eps S_k / (e^eps + k - 1)``, ``S_k`` the mass of the ``k``
    likeliest values. It rises with ``k`` as long as ``S_k < p_{k+1} (e^eps - 1 + k)``, and never
    again after: so the best ``k`` is found by bisection.

    Parameters
    ----------
    prior
        Of the secret, such as `narcissus.priors.Zipf`.
    guarantee
        About replace-one neighbours.

    Notes
    -----
    Source: Narcissus theory 4.6 and 4.11.

    Examples
    --------
    >>> from narcissus.priors import Zipf
    >>> round(ranked_optimum(Zipf(1.2, 10**9), ApproximateDP(3.0, 1e-5)), 10)
    0.3143734043
    """
    require_replace_one(guarantee)
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
