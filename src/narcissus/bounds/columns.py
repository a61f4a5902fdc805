"""Several unknown columns of a target: upper bounds on the mean share of them guessed correctly.

Source: Narcissus theory 4.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus.bounds.one_target import optimum
from narcissus.bounds.theorem import Question, Theorem
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee

FloatArray = NDArray[np.float64]


def column_shares(columns: Sequence[ArrayLike], guarantee: Guarantee) -> FloatArray:
    """Bound any attacker's mean share of correctly guessed unknown columns, for many targets.

    The bound is on the *mean* share, over the secret, the release and the attacker's coins; not on
    the chance that many columns are right: a release may reveal all columns or none.

    Parameters
    ----------
    columns
        For each unknown column the targets' distributions of it, given the attacker's prior
        knowledge of them, shape (m, size of the column).
    guarantee
        About replace-one neighbours.

    Notes
    -----
    Source: Narcissus theory 4.6. *Proof.* Let the attacker use all columns, with any dependence
    between them. With column ``c`` equal to ``a``, the release is drawn from the mixture of ``M(a,
    u)`` over the other columns' ``u`` given ``a``. Two such mixtures differ by at most the
    difference of their components (the hockey-stick divergence is jointly convex), and each pair of
    components differs in one record. So the release has the guarantee for column ``c`` alone, and
    the attempt at it succeeds at most as often as the optimum of that column's marginal. The share
    is the mean over the columns.

    Examples
    --------
    >>> from narcissus.guarantees import PureDP
    >>> column_shares([[[0.7, 0.3]], [[0.5, 0.5]]], PureDP(1.0)).round(6)
    array([0.731059])
    """
    if not columns:
        raise InputError("`columns` must hold at least one column's distributions")
    return np.mean([optimum(rows, guarantee) for rows in columns], axis=0)


def _of_threat(q: Question) -> float:
    return float(column_shares(q.threat.columns or (), q.guarantee)[0])


COLUMNS = Theorem(
    id="column-shares",
    source="Narcissus theory 4.6",
    title="mean share of columns",
    says=(
        "The mean share of a target's unknown columns, from each column's own distribution, "
        "however they depend on one another; nothing is said of the chance of many at once."
    ),
    about=("columns",),
    limit=_of_threat,
    own=True,
)
