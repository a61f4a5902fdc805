"""Guarantees from dp-accounting's privacy loss distributions: DP-SGD and compositions.

Only deltas are read off: the lower tail of the probability masses carries spurious mass, and a
trade-off curve from it can fall below the diagonal. Composition by FFT in 64 bits can return a
delta too small, even 0; the largest possible rounding loss of a delta is added to each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from scipy import fft

from narcissus._optional import optional
from narcissus._outwards import upper
from narcissus._validation import integer, non_negative, positive, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import NEGLIGIBLE_DELTA, Adjacency, Secret
from narcissus.guarantees.curves import ProfileCurve

_POINTS = 2000
_INTERVAL = 1e-4
# Beyond it dp-accounting multiplies exp(epsilon) by masses of 1e-300 and returns NaN. The profile
# cannot rise after its last point, so stopping is valid.
_FARTHEST = 600.0
_PURPOSE = "A guarantee by privacy loss distributions"
_EPS = float(np.finfo(np.float64).eps)


def from_privacy_loss(
    distribution: Any, *, adjacency: Adjacency, points: int = _POINTS, rounding: float = 1e-9
) -> ProfileCurve:
    """Read the profile off a privacy loss distribution of dp-accounting.

    Parameters
    ----------
    distribution
        Any object with ``get_delta_for_epsilon`` that accepts a sorted list and is pessimistic, as
        dp-accounting's are by default.
    adjacency
        The neighbours the distribution was computed for, which it does not record.
    points
        Number of points of the profile to read; chords between them are valid bounds.
    rounding
        Largest rounding loss of a delta, at least 0; added to each. The default exceeds the loss of
        FFTs over a thousand steps of DP-SGD; 0 for deltas computed without a transform.
    """
    lost = non_negative("rounding", rounding)

    def delta(epsilon: float) -> float:
        return float(distribution.get_delta_for_epsilon(epsilon))

    high = 1e-3
    while delta(high) > max(NEGLIGIBLE_DELTA, lost) and high < 1e4:
        high *= 2
    high = min(high, _FARTHEST)
    where = np.linspace(0.0, high, integer("points", points, low=2))
    deltas = np.asarray(distribution.get_delta_for_epsilon(where.tolist()), dtype=np.float64)
    # A delta below the rounding error is noise: its digits mean nothing.
    deltas = np.clip(np.maximum(deltas, lost) + lost, 0.0, 1.0)
    return ProfileCurve(tuple(where.tolist()), tuple(deltas.tolist()), adjacency=adjacency)


def from_event(
    event: Any, *, adjacency: Adjacency = "replace-one", interval: float = _INTERVAL
) -> ProfileCurve:
    """Account for a ``dp_accounting.DpEvent``, compositions included.

    Parameters
    ----------
    event
        Description of the mechanism.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    interval
        Losses are rounded up to multiples of it: always valid; smaller is sharper and slower.

    Raises
    ------
    InputError
        dp-accounting cannot account for this event under these neighbours.
    MissingExtraError
        dp-accounting is not installed.
    """
    accounting = optional("dp_accounting", extra="accounting", purpose=_PURPOSE)
    pld = optional("dp_accounting.pld", extra="accounting", purpose=_PURPOSE)
    relations = accounting.NeighboringRelation
    relation = relations.REPLACE_ONE if adjacency == "replace-one" else relations.ADD_OR_REMOVE_ONE
    step = positive("interval", interval)

    def fresh() -> Any:
        return pld.PLDAccountant(relation, value_discretization_interval=step)

    if not fresh().supports(event):
        raise InputError(
            f"`event` is not supported by dp-accounting for {adjacency} neighbours: {event!r}"
        )
    parts = [(fresh().compose(one), times) for one, times in _parts(accounting.dp_event, event, 1)]
    if any(one._contains_non_dp_event for one, _ in parts):
        return ProfileCurve((0.0,), (1.0,), adjacency=adjacency)
    composed = [one._pld if times == 1 else one._pld.self_compose(times) for one, times in parts]
    # Where several are joined, noise decides where tails are cut: the bound must not depend on it.
    size = sum(max(pmf.size for pmf in _both(one)) for one in composed)
    whole = reduce(lambda one, other: one.compose(other), composed) if composed else fresh()._pld
    # a delta is a sum over all losses
    lost = 4 * _EPS * size
    for one, times in parts:
        lost += max(_lost(pmf, times, whole, size) for pmf in _both(one._pld))
    # One digit: other processors round a step's masses differently.
    return from_privacy_loss(whole, adjacency=adjacency, rounding=float(upper(lost, 1)))


def _parts(events: Any, event: Any, times: int) -> Iterator[tuple[Any, int]]:
    """Yield the components of an event with their multiplicities."""
    if isinstance(event, events.SelfComposedDpEvent):
        yield from _parts(events, event.event, times * event.count)
    elif isinstance(event, events.ComposedDpEvent):
        for one in event.events:
            yield from _parts(events, one, times)
    elif isinstance(event, events.GaussianDpEvent):  # one of less noise stands for all
        yield events.GaussianDpEvent(event.noise_multiplier / math.sqrt(times)), 1
    else:
        yield event, times


def _lost(pmf: Any, times: int, whole: Any, size: int) -> float:
    """Bound the rounding loss of a delta in the composition of ``times`` copies of one step.

    Each term of a transform of N masses, which sum to 1, is right to ``c = 4 eps log2 N`` (Higham
    2002, section 24.1, with room for radix 11), so its power ``F^n`` is right to ``n c |F|^(n-1)``,
    and a mass to the mean of these errors. A delta sums N masses, with weights in [0, 1]: ``n c``
    times the sum of all ``|F|^(n-1)``; by Cauchy and Schwarz also times ``sqrt(N)`` and the 2-norm
    of one step. A step's masses are second differences of its deltas over the interval; the
    rounding errors are ``eps`` times the first differences, ``min(Pr[loss > l], e^l)`` each. A mass
    at ``-l`` counts only where the other steps lose ``l``: at most ``delta(l)`` of the whole. The
    losses of several parts add up.
    """
    step = pmf.to_dense_pmf()
    mass = np.asarray(step._probs, dtype=np.float64)
    points = fft.next_fast_len(max(size, step.size), real=True)
    powers = float((np.abs(fft.fft(mass, points)) ** (times - 1)).sum())
    spread = min(powers, math.sqrt(points) * float(np.linalg.norm(mass)))
    transforms = (times + 5) * 4 * _EPS * math.log2(2 * points) * spread
    loss = (step._lower_loss + np.arange(mass.size)) * step._discretization
    reach = np.linspace(0.0, max(-float(loss[0]), step._discretization), 200)
    others = np.asarray(whole.get_delta_for_epsilon(reach.tolist()))
    weight = np.where(loss < 0, others[np.searchsorted(reach, -loss, side="right") - 1], 1.0)
    first = np.minimum(mass[::-1].cumsum()[::-1], np.exp(np.minimum(loss, 0.0)))
    return transforms + times * 2 * _EPS * float(first @ weight)


def _both(distribution: Any) -> tuple[Any, Any]:
    """Return the masses for removing and for adding a record."""
    return distribution._pmf_remove, distribution._pmf_add


def dp_sgd(
    noise: float,
    rate: float,
    steps: int,
    *,
    adjacency: Adjacency | None = None,
    secret: Secret = "value",
    interval: float = _INTERVAL,
) -> ProfileCurve:
    """Account for DP-SGD (Poisson-sampled Gaussian steps) for a value or for membership.

    Source: dp-accounting's privacy loss distributions (Doroshenko et al. 2022). The discretised
    losses are pessimistic, so the profile is a valid bound. For added and removed records it is the
    worse of both orders at each epsilon, and `power` follows ``min(f, f^-1)``, made convex (Dong,
    Roth and Su 2022, Theorem 4.2).

    Parameters
    ----------
    noise
        Noise multiplier, standard deviation over clipping norm; above 0. A replaced record moves a
        step by up to two clipping norms, an added or removed one by up to one.
    rate
        Sampling rate in [0, 1].
    steps
        Number of steps, at least 1.
    adjacency
        ``"replace-one"`` (default for a value) or ``"add-remove"`` (default for membership).
    secret
        What the attacker asks: ``"value"`` (default) or ``"membership"``.
    interval
        See `from_event`.
    """
    events = optional("dp_accounting", extra="accounting", purpose=_PURPOSE).dp_event
    sigma = positive("noise", noise)
    sampled = probability("rate", rate)
    times = integer("steps", steps, low=1)
    gaussian = events.GaussianDpEvent(sigma)
    step = (
        gaussian if math.isclose(sampled, 1.0) else events.PoissonSampledDpEvent(sampled, gaussian)
    )
    composed = events.SelfComposedDpEvent(step, times)
    around = adjacency or ("replace-one" if secret == "value" else "add-remove")
    return replace(from_event(composed, adjacency=around, interval=interval), secret=secret)
