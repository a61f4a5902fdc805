"""Published estimates for DP-SGD that are not bounds, for comparison only.

Source: Narcissus theory 4.7; the profile of `narcissus.guarantees.dp_sgd` yields bounds.
"""

from __future__ import annotations

import math

import numpy as np

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive, probability
from narcissus.results import Bound


def cherubin(noise: float, rate: float, steps: int) -> Bound:
    """Approximate the membership advantage of DP-SGD by Cherubin et al.; not a bound.

    ``erf(rate sqrt(steps) / (sqrt(2) noise))``, replace-one. At noise 0.5, rate 0.002 and 10^4
    steps it is 0.311; the exact value is 0.598.

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
    """Estimate the reconstruction success under DP-SGD by sampling; noisy, not a bound.

    The sum of the largest ``ceil(prior N)`` of ``N`` sampled likelihood ratios, over ``N``.

    Source: Hayes et al. 2023, as quoted in Narcissus theory 4.7. The profile of
    `narcissus.guarantees.dp_sgd` yields a bound.
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
