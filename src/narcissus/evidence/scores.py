"""Refutation from membership scores: thresholds chosen without invalidating the confidence.

Source: Narcissus theory 4.3 and 5.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import between
from narcissus.errors import InputError
from narcissus.evidence.refutation import Refutation, closed_p_value, largest_refuted, refute

FloatArray = NDArray[np.float64]

_RATIO = math.sqrt(2.0)
_FEWEST = 8  # fewer guesses than this refute little at any useful confidence
_EVERY = 3  # one canary in so many chooses the threshold


def refute_scores(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
) -> Refutation:
    """Find the largest epsilon that canary scores refute.

    Every third canary, by position, helps to choose how many of the highest scores are guessed in
    and how many of the lowest out; the others are guessed so, and only they are counted.

    Parameters
    ----------
    scores
        One score a canary, larger means more likely in, shape (m,).
    members
        Whether each canary was in, 0 or 1, by an independent fair coin each, shape (m,).
    delta, confidence, claimed
        As in `narcissus.evidence.refute`.

    Notes
    -----
    Source: Narcissus theory 4.3 and 5. The split costs nothing in validity: given the release and
    the coins of the first part, the coins of the second are still fair and independent a priori,
    and the mechanism has the guarantee for each of them; the choice is one that an attacker who
    knows the first part's coins may make. Trying many thresholds on the same canaries would cost
    a factor in ``delta``, not only in the level, because the failures that delta allows may all
    strike at once; this is why tools that correct for it get worse with more canaries. As ``m``
    grows the answer rises towards the epsilon of the profile at ``delta / (1 - confidence)``, the
    most that one run can refute.
    """
    score, inside = _checked(scores, members)
    allowed = between("delta", delta, 0, 1, open_high=True)
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    first = np.arange(score.size) % _EVERY == 0
    if score.size < 2 * _EVERY:
        raise InputError(f"`scores` must be of at least {2 * _EVERY} canaries, got {score.size}")
    share = _choose(score[first], inside[first], int((~first).sum()), allowed, 1.0 - level)
    m, r, v = _count(score[~first], inside[~first], share)
    found = refute(m, r, v, delta=allowed, confidence=level, claimed=claimed)
    return dataclasses.replace(found, chosen_on=int(first.sum()))


def threshold_choices(m: int) -> list[tuple[int, int]]:
    """List how many of ``m`` canaries may be guessed in and out: both sides alike, or one only."""
    sizes: list[int] = []
    size = float(min(_FEWEST, m))
    while size < m:
        sizes.append(round(size))
        size *= _RATIO
    sizes = sorted({*sizes, m})
    return [(r - r // 2, r // 2) for r in sizes] + [
        side for r in sizes if r < m for side in ((r, 0), (0, r))
    ]


def _choose(
    score: FloatArray, inside: NDArray[np.bool_], rest: int, delta: float, alpha: float
) -> tuple[float, float]:
    """Choose the shares of canaries guessed in and out that promise most for ``rest`` others."""
    order = np.argsort(score, kind="stable")
    low = np.concatenate([[0], np.cumsum(~inside[order])])
    high = np.concatenate([[0], np.cumsum(inside[order][::-1])])
    best, chosen = -1.0, (0.5, 0.5)
    for a, b in threshold_choices(score.size):
        seen = a + b
        rate = (high[a] + low[b] + 0.5) / (seen + 1)
        # A rate that was chosen for being high is too high: expect one deviation less.
        rate -= math.sqrt(rate * (1 - rate) / (seen + 1))
        r = round(seen * rest / score.size)
        v = math.floor(r * rate)
        promise = math.log((v + 1) / (r - v + 1))
        if promise <= best:
            continue  # what is right on average is never refuted beyond
        promise = largest_refuted(
            lambda e, r=r, v=v: closed_p_value(rest, r, v, e, delta), alpha, 1e-3
        )
        if promise > best:
            best, chosen = promise, (a / score.size, b / score.size)
    return chosen


def _count(
    score: FloatArray, inside: NDArray[np.bool_], share: tuple[float, float]
) -> tuple[int, int, int]:
    """Guess these shares in and out, and count: canaries, guesses, right guesses."""
    m = score.size
    a = min(m, round(share[0] * m))
    b = min(m - a, round(share[1] * m))
    order = np.argsort(score, kind="stable")
    right = int(inside[order[m - a :]].sum()) + int((~inside[order[:b]]).sum())
    return m, a + b, right


def _checked(scores: ArrayLike, members: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Check the two columns."""
    try:
        score = np.asarray(scores, dtype=np.float64)
        inside = np.asarray(members, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("`scores` and `members` must be numbers") from error
    if score.ndim != 1 or score.size == 0 or score.shape != inside.shape:
        raise InputError(
            "`scores` and `members` must be vectors of one length, "
            f"got shapes {score.shape} and {inside.shape}"
        )
    if np.isnan(score).any():
        raise InputError(
            f"`scores` must not be NaN, got one at position {np.isnan(score).argmax()}"
        )
    if not np.isin(inside, (0.0, 1.0)).all():
        raise InputError("`members` must hold only 0 (out) and 1 (in)")
    return score, inside == 1.0
