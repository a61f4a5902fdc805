"""Bounds as others published them, for comparison; those that do not hold are marked.

Source: Narcissus theory 4.2 and 4.7, which says why the invalid ones are.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, non_negative, positive, probability
from narcissus.bounds.binomial import upper_tail
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.bounds.swap import inseparable_draws, log_odds, posterior, quantity, swap_tail
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    Guarantee,
    PureDP,
    RenyiDP,
    require_replace_one,
)
from narcissus.guarantees.renyi import largest_rate
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

_MOST_TAILS = 10_000  # successes up to which tails at all counts below are compared
_ONE = "success on one target"
_PRIOR = "no attempt succeeds a priori with probability above the prior"


def one_target_bounds(
    guarantee: Guarantee, prior: float, *, inseparable: float = 0.0, exact_match: bool = False
) -> list[Bound]:
    """List what is known about the success on one target from its prior success alone.

    Parameters
    ----------
    guarantee
        About replace-one neighbours.
    prior
        Limit of the prior success of every attempt.
    inseparable
        ``kappa`` of theory 4.3.
    exact_match
        Whether success means naming the very value; Chatzikokolakis et al.'s bound needs it.

    Returns
    -------
    list of Bound
        Ours first; each with `Bound.valid`.
    """
    require_replace_one(guarantee)
    p = probability("prior", prior)
    kappa = probability("inseparable", inseparable)
    said = (guarantee.describe(), _PRIOR)
    apart = (inseparable_draws(kappa),) if kappa > 0 else ()
    points = guarantee.tangents(400)
    points = np.concatenate([-points[::-1], points])
    values = swap_tail(1, p, points, guarantee.profile(points), 1, inseparable=kappa)
    ours = max(p, float(values.min()))
    found = [Bound(ours, _ONE, "Narcissus theory 4.6 (one target)", (*said, *apart))]
    if isinstance(guarantee, RenyiDP):
        largest = largest_rate(np.asarray(p), guarantee.alpha, guarantee.gamma, both=False)
        found.append(Bound(float(largest), _ONE, "Narcissus theory 4.6 (Renyi divergence)", said))
        stock = _power(p, guarantee)
        found.append(Bound(max(p, stock), _ONE, "Stock et al. 2022 (Renyi reconstruction)", said))
    if isinstance(guarantee, PureDP):
        value = float(posterior(p, guarantee.epsilon))
        found.append(Bound(value, _ONE, "Swanberg et al. 2025, Theorem 3.2", said))
    if isinstance(guarantee, PureDP | ApproximateDP):
        delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
        grown = math.exp(min(0.0, _log(p) + guarantee.epsilon))
        found.append(
            Bound(
                min(1.0, grown + delta), _ONE, "Balle et al. 2022 (reconstruction robustness)", said
            )
        )
        # The same number; its p is the success of the attempt made, not of the best one.
        found.append(Bound(min(1.0, grown + delta), _ONE, "Cohen et al. 2024, Theorem F.1", said))
        if delta > 0:
            value = min(1.0, float(posterior(p, guarantee.epsilon)) + delta)
            found.append(Bound(value, _ONE, "Swanberg et al. 2025, Corollary 3.4", said))
        if p == 0.5:
            found += _membership(guarantee.epsilon, delta, said, coin=kappa >= 0.5)
    value = max(p, float(guarantee.power(p)))
    found.append(Bound(value, _ONE, "Hayes et al. 2023 (1 - f(prior))", said))
    if isinstance(guarantee, BayesSecurity):
        found.append(
            Bound(
                max(p, 1.0 - guarantee.beta_star * (1.0 - p)),
                _ONE,
                "Chatzikokolakis et al., Theorem 1 (Bayes risk)",
                (*said, "success means naming the very value"),
                valid=exact_match,
            )
        )
    # Rounding must not put a bound below what is reached without the release.
    return [dataclasses.replace(b, value=min(1.0, max(p, b.value))) for b in found]


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf


def _power(p: float, guarantee: RenyiDP) -> float:
    """Give ``(p e^gamma)^((alpha - 1) / alpha)``."""
    exponent = (guarantee.alpha - 1) / guarantee.alpha * (_log(p) + guarantee.gamma)
    return math.exp(min(0.0, exponent))


def _membership(epsilon: float, delta: float, said: tuple[str, ...], *, coin: bool) -> list[Bound]:
    """Give the bounds on membership advantage as success on a fair bit.

    Guesses that cover half of many values also have a prior success of 1/2, and are no fair bit:
    there two draws are told apart more often than not, and delta adds more.
    """
    fair = (*said, "membership of a fair coin: success is (1 + advantage) / 2")
    yeom = min(1.0, 0.5 + math.expm1(min(epsilon, 1.0)) / 2)
    humphries = 0.5 + humphries_advantage(epsilon, delta) / 2
    bounds: list[Bound] = []
    if coin:
        bounds.append(Bound(humphries, _ONE, "Humphries et al. 2023 (total variation)", fair))
    if delta == 0:
        bounds.append(Bound(yeom, _ONE, "Yeom et al. 2018, Theorem 1", fair))
    return bounds


def humphries_advantage(epsilon: float, delta: float = 0.0) -> float:
    """Give ``(e^epsilon - 1 + 2 delta) / (e^epsilon + 1)``, the largest membership advantage.

    Notes
    -----
    Source: Humphries et al. 2023; the total variation under (epsilon, delta)-DP (theory 6).
    """
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    return math.tanh(e / 2) + 2.0 * d * float(special.expit(-e))


def cherubin(noise: float, rate: float, steps: int) -> Bound:
    """Give the membership advantage of DP-SGD by Cherubin et al.: an approximation, not a bound.

    ``erf(rate sqrt(steps) / (sqrt(2) noise))``, replace-one. At noise 0.5, rate 0.002 and 10^4
    steps it says 0.311 where the exact value is 0.598.

    Notes
    -----
    Source: Cherubin et al. 2024, as quoted in Narcissus theory 4.7.
    """
    sigma, q = positive("noise", noise), probability("rate", rate)
    value = math.erf(q * math.sqrt(integer("steps", steps, low=1)) / (math.sqrt(2) * sigma))
    return Bound(
        value,
        "membership advantage under DP-SGD",
        "Cherubin et al. 2024 (an approximation)",
        ("a large noise and many steps",),
        valid=False,
    )


def sampled_reconstruction(
    noise: float,
    rate: float,
    steps: int,
    prior: float,
    *,
    samples: int = 10_000,
    rng: RandomSource = None,
) -> Bound:
    """Give the reconstruction success under DP-SGD by sampling: a noisy estimate, not a bound.

    The sum of the largest ``ceil(prior N)`` of ``N`` sampled likelihood ratios, over ``N``.

    Notes
    -----
    Source: Hayes et al. 2023, as quoted in Narcissus theory 4.7. The profile of
    `narcissus.guarantees.dp_sgd` gives a bound.
    """
    sigma, q, p = positive("noise", noise), probability("rate", rate), probability("prior", prior)
    times, count = integer("steps", steps, low=1), integer("samples", samples, low=1)
    source = generator(rng)
    log_ratio = np.zeros(count)
    for _ in range(times):
        w = source.normal(0.0, sigma, count)
        with np.errstate(divide="ignore"):
            log_ratio += np.logaddexp(np.log1p(-q), np.log(q) + (2 * w - 1) / (2 * sigma**2))
    top = np.sort(log_ratio)[::-1][: math.ceil(p * count)]
    return Bound(
        min(1.0, float(np.exp(top).sum()) / count),
        "success on one target under DP-SGD",
        "Hayes et al. 2023, Algorithm 2 (sampled)",
        ("the samples happen to represent the tail",),
        valid=False,
    )


def many_target_bounds(
    guarantee: Guarantee, prior: float, n: int, at_least: int, *, guesses: int | None = None
) -> list[Bound]:
    """List the published tails for ``n`` independent targets of equal prior success.

    They are about one point (epsilon, delta): pure and approximate DP only; other guarantees give
    an empty list. Swanberg et al. 2025, Theorems 3.3 and 3.5, and the formula of one-run auditing
    with ``2 m delta`` are not valid and marked so (theory 4.2); they take the square of the number
    of successes in time, and are left out above 10,000.

    For one success there is also ``n (e^epsilon p + delta)``: reconstruction robustness summed over
    the targets, which holds for one guess at all of them too. It is our form of distributional
    robustness, which theory 4.7 names without a formula.
    """
    require_replace_one(guarantee)
    if not isinstance(guarantee, PureDP | ApproximateDP):
        return []
    p, v = probability("prior", prior), integer("at_least", at_least)
    r = n if guesses is None else guesses
    delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
    odds = log_odds(p) + guarantee.epsilon
    tail = float(upper_tail(r, min(v, r + 1), odds)) if v > 0 else 1.0
    said = (
        guarantee.describe(),
        "the targets' values are independent given what the attacker knows",
        _PRIOR,
    )
    what = quantity(n, v)
    found: list[Bound] = []
    if v == 1:
        # One guess that may serve every target; it needs no independence.
        reached = n * (math.exp(min(0.0, _log(p) + guarantee.epsilon)) + delta)
        name = "distributional reconstruction robustness (one guess)"
        found.append(Bound(min(1.0, reached), what, name, (guarantee.describe(), _PRIOR)))
    if delta == 0:
        return [*found, Bound(tail, what, "Swanberg et al. 2025, Theorem 3.2", said)]
    name = "Swanberg et al. 2025, Corollary 3.4"
    found.append(Bound(min(1.0, tail + n * delta), what, name, said))
    if v > _MOST_TAILS:
        return found
    tails = upper_tail(r, np.arange(max(0, min(v, r + 1)) + 1), odds)
    names = {
        "Swanberg et al. 2025, Theorem 3.3": failure_envelope(tails, n * delta),
        "Swanberg et al. 2025, Theorem 3.5": tail + _steepest(tails) * n * delta,
        "Steinke et al. 2023, Theorem 5.2 (one run, 2 m delta)": tail
        + 2.0 * _steepest(tails) * n * delta,
    }
    for name, value in names.items():
        if "Steinke" not in name or p == 0.5:
            found.append(Bound(min(1.0, value), what, name, said, valid=False))
    return found


def _steepest(tails: FloatArray) -> float:
    """Give ``max_j (tail_{v-j} - tail_v) / j`` from the tails at ``0..v``."""
    if tails.size < 2:
        return 0.0
    drop = tails[:-1][::-1] - tails[-1]
    return float((drop / np.arange(1, tails.size)).max())


def failure_envelope(tails: FloatArray, mean: float) -> float:
    """Give the largest ``E[tail_{v-F}]`` over ``F`` with that mean, from the tails at ``0..v``."""
    heights = tails[::-1]  # at F = 0, 1, ..., v
    if mean >= heights.size - 1:
        return 1.0
    best = float(heights[0])
    for i in range(math.floor(mean) + 1):
        j = np.arange(math.floor(mean) + 1, heights.size)
        best = max(
            best, float((heights[i] + (heights[j] - heights[i]) * (mean - i) / (j - i)).max())
        )
    return best


def corollary_3_4(prior_success: FloatArray, epsilon: float, delta: float, at_least: int) -> float:
    """Give ``E_a[tail_v(beta(A(a)))] + n delta`` from the attempts of many runs.

    Parameters
    ----------
    prior_success
        Prior success of each attempt, shape (runs, n).

    Notes
    -----
    Source: Swanberg et al. 2025, Corollary 3.4.
    """
    beta = np.atleast_2d(posterior(prior_success, epsilon))
    tails = [PoissonBinomial(row).tail(at_least) for row in beta]
    return min(1.0, float(np.mean(tails)) + beta.shape[1] * delta)
