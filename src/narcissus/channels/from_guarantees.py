"""What a differential-privacy guarantee implies for Bayes security, and back.

Source: Chatzikokolakis et al. 2023, section V; Narcissus theory 6 and 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from narcissus._outwards import lower
from narcissus._validation import between, integer, non_negative, probability
from narcissus.channels.channel import ProvedResult
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    Guarantee,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from narcissus.results import Bound


@dataclass(frozen=True)
class SecurityBound(ProvedResult):
    """A proved lower limit of Bayes security."""

    value: float  # Bayes security is at least this
    quantity: str  # Which: "beta*", or "beta(pi)" for one prior
    # theorem, assumptions: Where it comes from and what must hold
    theorem: str
    assumptions: tuple[str, ...] = ()
    tight: bool = False  # Whether some mechanism with this guarantee reaches it

    @property
    def advantage(self) -> Bound:
        """The same as an upper limit of an attacker's advantage, ``1 - value``."""
        return Bound(1 - self.value, "advantage", self.theorem, self.assumptions)

    def __str__(self) -> str:
        tight = " (some mechanism reaches it)" if self.tight else ""
        lines = [
            f"PROVED: {self.quantity} at least {lower(self.value)}{tight}",
            f"  by {self.theorem}",
        ]
        return "\n".join(lines + [f"  assuming {a}" for a in self.assumptions])


def _one_over_one_plus_exp(epsilon: float) -> float:
    small = math.exp(-epsilon)
    return small / (1 + small)


def from_local_dp(epsilon: float, delta: float = 0.0) -> SecurityBound:
    """Limit ``beta*`` of an (epsilon, delta)-LDP channel: ``2 (1 - delta) / (1 + e^epsilon)``.

    Holds as well for the two secrets "database x" and "its neighbour x'" under differential
    privacy (Corollary 2): membership or attribute inference about one record.

    Source: Chatzikokolakis et al. 2023, Theorem 5 and Corollary 2; with delta
    Humphries et al. 2020, in the form of Narcissus theory 6.

    >>> round(from_local_dp(1).value, 6)
    0.537883
    """
    epsilon, delta = non_negative("epsilon", epsilon), between("delta", delta, 0, 1)
    theorem = "Humphries et al. 2020 (Narcissus theory 6)"
    if delta == 0:
        theorem = "Chatzikokolakis et al. 2023, Theorem 5"
    assumption = f"every two secrets are ({epsilon:g}, {delta:g})-indistinguishable"
    value = 2 * (1 - delta) * _one_over_one_plus_exp(epsilon)
    return SecurityBound(value, "beta*", theorem, (assumption,), tight=True)


def from_database_dp(
    epsilon: float,
    records: int,
    values: int | None = None,
    prior: float | Literal["uniform"] | None = None,
) -> SecurityBound:
    """Limit the Bayes security of whole databases under epsilon-DP.

    Source: Narcissus theory 6.1 (sharp); Chatzikokolakis et al. 2023, Corollary 1.

    epsilon: Guarantee for replacing one record.
    values: Number of values of a record; needed with ``prior``.
    prior: "uniform" or the largest probability of any database in (0, 1): use Corollary 1 for this
        prior where it says more. None: the sharp limit of ``beta*``, for every prior.

    >>> round(from_database_dp(1, 4).value, 4)  # 2 / (1 + e^4) would be 0.0360
    0.1353
    """
    epsilon = non_negative("epsilon", epsilon)
    n = integer("records", records, low=1)
    sharp = math.exp(-n * epsilon / 2)
    if n % 2:
        sharp = 2 * math.exp(-(n - 1) * epsilon / 2) * _one_over_one_plus_exp(epsilon)
    assumption = f"{epsilon:g}-DP for replacing one of {n} records"
    best = SecurityBound(sharp, "beta*", "Narcissus theory 6.1", (assumption,), tight=True)
    if prior is None:
        return best
    if values is None:
        raise InputError("`values` is needed with `prior`: how many values can a record take?")
    v = integer("values", values, low=2)
    if prior == "uniform":
        log_top = -n * math.log(v)
    else:
        log_top = math.log(between("prior", prior, 0, 1, open_low=True, open_high=True))
    log_gain = _log_database_capacity(epsilon, n, v)
    corollary = min(1.0, max(0.0, -math.expm1(log_top + log_gain)) / -math.expm1(log_top))
    if corollary <= sharp:
        return replace(best, quantity="beta(pi)", tight=False)
    theorem = "Chatzikokolakis et al. 2023, Corollary 1"
    assumptions = (assumption, f"records take one of {v} values")
    return SecurityBound(corollary, "beta(pi)", theorem, assumptions, tight=prior == "uniform")


