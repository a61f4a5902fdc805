"""Attackers with other aims: leakage under a gain function, risk under a loss function.

``gain[w, s]`` is what the attacker gets for the guess ``w`` when the secret is ``s``.
Source: Chatzikokolakis et al. 2023, appendix F, and Alvim et al. 2012.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from narcissus.channels.channel import Channel, Matrix, channel, prior_for
from narcissus.channels.measures import capacity
from narcissus.errors import InputError
from narcissus.results import Bound


def _guesses(name: str, values: ArrayLike, secrets: int) -> Matrix:
    """Return a gain or loss matrix, finite, with a column per secret."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != secrets or array.shape[0] == 0:
        raise InputError(
            f"`{name}` must have a row per guess and a column per secret ({secrets}), "
            f"got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite")
    return array


def loss_table(loss: ArrayLike, secrets: int) -> Matrix:
    """Return a loss as an array, a row per guess; refuse what is not finite or of other secrets."""
    return _guesses("loss", loss, secrets)


def _expected(c: Channel, prior: Matrix, values: Matrix, best: Any) -> float:
    """Return ``sum_o best_w sum_s pi_s C_so values[w, s]``, a block of outputs at a time."""
    joint = c.scaled(prior)
    weighted = joint.tocsc() if c.is_sparse else joint
    step = max(1, 2**22 // max(values.shape))
    total: list[float] = []
    for low in range(0, c.shape[1], step):
        total.extend(best(values @ weighted[:, low : low + step], axis=0))
    return math.fsum(total)


def prior_g_vulnerability(gain: ArrayLike, prior: ArrayLike) -> float:
    """Return ``max_w sum_s pi_s gain[w, s]``: the best expected gain without the output."""
    weights = np.asarray(prior, dtype=np.float64)
    return float((_guesses("gain", gain, weights.size) @ weights).max())


def g_vulnerability(matrix: Any, gain: ArrayLike, prior: Any = None) -> float:
    """Return ``sum_o max_w sum_s pi_s C_so gain[w, s]``: the best expected gain with the output."""
    c = channel(matrix)
    return _expected(c, prior_for(c, prior), _guesses("gain", gain, c.shape[0]), np.max)


def g_leakage(matrix: Any, gain: ArrayLike, prior: Any = None) -> float:
    """Return the multiplicative g-leakage: best expected gain with the output over that without.

    Raises
    ------
    InputError
        The gain without the output is not positive, so that the ratio means nothing.
    """
    c = channel(matrix)
    weights = prior_for(c, prior)
    before = prior_g_vulnerability(gain, weights)
    if before <= 0:
        raise InputError(
            f"the best gain without the output is {before:g}; the ratio needs it above 0: "
            "use a non-negative gain with some success, or `additive_g_leakage`"
        )
    return g_vulnerability(c, gain, weights) / before


def additive_g_leakage(matrix: Any, gain: ArrayLike, prior: Any = None) -> float:
    """Return the additive g-leakage: what the output adds to the best expected gain."""
    c = channel(matrix)
    weights = prior_for(c, prior)
    return g_vulnerability(c, gain, weights) - prior_g_vulnerability(gain, weights)


def prior_l_risk(loss: ArrayLike, prior: ArrayLike) -> float:
    """Return ``min_w sum_s pi_s loss[w, s]``: the least expected loss without the output."""
    weights = np.asarray(prior, dtype=np.float64)
    return float((_guesses("loss", loss, weights.size) @ weights).min())


def l_risk(matrix: Any, loss: ArrayLike, prior: Any = None) -> float:
    """Get ``sum_o min_w sum_s pi_s C_so loss[w, s]``: the least expected loss with the output."""
    c = channel(matrix)
    return _expected(c, prior_for(c, prior), _guesses("loss", loss, c.shape[0]), np.min)


def l_beta(matrix: Any, loss: ArrayLike, prior: Any = None) -> float:
    """Return ``beta_l(pi, C)``: the loss with the output over the loss without.

    There is no miracle theorem for it: `beta*` does not bound it for other losses than 0-1.
    """
    c = channel(matrix)
    weights = prior_for(c, prior)
    before = prior_l_risk(loss, weights)
    if before <= 0:
        raise InputError(f"the loss without the output is {before:g}; the ratio needs it above 0")
    return l_risk(c, loss, weights) / before


def miracle_bound(matrix: Any) -> Bound:
    """Limit the multiplicative leakage for every prior and every non-negative gain function.

    Source: Alvim et al. 2012 (the "miracle" theorem), in Chatzikokolakis et al. 2023, section V-E.
    """
    return Bound(
        capacity(matrix),
        "multiplicative g-leakage, for every prior and gain",
        "Alvim et al. 2012, miracle theorem (Chatzikokolakis et al. 2023, section V-E)",
        ("the gain function is non-negative",),
    )
