"""What `beta*` says about attackers with other losses: for which losses it still is a limit.

The risk of a loss with the output is at least so large a share of the risk without it: the sum of
the smallest entry of each column for every loss and prior, `beta*` itself for the families here.

Source: Narcissus theory 6.13.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csgraph

from narcissus._validation import between
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Matrix, channel
from narcissus.channels.from_guarantees import SecurityBound
from narcissus.channels.synthesis import least_loss, loss_of_nothing
from narcissus.errors import InputError

LossFamily = Literal["two secrets", "competing guesses", "tree", ""]
"""Losses that `beta*` limits, by the reason; "" for a loss of which nothing is known."""
ROUNDING = 1e-12
"""Share of the largest loss by which a tree's distances may differ from sums along its paths."""


def _losses(loss: ArrayLike) -> Matrix:
    values = np.asarray(loss, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise InputError(
            "`loss` must have a row per guess and a column per secret, at least two secrets; "
            f"got shape {values.shape}"
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError("`loss` must be finite and at least 0")
    return values


def loss_family(loss: ArrayLike) -> LossFamily:
    """Explain why `beta*` limits the risk of a loss, or "" if no reason is known.

    Parameters
    ----------
    loss
        ``loss[w, s]`` of the guess ``w`` when the secret is ``s``, at least 0, shape (guesses,
        secrets).

    Returns
    -------
    str
        "two secrets"; "competing guesses": for each secret, what the guesses save of the largest
        loss sums to no more than that loss (so 0-1 loss with any cost of each secret, and any loss
        with two guesses); "tree": the distance in a tree whose vertices are the guesses and the
        secrets, both in the same order (so ``|i - j|`` on a line).

    Notes
    -----
    More is known than is recognised: sums of such losses whose guesses are made one by one, such
    as the number of wrong attributes. Source: Narcissus theory 6.13.

    Examples
    --------
    >>> loss_family(1 - np.eye(3)), loss_family([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    ('competing guesses', 'tree')
    >>> loss_family([[1, 0, 0], [0, 1, 0], [0, 0, 1]])  # name a secret that it is not
    ''
    """
    values = _losses(loss)
    if values.shape[1] == 2:
        return "two secrets"
    most = values.max(axis=0)
    if ((most - values).sum(axis=0) <= most).all():
        return "competing guesses"
    return "tree" if _is_tree(values) else ""


def _is_tree(values: Matrix) -> bool:
    """Return whether these are distances along the paths of the least spanning tree."""
    n = len(values)
    if values.shape != (n, n) or np.diag(values).any() or (values != values.T).any():
        return False
    if not (values + np.eye(n)).all():  # two vertices in one place
        return False
    tree = csgraph.minimum_spanning_tree(values)
    along = csgraph.shortest_path(tree, directed=False)
    return bool(np.abs(along - values).max() <= ROUNDING * values.max())


def l_beta_bound(matrix: Any, loss: ArrayLike | None = None) -> SecurityBound:
    """Limit ``beta_l(pi, C)`` from below for every prior, for one loss or for all.

    Parameters
    ----------
    matrix
        The channel.
    loss
        As in `loss_family`; None for all losses of at least 0.

    Returns
    -------
    SecurityBound
        ``beta*`` where the loss is of a family that it limits; else ``sum_o min_s C_so``, which
        the uniform prior reaches with the loss "name a secret that it is not".

    Source: Narcissus theory 6.13; the counterpart, for risk, of the miracle theorem of Alvim et al.
    2012, which Chatzikokolakis et al. 2023, section V-E, ask for.

    Examples
    --------
    >>> rows = [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]
    >>> l_beta_bound(rows).value, l_beta_bound(rows, 1 - np.eye(3)).value
    (0.0, 0.5)
    """
    c = channel(matrix)
    for_all = min(1.0, math.fsum(c.column_min()))
    if loss is None:
        return SecurityBound(
            for_all, "beta_l, for every prior and loss", "Narcissus theory 6.13",
            ("the loss is at least 0",), tight=True,
        )  # fmt: skip
    values = _losses(loss)
    if values.shape[1] != c.shape[0]:
        raise InputError(
            f"`loss` must have a column for each of the {c.shape[0]} secrets, got "
            f"{values.shape[1]} columns"
        )
    family = loss_family(values)
    if not family:
        return SecurityBound(
            for_all, "beta_l, for every prior", "Narcissus theory 6.13, for every loss"
        )
    return SecurityBound(
        min(1.0, beta_star(c).value), "beta_l, for every prior", f"Narcissus theory 6.13: {family}"
    )


def least_l_beta(loss: ArrayLike, beta_star: float, prior: Any = None) -> SecurityBound:
    """Return the least ``beta_l(pi, C)`` of all channels with such a ``beta*``, for one prior.

    Exactly, by a linear program, whatever the loss: an attacker's best guesses are a
    post-processing, which does not lower ``beta*``, so that channels whose outputs are the guesses
    are enough.

    Parameters
    ----------
    loss
        As in `loss_family`.
    beta_star
        In [0, 1].
    prior
        Of the secrets; uniform if left out.

    Raises
    ------
    InputError
        The loss without the output is 0, so that the ratio means nothing.

    Source: Narcissus theory 6.13.

    Examples
    --------
    >>> exclude = np.eye(3)  # the loss of "name a secret that it is not"
    >>> least_l_beta(exclude, 0.5).value < 1e-6, round(least_l_beta(1 - exclude, 0.5).value, 6)
    (True, 0.5)
    """
    values = _losses(loss)
    wanted = between("beta_star", beta_star, 0, 1)
    before = loss_of_nothing(values.T, prior)
    if before <= 0:
        raise InputError("the loss without the output is 0; the ratio needs it above 0")
    found = least_loss(values.T, wanted, prior=prior)
    return SecurityBound(
        min(1.0, max(0.0, found.limit / before)),
        "beta_l for this prior and loss",
        "Narcissus theory 6.13, by linear programming",
        (f"beta* is at least {wanted:g}",),
        tight=True,
    )
