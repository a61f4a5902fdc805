"""The settings of a sweep: one for each level of noise, with what it guarantees."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import optimize

from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee
from narcissus.mechanisms import GaussianNoise, LaplaceNoise, Noise, NoNoise
from narcissus.study.table.schema import MechanismSpec

DEFAULT_DELTA = 1e-5


@dataclass(frozen=True)
class Setting:
    """One level of the sweep.

    Attributes
    ----------
    label
        For tables and figures.
    noise
        What is added to the counts.
    guarantee
        What the release guarantees; None without noise.
    epsilon, delta, mu
        The same as numbers, where they exist.
    single
        The single point (epsilon, delta) as a guarantee, for comparison; None if there is none.
    """

    label: str
    noise: Noise
    guarantee: Guarantee | None
    epsilon: float | None
    delta: float | None
    mu: float | None
    single: Guarantee | None


def settings_of(spec: MechanismSpec, tables: int) -> tuple[Setting, ...]:
    """Build the settings of the sweep for a release of so many tables."""
    by = next(n for n in ("epsilon", "mu", "scale") if getattr(spec, n) is not None)
    return tuple(_setting(spec, by, level, tables) for level in spec.levels)


def _setting(spec: MechanismSpec, by: str, level: float, tables: int) -> Setting:
    if math.isinf(level) or (by == "scale" and level == 0):
        return Setting("no noise", NoNoise(), None, None, None, None, None)
    symbol = {"epsilon": "ε", "mu": "μ", "scale": "scale"}[by]
    label = f"{symbol} = {level:g}"
    if spec.noise == "laplace":
        noise = LaplaceNoise(level) if by == "scale" else LaplaceNoise.for_epsilon(level, tables)
        pure = noise.guarantee(tables)
        return Setting(label, noise, pure, pure.epsilon, 0.0, None, pure)
    delta = DEFAULT_DELTA if spec.delta is None else spec.delta
    if by == "epsilon":
        gaussian = GaussianNoise.for_epsilon(level, delta, tables)
    elif by == "mu":
        gaussian = GaussianNoise.for_mu(level, tables)
    else:
        gaussian = GaussianNoise(level)
    guarantee = gaussian.guarantee(tables)
    epsilon = level if by == "epsilon" else _epsilon_at(guarantee, delta)
    single = None if epsilon is None else ApproximateDP(epsilon, delta)
    return Setting(label, gaussian, guarantee, epsilon, delta, guarantee.mu, single)


def _epsilon_at(guarantee: GaussianDP, delta: float) -> float | None:
    """Give the epsilon at which the profile reaches ``delta``; None where it never does."""
    if not 0 < delta < float(guarantee.profile(0.0)):
        return None
    high = 1.0
    while float(guarantee.profile(high)) > delta:
        high *= 2
    return float(optimize.brentq(lambda e: float(guarantee.profile(e)) - delta, 0.0, high))
