"""Attacks by name: from scores of targets and shadows to scores of membership.

LiRA: likelihood ratio of a score between models with the record and models without it.

Source: Carlini et al. 2022, "Membership inference attacks from first principles", Algorithm 1.

RMIA: the share of other records that a record's likelihood ratio beats.

Source: Zarifzadeh, Liu and Shokri 2024, "Low-cost high-power membership inference attacks",
section 3 and Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._validation import one_of, positive, probability
from narcissus.errors import InputError
from narcissus.membership.shadows import ShadowScores

Variance = Literal["per-record", "fixed"]
_LEAST = 1e-12  # of the variance over all records: what shadows that all agree have
MembershipScore = Callable[[Floats, ShadowScores], Floats]


def rmia(
    targets: Floats,
    shadows: ShadowScores,
    *,
    offline: bool = False,
    gamma: float = 2.0,
    a: float = 0.3,
) -> Floats:
    """Score records by the share of other records that they beat by ``gamma``.

    targets: probabilities that the models under attack give the records' labels, shape (targets,
        records), in (0, 1].
    shadows: models that are none of these, with probabilities as scores.
    offline: use only shadows without the record, and correct for the others by ``a``.
    gamma: factor by which a record must beat another, above 0; the paper takes 1 or 2.
    a: in [0, 1]: ``Pr(x) = ((1 + a) Pr_out(x) + 1 - a) / 2`` offline; the paper tunes it on shadows
        and finds 0.2 to 0.6.
    Returns: in [0, 1], shape (targets, records): the share of the others ``z`` with ``(Pr(x |
        target) / Pr(x)) / (Pr(z | target) / Pr(z)) >= gamma``.

    The others are the outsiders, records that no model was trained on, as in the paper. Without
    any, they are all other records, whether or not the target was trained on them: leaving out its
    members would reveal the attack's target.
    """
    factor, over = positive("gamma", gamma), probability("a", a)
    for values in (targets, shadows.scores):
        if not ((values > 0) & (values <= 1)).all():
            raise InputError(
                "RMIA needs probabilities in (0, 1]; say with `scale` what the scores are"
            )
    others = shadows.outsiders if shadows.outsiders.any() else np.ones(targets.shape[1], dtype=bool)
    ratio = targets / _expected(shadows, over if offline else None)
    beaten = [
        np.searchsorted(np.sort(row[others]), row / factor, side="right").astype(np.float64)
        for row in ratio
    ]
    itself = others & (factor <= 1)  # a record that is one of the others has beaten itself then
    return (np.stack(beaten) - itself) / np.maximum(others.sum() - others, 1)


def _expected(shadows: ShadowScores, over: float | None) -> Floats:
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


def lira(
    targets: Floats,
    shadows: ShadowScores,
    *,
    offline: bool = False,
    variance: Variance = "per-record",
) -> Floats:
    """Score records by a Gaussian likelihood ratio.

    targets: scores of the models under attack, shape (targets, records); near Gaussian, so the
        logit ``log(p / (1 - p))`` of a probability.
    variance: "per-record": separate for each record, which takes two shadows on each side used.
        "fixed": one for all records with it and one for all without, which takes one; better with
        few shadows.
    Returns: shape (targets, records). Online: the log likelihood ratio. Offline: the score in
        standard deviations above the mean without the record; the published ``1 - Pr[Z > score]``
        is its normal distribution function and orders records in the same way. 0, no evidence, if
        there are too few shadows.

    Departing from the published code: means instead of medians, as in the paper; sample variances
    (of ``n - 1``); the fixed variance is within records, while the code takes the variance of all
    scores together.
    """
    kind = one_of("variance", variance, get_args(Variance))
    few = 2 if kind == "per-record" else 1
    count, mean, spread = _moments(shadows.scores, ~shadows.members, kind)
    z_out = (targets - mean) / np.sqrt(spread)
    if offline:
        return np.where(count >= few, z_out, 0.0)
    count_in, mean_in, spread_in = _moments(shadows.scores, shadows.members, kind)
    z_in = (targets - mean_in) / np.sqrt(spread_in)
    ratio = 0.5 * (z_out**2 - z_in**2 + np.log(spread) - np.log(spread_in))
    return np.where(np.minimum(count, count_in) >= few, ratio, 0.0)


def _moments(
    scores: Floats, chosen: NDArray[np.bool_], variance: str
) -> tuple[Floats, Floats, Floats]:
    """Return number, mean and variance of each record's chosen scores, shape (records,) each."""
    count = chosen.sum(axis=0).astype(np.float64)
    mean = np.where(chosen, scores, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(chosen, (scores - mean) ** 2, 0.0).sum(axis=0)
    if variance == "fixed":
        spread = np.full_like(mean, squares.sum() / max(1.0, np.maximum(count - 1, 0).sum()))
    else:
        spread = squares / np.maximum(count - 1, 1)
    return count, mean, np.maximum(spread, max(_LEAST * float(scores.var()), 1e-300))


def own_score(targets: Floats, shadows: ShadowScores) -> Floats:
    """Return the scores unchanged: one threshold for all records, or an attack of the user's."""
    return targets


ATTACKS: dict[str, MembershipScore] = {
    "lira": lira,
    "lira-fixed": partial(lira, variance="fixed"),
    "lira-offline": partial(lira, offline=True),
    "lira-offline-fixed": partial(lira, offline=True, variance="fixed"),
    "rmia": rmia,
    "rmia-offline": partial(rmia, offline=True),
    "score": own_score,
}
"""Name -> attack; it may look at the shadows' membership, never at that of the targets."""


def attack_scores(name: str, targets: Floats, shadows: ShadowScores) -> Floats:
    """Attack targets with one of `ATTACKS`; larger: more likely in, shape (targets, records)."""
    return ATTACKS[one_of("attack", name, ATTACKS)](targets, shadows)