def _log_database_capacity(epsilon: float, n: int, v: int) -> float:
    return n * (math.log(v) - math.log1p((v - 1) * math.exp(-epsilon)))


def database_capacity(epsilon: float, records: int, values: int) -> Bound:
    """Limit the leakage of whole databases under epsilon-DP: ``(v e^eps / (v - 1 + e^eps))^n``.

    So many times likelier does any release with this guarantee make the right guess of the whole
    database, at most, whatever the prior (and the best expected gain, whatever the gain: the
    miracle theorem). Randomised response of each record reaches it at the uniform prior.

    epsilon: Guarantee for replacing one of ``n`` records, each of ``v`` values.

    Source: Chatzikokolakis et al. 2023, Theorem 6, from Alvim et al. 2015.

    >>> round(database_capacity(1, 3, 2).value, 4)
    3.1257
    """
    epsilon = non_negative("epsilon", epsilon)
    n, v = integer("records", records, low=1), integer("values", values, low=2)
    log_capacity = _log_database_capacity(epsilon, n, v)
    return Bound(
        math.exp(log_capacity) if log_capacity < 709 else math.inf,
        "multiplicative leakage of a whole database",
        "Chatzikokolakis et al. 2023, Theorem 6",
        (
            f"{epsilon:g}-DP for replacing one of {n} records",
            f"records take one of {v} values, and every database is possible",
        ),
    )


def from_guarantee(guarantee: Guarantee) -> SecurityBound:
    """Limit ``beta*`` of two neighbouring data sets under any guarantee: ``1 - delta(0)``, or more.

    The direction matters: a guarantee limits ``beta*`` from below. That many neighbours are told
    apart so well is not said; `dp_sgd_reached` says it of DP-SGD.

    guarantee: Differential privacy of any kind, a privacy profile, the losses of an accountant
        (`narcissus.guarantees.dp_sgd`, `read_profile`, `read_losses`). The limit is about the
        neighbours that it is about: a replaced record, or an added or removed one.

    It is tight where some mechanism with this guarantee reaches it: for the kinds of this package,
    unless converted from other neighbours.

    ``beta*`` is one minus the total variation, which is the profile at epsilon 0. A Renyi guarantee
    of order alpha has randomised response as its worst mechanism, and so has zero-concentrated DP,
    with ``epsilon tanh(epsilon / 2) = rho``. Source: Narcissus theory 6.12; Chatzikokolakis et al.
    2023, Proposition 2.

    >>> from narcissus.guarantees import GaussianDP
    >>> round(from_guarantee(GaussianDP(1.0)).value, 6)
    0.617075
    """
    theorem = "Narcissus theory 6.12"
    match guarantee:
        case PureDP():
            value, theorem = from_local_dp(guarantee.epsilon).value, from_local_dp(1).theorem
        case ApproximateDP():
            bound = from_local_dp(guarantee.epsilon, guarantee.delta)
            value, theorem = bound.value, bound.theorem
        case BayesSecurity():
            value, theorem = guarantee.beta_star, "Chatzikokolakis et al. 2023, Proposition 2"
        case GaussianDP():
            value = math.erfc(guarantee.mu / math.sqrt(8))
        case RenyiDP():
            value = _worst_response(
                lambda e: _renyi_of_response(e, guarantee.alpha), guarantee.gamma
            )
        case ZeroConcentratedDP():
            value = _worst_response(lambda e: e * math.tanh(e / 2), guarantee.rho)
        case _:
            value = max(0.0, 1 - float(guarantee.profile(0.0)))
            theorem = "Chatzikokolakis et al. 2023, Proposition 2: 1 - delta at epsilon 0"
    ours = (ApproximateDP, BayesSecurity, GaussianDP, ProfileCurve, PureDP, RenyiDP)
    return SecurityBound(
        value,
        "beta*",
        theorem,
        guarantee.assumed,
        tight=isinstance(guarantee, (*ours, ZeroConcentratedDP)) and not guarantee.converted_from,
    )


