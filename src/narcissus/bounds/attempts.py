"""Bounds from the attempts an attack actually makes.

Source: Narcissus theory 4.1 and the end of 4.4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import (
    between,
    integer,
    non_negative,
    probabilities,
    probability,
)
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.odds import posterior
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.bounds.published import THEOREM_3_2
from narcissus.errors import InputError
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

_INDEPENDENT = "the targets' values are independent given what the attacker knows"


def given_output(prior_success: ArrayLike, epsilon: float, at_least: int) -> Bound:
    """Bound the tail *given the observed release*, under pure DP.

    Source: Swanberg et al. 2025, Theorem 3.2 (Narcissus theory 4.1). Averaged over releases,
    `narcissus.bounds.domination` is never worse and often far sharper.

    Parameters
    ----------
    prior_success
        Prior success of the attempt on each target, shape (n,).
    epsilon
        Pure DP for a replaced record.
    at_least
        The count.
    """
    e, v = non_negative("epsilon", epsilon), integer("at_least", at_least)
    beta = np.atleast_1d(posterior(probabilities("prior_success", prior_success), e))
    return THEOREM_3_2.claim(
        PoissonBinomial(beta).tail(v),
        f"probability, given the release, that at least {v} of {beta.size} targets fall",
        (f"pure DP with epsilon {e:g} (replace-one neighbours)", _INDEPENDENT),
    )


def leaked_bits(epsilon: float, confidence: float) -> Bound:
    """Bound the bits leaked about one uniform target, with a confidence, under pure DP.

    ``log2(e^epsilon (1/alpha - 1) + 1)`` with ``alpha = 1 - confidence``.

    Source: Swanberg et al. 2025, section 3 (Narcissus theory 4.1).

    >>> round(leaked_bits(1.0, 0.95).value, 4)
    5.7183
    """
    e = non_negative("epsilon", epsilon)
    level = between("confidence", confidence, 0, 1, open_high=True)
    odds = math.log(level) - math.log1p(-level) if level > 0 else -math.inf
    bits = float(np.logaddexp(0.0, e + odds)) / math.log(2)
    return THEOREM_3_2.claim(
        bits,
        f"bits leaked with confidence {level:g}",
        (f"pure DP with epsilon {e:g} (replace-one neighbours)", "one target, uniform a priori"),
    )


def leak_probability(epsilon: float, bits: float) -> Bound:
    """Bound the probability that ``bits`` bits leak: ``e^epsilon / (e^epsilon - 1 + 2^bits)``.

    Source: Swanberg et al. 2025, section 3 (Narcissus theory 4.1).
    """
    e, d = non_negative("epsilon", epsilon), non_negative("bits", bits)
    log_others = float(np.log(np.expm1(d * math.log(2)))) if 0 < d < 1000 else d * math.log(2)
    value = float(special.expit(e - log_others)) if d > 0 else 1.0
    return THEOREM_3_2.claim(
        value,
        f"probability that {d:g} bits leak",
        (f"pure DP with epsilon {e:g} (replace-one neighbours)", "one target, uniform a priori"),
    )


def follow_attempts(
    prior_success: ArrayLike,
    epsilon: float,
    delta: float,
    at_least: int,
    *,
    least: ArrayLike = 0.0,
    inseparable: ArrayLike = 0.0,
    worst: bool = False,
) -> Bound:
    """Bound the tail by a formula in the prior successes of the attempts, without a linear program.

    ``E_a[tail_v(beta(A(a)))] + delta sum_i (1 - kappa_i) / (1 + p_i^min (e^epsilon - 1))``.

    Source: Narcissus theory 4.4, "a simpler bound"; it implies Swanberg et al. 2025, Corollary 3.4.

    Parameters
    ----------
    prior_success
        Prior success of each attempt on each target, shape (attempts, n): one row per run of the
        attack, or (with ``worst``) per joint attempt available to it.
    epsilon, delta
        For a replaced record.
    at_least
        The count.
    least
        ``p_i^min``, the smallest prior success available to the attack on target ``i``; 0 is always
        valid. Broadcasts to (n,).
    inseparable
        ``kappa_i``; 0 is always valid. Broadcasts to (n,).
    worst
        Use the largest tail over the rows, not their mean. A mean over finitely many runs is only
        an estimate; the maximum over all attempts is not.
    """
    rows = np.atleast_2d(probabilities("prior_success", prior_success))
    if rows.ndim != 2 or rows.size == 0:
        raise InputError(f"`prior_success` must have shape (attempts, n), got {rows.shape}")
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    v = integer("at_least", at_least)
    n = rows.shape[1]
    kappa = np.broadcast_to(probabilities("inseparable", inseparable), (n,))
    floor = np.broadcast_to(probabilities("least", least), (n,))
    if (floor > rows.min(axis=0)).any():
        raise InputError("`least` must be at most every prior success of its target")
    tails = np.array([PoissonBinomial(np.atleast_1d(posterior(row, e))).tail(v) for row in rows])
    tail = float(tails.max() if worst else tails.mean())
    # 1 / (1 + p (e^eps - 1)) without an overflow
    kept = np.exp(-np.logaddexp(_log(1.0 - floor), _log(floor) + e))
    return DOMINATION.by("following the attempts").claim(
        min(1.0, tail + d * float(((1.0 - kappa) * kept).sum())),
        f"probability that at least {v} of {n} targets fall",
        (
            f"(epsilon, delta)-DP with epsilon {e:g}, delta {d:g} (replace-one neighbours)",
            _INDEPENDENT,
            "the attack can make no other attempts" if worst else "the runs stand for all runs",
        ),
    )


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values)
