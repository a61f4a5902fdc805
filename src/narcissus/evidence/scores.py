"""Refutation from membership scores, with thresholds chosen at no cost to validity.

Source: Narcissus theory 4.3 and 5.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import between, fraction
from narcissus.bounds.binomial import upper_tail
from narcissus.errors import InputError
from narcissus.evidence.refutation import (
    Refutation,
    closed_p_value,
    largest_refuted,
    level_factor,
    refute,
)

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_RATIO = math.sqrt(2.0)
_FEWEST = 8  # fewer guesses than this refute little at any useful confidence
_EVERY = 3  # one canary in so many chooses the threshold
UNBELIEVABLE = 1e-6  # coins that would fall so with at most this probability were not fair
_ONE_OF_PAIR = "exactly one record of each pair was in, by an independent fair coin for each pair"
_HALF = (
    "membership was drawn by fair coins although exactly half of the canaries are in (nearly "
    "harmless if half of all were drawn, not if one of each pair was: use pairs then)"
)


def refute_scores(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    pairs: ArrayLike | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    rng: RandomSource = None,
) -> Refutation:
    """Find the largest epsilon refuted by canary scores.

    The canaries are shuffled. On a third of them the numbers of highest scores guessed in and of
    lowest scores guessed out are chosen; the others are guessed accordingly, and only they are
    counted.

    Parameters
    ----------
    scores
        One score per canary, larger means more likely in, shape (m,).
    members
        Whether each canary was in, 0 or 1, by an independent fair coin each, shape (m,).
    pairs
        If exactly one of each pair of records was in, by a fair coin per pair: the label of each
        record's pair, shape (m,), each label twice. A pair is then one canary, its value which of
        the two was in, and its score the difference of the two scores.
    delta, confidence, claimed
        As in `narcissus.evidence.refute`.
    rng
        For the shuffle, which selects the third and breaks ties, and for which record of a pair is
        its first: the order of the file does not matter.

    Raises
    ------
    InputError
        Among others if the coins cannot have been fair: too many or too few are in, or one of each
        two rows is although no pairs are given.

    Notes
    -----
    Source: Narcissus theory 4.3 and 5. Given the release and the coins of the first part, the coins
    of the second are still fair and independent a priori, and the mechanism has the guarantee for
    each of them; an attacker who knows the first part's coins may make this choice. It is made
    after the release was seen, so with a delta above 0 the test is at half the level (see
    `narcissus.evidence.refute`). Trying many thresholds on the same canaries would cost a factor in
    ``delta``, not only in the level, because the failures that delta allows may all coincide; hence
    tools that correct for it get worse with more canaries. As ``m`` grows the result rises towards
    the epsilon of the profile at ``2 delta / (1 - confidence)``, the most that one run can refute.
    """
    score, inside = checked_scores(scores, members)
    allowed = between("delta", delta, 0, 1, open_high=True)
    level = fraction("confidence", confidence)
    source = generator(rng)
    if pairs is None:
        _check_coins(inside)
    else:
        score, inside = _paired(score, inside, _pair_labels(pairs, score.size), source)
    if score.size < 2 * _EVERY:
        raise InputError(f"`scores` must be of at least {2 * _EVERY} canaries, got {score.size}")
    m, r, v = held_out_counts(score, inside, allowed, 1.0 - level, source)
    found = refute(
        m, r, v, delta=allowed, confidence=level, claimed=claimed, guesses_chosen="after"
    )
    said = found.assumptions
    if pairs is not None:
        said = (_ONE_OF_PAIR, *said[1:])
    elif 2 * inside.sum() == inside.size:
        said = (*said, _HALF)
    found = dataclasses.replace(found, chosen_on=score.size - m, assumptions=said)
    return found if pairs is not None else found.asked("membership")


def held_out_counts(
    score: FloatArray, inside: BoolArray, delta: float, alpha: float, source: np.random.Generator
) -> tuple[int, int, int]:
    """Choose thresholds on a third of the shuffled canaries; count canaries, guesses and hits of
    the rest.

    In a file sorted by membership, or with equal scores, a canary's position reveals its coin;
    after the shuffle it reveals nothing.
    """
    order = source.permutation(score.size)
    score, inside = score[order], inside[order]
    first = np.arange(score.size) % _EVERY == 0
    share = _choose(score[first], inside[first], int((~first).sum()), delta, alpha)
    return _count(score[~first], inside[~first], share)


def threshold_choices(m: int) -> list[tuple[int, int]]:
    """List the numbers of ``m`` canaries to guess in and out: both sides alike, or one only."""
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
    score: FloatArray, inside: BoolArray, rest: int, delta: float, alpha: float
) -> tuple[float, float]:
    """Choose the shares guessed in and out that are most promising for ``rest`` others."""
    order = np.argsort(score, kind="stable")
    low = np.concatenate([[0], np.cumsum(~inside[order])])
    high = np.concatenate([[0], np.cumsum(inside[order][::-1])])
    level = alpha / level_factor(delta, after=True)
    best, chosen = 0.0, (0.5, 0.5)
    for a, b in threshold_choices(score.size):
        seen = a + b
        rate = (high[a] + low[b] + 0.5) / (seen + 1)
        # A rate that was chosen for being high is too high: expect one deviation less.
        rate = max(0.0, rate - math.sqrt(rate * (1 - rate) / (seen + 1)))
        r = round(seen * rest / score.size)
        v = math.floor(r * rate)
        if math.log((v + 1) / (r - v + 1)) <= best:
            continue  # what is right on average is never refuted beyond
        promise = largest_refuted(
            lambda e, r=r, v=v: closed_p_value(rest, r, v, e, delta), level, 1e-3
        )
        if promise > best:
            best, chosen = promise, (a / score.size, b / score.size)
    return chosen


def _count(
    score: FloatArray, inside: BoolArray, share: tuple[float, float]
) -> tuple[int, int, int]:
    """Guess these shares in and out, and count: canaries, guesses, right guesses."""
    m = score.size
    a = min(m, round(share[0] * m))
    b = min(m - a, round(share[1] * m))
    order = np.argsort(score, kind="stable")
    right = int(inside[order[m - a :]].sum()) + int((~inside[order[:b]]).sum())
    return m, a + b, right


def checked_scores(scores: ArrayLike, members: ArrayLike) -> tuple[FloatArray, BoolArray]:
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


def _check_coins(inside: BoolArray) -> None:
    """Refuse members that fair coins produce with probability below 1e-6."""
    m, ones = inside.size, int(inside.sum())
    if m % 2 == 0 and 0.5 ** (m // 2) <= UNBELIEVABLE:
        of_two = inside[0::2].astype(int) + inside[1::2]
        if (of_two == 1).all():
            raise InputError(
                "`members` must be drawn by independent fair coins, but one of each two rows is "
                "in; if one of each pair was drawn, give `pairs`: a pair is one canary then"
            )
    if 2 * float(upper_tail(m, max(ones, m - ones), 0.0)) <= UNBELIEVABLE:
        raise InputError(
            f"`members` must be drawn by independent fair coins, but {ones} of {m} are in; "
            "give all canaries, those that were left out as well"
        )


def _pair_labels(pairs: ArrayLike, size: int) -> NDArray[np.int64]:
    """Assign numbers from 0 to the pairs; refuse labels that do not occur twice."""
    labels = np.asarray(pairs)
    if labels.shape != (size,):
        raise InputError(f"`pairs` must have a label for each of {size} scores, got {labels.shape}")
    _, number, times = np.unique(labels, return_inverse=True, return_counts=True)
    if (times != 2).any():
        wrong = int(np.flatnonzero(times != 2)[0])
        raise InputError(
            f"`pairs` must hold every label twice, got one {times[wrong]} times: that of "
            f"score {int(np.flatnonzero(number == wrong)[0]) + 1}"
        )
    return number.astype(np.int64)


def _paired(
    score: FloatArray,
    inside: BoolArray,
    labels: NDArray[np.int64],
    source: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Make each pair one canary: whether its first record is in, and the difference of the scores.

    A coin chooses the first record: in the file it may be the one that was in.
    """
    if not np.isfinite(score).all():
        raise InputError("`scores` of pairs must be finite: their differences are compared")
    two = np.argsort(labels, kind="stable").reshape(-1, 2)
    uneven = inside[two].sum(axis=1) != 1
    if uneven.any():
        raise InputError(
            f"`members` must hold exactly one record of each pair, got {int(uneven.sum())} pairs "
            "with both or none"
        )
    one, other = source.permuted(two, axis=1).T
    return score[one] - score[other], inside[one]
