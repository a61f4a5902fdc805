"""Guarantees from dp-accounting's privacy loss distributions: DP-SGD and compositions.

Only ``get_delta_for_epsilon`` is used. The lower tail of the distributions' probability masses
carries spurious mass, and a trade-off curve read off it can fall below the diagonal.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from narcissus._optional import optional
from narcissus._validation import integer, positive, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import NEGLIGIBLE_DELTA, Adjacency, Secret
from narcissus.guarantees.curve import ProfileCurve

_POINTS = 2000
_INTERVAL = 1e-4
# Beyond it dp-accounting multiplies exp(epsilon) by masses of 1e-300 and gives NaN. The profile
# cannot rise after its last point, so that stopping is valid.
_FARTHEST = 600.0
_PURPOSE = "A guarantee by privacy loss distributions"


def from_privacy_loss(
    distribution: Any, *, adjacency: Adjacency, points: int = _POINTS
) -> ProfileCurve:
    """Take the profile of a privacy loss distribution of dp-accounting.

    Parameters
    ----------
    distribution
        Any object with ``get_delta_for_epsilon``, which must accept a sorted list and be
        pessimistic, as dp-accounting's are by default.
    adjacency
        Which neighbours the distribution was made for; nothing in it tells.
    points
        How many points of the profile to read; chords between them are valid limits.
    """

    def delta(epsilon: float) -> float:
        return float(distribution.get_delta_for_epsilon(epsilon))

    high = 1e-3
    while delta(high) > NEGLIGIBLE_DELTA and high < 1e4:
        high *= 2
    high = min(high, _FARTHEST)
    where = np.linspace(0.0, high, integer("points", points, low=2))
    deltas = np.asarray(distribution.get_delta_for_epsilon(where.tolist()), dtype=np.float64)
    return ProfileCurve(
        tuple(where.tolist()), tuple(np.clip(deltas, 0.0, 1.0).tolist()), adjacency=adjacency
    )


def from_event(
    event: Any, *, adjacency: Adjacency = "replace-one", interval: float = _INTERVAL
) -> ProfileCurve:
    """Account for a ``dp_accounting.DpEvent`` (compositions included).

    Parameters
    ----------
    event
        What the mechanism does.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    interval
        Privacy losses are rounded up to multiples of it: valid at every size, sharper and slower
        the smaller it is.

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
    accountant = pld.PLDAccountant(
        relation, value_discretization_interval=positive("interval", interval)
    )
    if not accountant.supports(event):
        raise InputError(
            f"`event` is not supported by dp-accounting for {adjacency} neighbours: {event!r}"
        )
    accountant.compose(event)

    class _Accountant:
        """The accountant under the name that distributions use."""

        def get_delta_for_epsilon(self, epsilon: Any) -> Any:
            if isinstance(epsilon, float):
                return accountant.get_delta(epsilon)
            return accountant._pld.get_delta_for_epsilon(epsilon)

    return from_privacy_loss(_Accountant(), adjacency=adjacency)


def dp_sgd(
    noise: float,
    rate: float,
    steps: int,
    *,
    adjacency: Adjacency | None = None,
    secret: Secret = "value",
    interval: float = _INTERVAL,
) -> ProfileCurve:
    """Account for DP-SGD, Poisson-sampled Gaussian steps, for the question that is asked.

    Parameters
    ----------
    noise
        Noise multiplier: standard deviation over the clipping norm; above 0. A replaced record
        moves a step by up to two clipping norms, an added or removed one by up to one.
    rate
        Sampling rate in [0, 1].
    steps
        How many steps; at least 1.
    adjacency
        ``"replace-one"`` or ``"add-remove"``; left out, that of the question: ``"replace-one"`` for
        a value, ``"add-remove"`` for membership.
    secret
        What is asked: ``"value"`` (default) or ``"membership"``.
    interval
        See `from_event`.

    Notes
    -----
    Source: dp-accounting's privacy loss distributions (Doroshenko et al. 2022). Its discretised
    losses are pessimistic, so the profile is a valid limit. Of added and removed records it is the
    worse of both orders at each epsilon, and `power` so that of ``min(f, f^-1)``, made convex
    (Dong, Roth and Su 2022, Theorem 4.2).
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
