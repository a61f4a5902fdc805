"""RMIA: the share of other records that a record's likelihood ratio beats.

Source: Zarifzadeh, Liu and Shokri 2024, "Low-cost high-power membership inference attacks",
section 3 and Algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import positive, probability
from narcissus.errors import InputError
from narcissus.membership.shadows import ShadowScores

FloatArray = NDArray[np.float64]


def rmia(
    targets: FloatArray,
    shadows: ShadowScores,
    *,
    offline: bool = False,
    gamma: float = 2.0,
    a: float = 0.3,
) -> FloatArray:
    """Score records by the share of other records that they beat by ``gamma``.

    Parameters
    ----------
    targets
        Probabilities that the models under attack give the records' labels, shape (targets,
        records), in (0, 1].
    shadows
        Models that are none of these, with probabilities as scores.
    offline
        Use only shadows without the record, and correct for the others by ``a``.
    gamma
        Factor by which a record must beat another, above 0; the paper takes 1 or 2.
    a
        In [0, 1]: ``Pr(x) = ((1 + a) Pr_out(x) + 1 - a) / 2`` offline; the paper tunes it on
        shadows and finds 0.2 to 0.6.

    Returns
    -------
    FloatArray
        In [0, 1], shape (targets, records): the share of the others ``z`` with
        ``(Pr(x | target) / Pr(x)) / (Pr(z | target) / Pr(z)) >= gamma``.

    Notes
    -----
    The others are the outsiders, records that no model was trained on, as in the paper. Without
    any, they are all other records, whether or not the target was trained on them: leaving out its
    members would reveal the attack's target.

    Raises
    ------
    InputError
        A score is no probability.
    """
    least, over = positive("gamma", gamma), probability("a", a)
    for values in (targets, shadows.scores):
        if not ((values > 0) & (values <= 1)).all():
            raise InputError(
                "RMIA needs probabilities in (0, 1]; say with `scale` what the scores are"
            )
    others = shadows.outsiders if shadows.outsiders.any() else np.ones(targets.shape[1], dtype=bool)
    ratio = targets / _expected(shadows, over if offline else None)
    beaten = [
        np.searchsorted(np.sort(row[others]), row / least, side="right").astype(np.float64)
        for row in ratio
    ]
    itself = others & (least <= 1)  # a record that is one of the others has beaten itself then
    return (np.stack(beaten) - itself) / np.maximum(others.sum() - others, 1)


def _expected(shadows: ShadowScores, over: float | None) -> FloatArray:
    """Return ``Pr(x)``, the probability over models of both kinds, shape (records,)."""
    scores, inside = shadows.scores, shadows.members
    number = inside.sum(axis=0)
    without = np.where(inside, 0.0, scores).sum(axis=0) / np.maximum(len(scores) - number, 1)
    plain = scores.mean(axis=0)
    if over is not None:
        made_up = 0.5 * ((1 + over) * without + 1 - over)
        made_up = np.where(number < len(scores), made_up, plain)
        return np.where(shadows.outsiders, plain, made_up)
    within = np.where(inside, scores, 0.0).sum(axis=0) / np.maximum(number, 1)
    both = (number > 0) & (number < len(scores))
    return np.where(both, 0.5 * (within + without), plain)
