"""Bounds for a prior known only from samples.

Source: Narcissus theory, end of 4.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import between, integer, non_negative, probability
from narcissus.bounds.odds import posterior
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.errors import InputError
from narcissus.results import Bound

FloatArray = NDArray[np.float64]


def upper_priors(hits: ArrayLike, samples: ArrayLike, *, error: float, attempts: int) -> FloatArray:
    """Compute simultaneous upper limits on prior successes from samples of the prior.

    Source: Narcissus theory 4.4 (a prior known only from samples): Clopper and Pearson 1934 at
    ``error / (n attempts)`` each. An attacker who picks the attempt that is rarest in the same
    sample breaks limits for a single attempt.

    Parameters
    ----------
    hits
        Number of samples for which each target's attempt would have been right, shape (n,).
    samples
        Number of independent draws from the target's prior; broadcasts to (n,).
    error
        Probability, over the samples, that any limit fails; in (0, 1).
    attempts
        Number of attempts available on each target after seeing anything that depends on these
        samples: for a guessed value, the number of values. 1 only if the attempt was fixed without
        them. There is no default: with 1, if the attacker names the value seen least of ten equal
        ones in 30 samples, limits at error .05 fail in .37 of cases.
    """
    alpha = between("error", error, 0, 1, open_low=True, open_high=True)
    right = np.atleast_1d(np.asarray(hits, dtype=np.float64))
    total = np.broadcast_to(np.asarray(samples, dtype=np.float64), right.shape)
    whole = (right == np.floor(right)) & (total == np.floor(total))
    if right.ndim != 1 or not (whole & (right >= 0) & (right <= total) & (total >= 1)).all():
        raise InputError("`hits` must be whole numbers from 0 to `samples`, a vector")
    each = alpha / (right.size * integer("attempts", attempts, low=1))
    limits = np.ones(right.shape)
    short = right < total
    limits[short] = special.betainccinv(right[short] + 1, total[short] - right[short], each)
    return limits


def estimated_tail(
    hits: ArrayLike,
    samples: ArrayLike,
    epsilon: float,
    delta: float,
    at_least: int,
    *,
    error: float,
    attempts: int,
) -> Bound:
    """Bound the tail when each target's prior success is known from samples only.

    The tail at the upper limits, plus ``n delta``, plus ``error`` for limits that fail.

    Source: Narcissus theory 4.4; the tail is Swanberg et al. 2025, Corollary 3.4, which leaves
    estimated priors to future work.

    Parameters
    ----------
    hits, samples, error, attempts
        See `upper_priors`.
    epsilon, delta
        For a replaced record.
    at_least
        The count.
    """
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    v = integer("at_least", at_least)
    limits = upper_priors(hits, samples, error=error, attempts=attempts)
    tail = PoissonBinomial(np.atleast_1d(posterior(limits, e))).tail(v)
    return Bound(
        min(1.0, tail + limits.size * d + error) if v <= limits.size else 0.0,
        f"probability, over samples and release, that at least {v} of {limits.size} targets fall",
        "Narcissus theory 4.4 (estimated prior)",
        (
            f"(epsilon, delta)-DP with epsilon {e:g}, delta {d:g} (replace-one neighbours)",
            "the samples are independent draws from each target's prior",
            "the samples are independent of the attempt"
            if attempts == 1
            else f"the attempt on a target is one of {attempts}, whatever the samples",
        ),
    )
