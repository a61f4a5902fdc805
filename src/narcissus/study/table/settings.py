"""The settings of a sweep: one for each level of noise, with what it guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP
from narcissus.mechanisms import Noise, PlannedCounts


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


def settings_of(planned: Sequence[PlannedCounts], tables: int) -> tuple[Setting, ...]:
    """Build the settings of the sweep for a release of so many tables."""
    return tuple(_setting(one, tables) for one in planned)


def _setting(planned: PlannedCounts, tables: int) -> Setting:
    noise = planned.noise_of(tables)
    guarantee = noise.guarantee(tables)
    if guarantee is None:
        return Setting(planned.label, noise, None, None, None, None, None)
    if isinstance(guarantee, PureDP):
        epsilon = guarantee.epsilon
        return Setting(planned.label, noise, guarantee, epsilon, 0.0, None, guarantee)
    epsilon, delta = planned.point(guarantee)
    single = None if epsilon is None else ApproximateDP(epsilon, delta)
    mu = guarantee.mu if isinstance(guarantee, GaussianDP) else None
    return Setting(planned.label, noise, guarantee, epsilon, delta, mu, single)
