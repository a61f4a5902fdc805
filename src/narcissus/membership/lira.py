"""LiRA: likelihood ratio of a score between models with the record and models without it.

Source: Carlini et al. 2022, "Membership inference attacks from first principles", Algorithm 1.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import one_of
from narcissus.membership.shadows import ShadowScores

FloatArray = NDArray[np.float64]

Variance = Literal["per-record", "fixed"]
_LEAST = 1e-12  # of the variance over all records: what shadows that all agree have


def lira(
    targets: FloatArray,
    shadows: ShadowScores,
    *,
    offline: bool = False,
    variance: Variance = "per-record",
) -> FloatArray:
    """Score records by a Gaussian likelihood ratio.

    Parameters
    ----------
    targets
        Scores of the models under attack, shape (targets, records); near Gaussian, so the logit
        ``log(p / (1 - p))`` of a probability.
    shadows
        Models that are none of these.
    offline
        Use only shadows without the record.
    variance
        "per-record": separate for each record, which takes two shadows on each side used. "fixed":
        one for all records with it and one for all without, which takes one; better with few
        shadows.

    Returns
    -------
    FloatArray
        Shape (targets, records). Online: the log likelihood ratio. Offline: the score in standard
        deviations above the mean without the record; the published ``1 - Pr[Z > score]`` is its
        normal distribution function and orders records in the same way. 0, no evidence, if there
        are too few shadows.

    Notes
    -----
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
    scores: FloatArray, chosen: NDArray[np.bool_], variance: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return number, mean and variance of each record's chosen scores, shape (records,) each."""
    count = chosen.sum(axis=0).astype(np.float64)
    mean = np.where(chosen, scores, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(chosen, (scores - mean) ** 2, 0.0).sum(axis=0)
    if variance == "fixed":
        spread = np.full_like(mean, squares.sum() / max(1.0, np.maximum(count - 1, 0).sum()))
    else:
        spread = squares / np.maximum(count - 1, 1)
    return count, mean, np.maximum(spread, max(_LEAST * float(scores.var()), 1e-300))
