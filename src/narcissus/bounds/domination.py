"""The domination theorem: tails for any priors and any success, exact under pure DP.

Source: Narcissus theory 4.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import integer, non_negative, probabilities
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound

FloatArray = NDArray[np.float64]


def prior_rows(name: str, priors: ArrayLike) -> FloatArray:
    """Give ``priors`` as an array of shape (m, V) whose rows are distributions.

    A vector is one row. Rows of targets with fewer values are padded with zeros.
    """
    rows = np.atleast_2d(probabilities(name, priors))
    if rows.ndim != 2 or rows.size == 0:
        raise InputError(f"`{name}` must be one distribution a row, got shape {rows.shape}")
    totals = rows.sum(axis=1)
    bad = np.flatnonzero(np.abs(totals - 1.0) > 1e-9)
    if bad.size:
        raise InputError(
            f"`{name}` must sum to 1 within 1e-09 in every row, "
            f"got {float(totals[bad[0]])!r} in row {bad[0]}"
        )
    return rows


def exact_match_optimum(priors: ArrayLike, epsilon: float) -> FloatArray:
    """Give the success of the best attacker on the best epsilon-DP mechanism, exact match.

    ``o = max_k e^eps S_k / (e^eps + k - 1)`` with ``S_k`` the mass of the ``k`` likeliest values.

    Parameters
    ----------
    priors
        One distribution a row, shape (m, V) or (V,); zeros pad rows with fewer values.
    epsilon
        Pure DP for a replaced record; at least 0, infinite allowed.

    Returns
    -------
    array of shape (m,)
        Each in [largest prior mass, 1].

    Notes
    -----
    Source: Narcissus theory 4.4 and 4.6. The number of successes among independent targets is
    stochastically at most a sum of Bernoulli(o_i).

    Examples
    --------
    >>> exact_match_optimum([0.7, 0.2, 0.1], 3.0).round(5)
    array([0.90944])
    """
    level = non_negative("epsilon", epsilon, allow_infinite=True)
    rows = prior_rows("priors", priors)
    heads = np.cumsum(-np.sort(-rows, axis=1), axis=1)
    return optimum_of_heads(heads, np.full(rows.shape[0], level))


def optimum_of_heads(heads: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Give the closed form from ``heads``, the masses of the k likeliest values, shape (m, V).

    ``epsilon`` has shape (m,). Written as ``S_k / (1 + (k - 1) e^-eps)``, so nothing overflows.
    """
    others = np.arange(heads.shape[1])
    values = heads / (1.0 + others * np.exp(-epsilon)[:, None])
    return np.minimum(values.max(axis=1), 1.0)


def domination(priors: ArrayLike, guarantee: Guarantee, at_least: int) -> Bound:
    """Limit the probability that at least so many independent targets are matched exactly.

    ``Pr[L >= v] <= Pr[sum_i Bernoulli(o_i) >= v] + delta sum_i (1 - o_i)``, the least over the
    points (epsilon, delta) of the guarantee's profile.

    Parameters
    ----------
    priors
        One distribution a target, shape (n, V); zeros pad rows with fewer values.
    guarantee
        About replace-one neighbours.
    at_least
        The count ``v``.

    Notes
    -----
    Source: Narcissus theory 4.4. Under pure DP it is the exact optimum.

    Examples
    --------
    >>> from narcissus.guarantees import PureDP
    >>> round(domination([[0.7, 0.3]] * 12, PureDP(1.0), 9).value, 6)
    0.589582
    """
    require_replace_one(guarantee)
    rows = prior_rows("priors", priors)
    v = integer("at_least", at_least)
    heads = np.cumsum(-np.sort(-rows, axis=1), axis=1)
    best = 1.0
    for epsilon in guarantee.tangents():
        optima = optimum_of_heads(heads, np.full(rows.shape[0], epsilon))
        spent = float(guarantee.profile(epsilon)) * float((1.0 - optima).sum())
        if spent < best:
            best = min(best, PoissonBinomial(optima).tail(v) + spent)
    return Bound(
        best if 0 < v <= rows.shape[0] else float(v <= 0),
        f"probability that at least {v} of {rows.shape[0]} targets are matched exactly",
        "Narcissus theory 4.4 (domination)",
        (guarantee.describe(), "the targets' values are independent given what the attacker knows"),
    )