def _renyi_of_response(epsilon: float, alpha: float) -> float:
    """Return Renyi divergence of binary randomised response, ``ln(cosh(..)/cosh(..))/(a-1)``."""
    far, near = (alpha - 0.5) * epsilon, epsilon / 2
    if far < 20:  # the quotient less 1, so that a small divergence keeps its digits
        excess = 2 * math.sinh(alpha * near) * math.sinh((alpha - 1) * near) / math.cosh(near)
        return math.log1p(excess) / (alpha - 1)
    ratio = far + math.log1p(math.exp(-2 * far)) - near - math.log1p(math.exp(-2 * near))
    return ratio / (alpha - 1)


def _worst_response(divergence: Callable[[float], float], limit: float) -> float:
    """Return ``2 / (1 + e^epsilon)`` at the epsilon where a divergence that rises meets its limit.

    The end of the bracket beyond the limit is taken, so that rounding errs downwards.
    """
    if limit == 0:
        return 1.0
    low, high = 0.0, 1.0
    while divergence(high) <= limit:
        low, high = high, 2 * high
    while high - low > 4e-16 * high and high > 1e-300:
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(middle) <= limit else (low, middle)
    return 2 * _one_over_one_plus_exp(high)


def naive_database_bound(epsilon: float, records: int) -> SecurityBound:
    """Limit ``beta*`` of whole databases by group privacy alone: ``2 / (1 + e^(n epsilon))``.

    Valid, tight only for one record; for comparison with `from_database_dp`.
    """
    n = integer("records", records, low=1)
    bound = from_local_dp(n * non_negative("epsilon", epsilon))
    return replace(bound, theorem=f"{bound.theorem}, with group privacy", tight=False)


def to_approximate_dp(beta_star: float) -> tuple[float, float]:
    """Return the (epsilon, delta) that ``beta*`` is equivalent to: ``(0, 1 - beta*)``-LDP.

    Source: Chatzikokolakis et al. 2023, Proposition 2.
    """
    return 0.0, 1 - probability("beta_star", beta_star)


def yeom_bound(epsilon: float) -> SecurityBound:
    """Limit ``beta*`` of neighbours by Yeom et al. 2018: ``2 - e^epsilon``; for comparison.

    Never better than `from_local_dp`. Source: Chatzikokolakis et al. 2023, Equation 6.
    """
    epsilon = non_negative("epsilon", epsilon)
    value = max(0.0, 2 - math.exp(epsilon)) if epsilon < 1 else 0.0
    theorem = "Yeom et al. 2018 (Chatzikokolakis et al. 2023, Equation 6)"
    return SecurityBound(value, "beta*", theorem)


def humphries_bound(epsilon: float, delta: float = 0.0) -> SecurityBound:
    """Limit ``beta*`` of neighbours by Humphries et al. 2020, for (epsilon, delta)-DP."""
    return replace(from_local_dp(epsilon, delta), theorem="Humphries et al. 2020", tight=False)
