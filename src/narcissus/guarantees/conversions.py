"""Conversions between guarantees, where one follows from another; the others are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from narcissus._validation import non_negative, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import Guarantee, Secret
from narcissus.guarantees.curves import one_after_another
from narcissus.guarantees.parametric import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    bernoulli_divergence,
    order,
)


def as_approximate(
    guarantee: Guarantee, *, epsilon: float | None = None, delta: float | None = None
) -> ApproximateDP:
    """Derive (epsilon, delta)-DP: the smallest delta, or the smallest epsilon.

    Parameters
    ----------
    guarantee
        Any guarantee.
    epsilon, delta
        Exactly one of them; the other is computed.

    Raises
    ------
    InputError
        Both or neither are given, or no epsilon reaches ``delta``.

    Examples
    --------
    >>> round(as_approximate(GaussianDP(1.0), delta=1e-5).epsilon, 4)
    4.3772
    """
    if (epsilon is None) == (delta is None):
        raise InputError("`epsilon` or `delta` must be given, and not both")
    if epsilon is not None:
        at = non_negative("epsilon", epsilon)
        return ApproximateDP(at, float(guarantee.profile(at)), **guarantee.around)
    allowed = probability("delta", delta)
    low, high = 0.0, 1.0
    while float(guarantee.profile(high)) > allowed:
        low, high = high, 2 * high
        if high > 1e300:
            raise InputError(
                f"`delta` must be at least what {guarantee.describe()} keeps at every epsilon, "
                f"got {allowed:g}"
            )
    if float(guarantee.profile(0.0)) <= allowed:
        return ApproximateDP(0.0, allowed, **guarantee.around)
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if float(guarantee.profile(middle)) > allowed else (low, middle)
    return ApproximateDP(high, allowed, **guarantee.around)


def as_gaussian(guarantee: Guarantee) -> GaussianDP:
    """Derive Gaussian DP; only pure and Gaussian DP imply any.

    Source: Dong, Roth and Su 2022. The trade-off function of pure DP exceeds the Gaussian one most
    at its fixed point ``1 / (1 + exp(epsilon))``: ``mu = 2 Phi^-1(exp(epsilon) / (1 +
    exp(epsilon)))``.
    """
    if isinstance(guarantee, GaussianDP):
        return guarantee
    if isinstance(guarantee, PureDP):
        e = guarantee.epsilon
        if e < 1:  # the rate is near 1/2, whose distance from it is what counts
            mu = math.sqrt(8) * float(special.erfinv(math.tanh(e / 2)))
        else:  # of the small rate: Phi^-1 of one near 1 loses its digits
            mu = -2.0 * float(special.ndtri_exp(special.log_expit(-e)))
        return GaussianDP(mu, **guarantee.around)
    raise _refused(guarantee, "Gaussian DP")


def as_renyi(guarantee: Guarantee, alpha: float) -> RenyiDP:
    """Derive Renyi DP of order ``alpha``.

    Source: Mironov 2017: randomized response for pure DP (Proposition 5), ``alpha mu^2 / 2`` for
    Gaussian DP, ``alpha rho`` for zCDP.
    """
    a = order(alpha)
    if isinstance(guarantee, RenyiDP):
        if a > guarantee.alpha:
            raise InputError(
                f"`alpha` must be at most {guarantee.alpha:g}, the order that is known, got {a:g}"
            )
        return RenyiDP(a, guarantee.gamma, **guarantee.around)
    if isinstance(guarantee, PureDP):
        e = guarantee.epsilon
        coins = np.asarray(special.expit(e)), np.asarray(special.expit(-e))
        gamma = float(bernoulli_divergence(*coins, a, math.tanh(e / 2)))
        return RenyiDP(a, min(max(gamma, 0.0), e), **guarantee.around)
    rho = _rho(guarantee)
    if rho is None:
        raise _refused(guarantee, "Renyi DP")
    return RenyiDP(a, a * rho, **guarantee.around)


def as_zero_concentrated(guarantee: Guarantee) -> ZeroConcentratedDP:
    """Derive zCDP: ``epsilon^2 / 2`` from pure DP, ``mu^2 / 2`` from Gaussian DP.

    Source: Bun and Steinke 2016, Propositions 1.4 and 1.6.
    """
    rho = guarantee.epsilon**2 / 2 if isinstance(guarantee, PureDP) else _rho(guarantee)
    if rho is None:
        raise _refused(guarantee, "zero-concentrated DP")
    return ZeroConcentratedDP(rho, **guarantee.around)


def as_replace_one(guarantee: Guarantee) -> Guarantee:
    """Convert a guarantee about added or removed records to one about a replaced record.

    A replacement is a removal and an addition: epsilon and mu double, rho is multiplied by 4, and
    the profile becomes ``min over e1 + e2 = e of delta(e1) + exp(e1) delta(e2)``. The result
    records the original guarantee.

    Source: Dwork and Roth 2014, Theorem 2.2 (the profile form is its proof); Dong, Roth and Su
    2022, Theorem 2.14 (Gaussian); Bun and Steinke 2016, Proposition 1.9 (zCDP); Mironov 2017,
    Proposition 11 with Hoelder exponents ``(alpha - 1, (alpha - 1)/(alpha - 2))`` (Renyi).

    >>> as_replace_one(PureDP(0.5, adjacency="add-remove")).describe().split(", ")[0]
    'pure DP with epsilon 1 (replace-one neighbours'
    """
    if guarantee.adjacency == "replace-one":
        return guarantee
    for kind, twice in _TWICE.items():
        if isinstance(guarantee, kind):
            return replace(twice(guarantee), converted_from=guarantee.describe())
    once = guarantee.profile
    last = float(guarantee.tangents(200)[-1])
    return replace(one_after_another(once, once, last), converted_from=guarantee.describe())


def as_asked(guarantee: Guarantee, secret: Secret) -> Guarantee:
    """Convert a guarantee to the attacker's question.

    Source: Narcissus theory 3. Membership is a secret with two values whose data sets are
    neighbours, so no third data set lies between them.

    Parameters
    ----------
    guarantee
        About any neighbours.
    secret
        ``"value"``, the value of a record: a guarantee about added and removed records is converted
        by `as_replace_one`. ``"membership"``, whether a record is in the data: the guarantee holds
        as it is; with replaced records the question is "this record, or another in its place".

    Examples
    --------
    >>> once = GaussianDP(1.0, adjacency="add-remove")
    >>> as_asked(once, "membership").describe()
    'Gaussian DP with mu 1 (add-remove neighbours: the record is in or out)'
    >>> as_asked(once, "value").describe().split(", ")[0]
    'Gaussian DP with mu 2 (replace-one neighbours'
    """
    if secret == "value":
        marked = guarantee.secret != secret
        return as_replace_one(replace(guarantee, secret=secret) if marked else guarantee)
    if guarantee.converted_from:
        raise InputError(
            f"`guarantee` was converted to a replaced record, got {guarantee.describe()}; "
            "ask of the one that it was converted from"
        )
    return replace(guarantee, secret=secret)


def _renyi_twice(guarantee: RenyiDP) -> RenyiDP:
    # D_b(P||R) <= (b - 1/2)/(b - 1) D_2b(P||Q) + D_{2b-1}(Q||R) at b = alpha/2, and the
    # divergence of order alpha - 1 is at most the one of order alpha.
    half = guarantee.alpha / 2
    if half <= 1:
        raise InputError(
            f"`guarantee` must have an order above 2 to say anything about a replaced record, "
            f"got {guarantee.describe()}"
        )
    return RenyiDP(half, guarantee.gamma * ((half - 0.5) / (half - 1) + 1))


def _approximate_twice(guarantee: ApproximateDP) -> ApproximateDP:
    e, d = guarantee.epsilon, guarantee.delta
    return ApproximateDP(2 * e, min(1.0, d * (1.0 + math.exp(min(e, 700.0)))))


# What removing a record and adding another one keep of each guarantee.
_TWICE: dict[type[Guarantee], Callable[[Any], Guarantee]] = {
    PureDP: lambda g: PureDP(2 * g.epsilon),
    GaussianDP: lambda g: GaussianDP(2 * g.mu),
    ZeroConcentratedDP: lambda g: ZeroConcentratedDP(4 * g.rho),
    BayesSecurity: lambda g: BayesSecurity(max(0.0, 1.0 - 2.0 * (1.0 - g.beta_star))),
    ApproximateDP: _approximate_twice,
    RenyiDP: _renyi_twice,
}


def _rho(guarantee: Guarantee) -> float | None:
    """Return the rho implied at every order, or None if the guarantee implies none."""
    if isinstance(guarantee, ZeroConcentratedDP):
        return guarantee.rho
    if isinstance(guarantee, GaussianDP):
        return guarantee.mu**2 / 2
    return None


def _refused(guarantee: Guarantee, wanted: str) -> InputError:
    return InputError(
        f"`guarantee` implies no {wanted}, got {guarantee.describe()}; "
        "`as_approximate` is always possible"
    )
