"""Refutation that may be looked at after every canary, and stopped at will.

Canaries are scored one after the other. A canary is guessed in where its score is above the median
of those before it, else out; the next ones decide nothing about it. A gambler bets on right
guesses. If each is right with a chance of at most ``p = e^epsilon / (1 + e^epsilon)``, whatever
came before, the capital is a supermartingale, so it ever reaches ``1 / a`` with probability at most
``a`` (Ville 1939). No right guess lowers the capital at any time: "it ever reaches ``1 / a``" is an
event of the kind that the sweep theorem is about, and (epsilon, delta)-DP adds at most ``M delta /
(1 + e^epsilon)``, where at most ``M`` canaries come.

The stakes are likelihood ratios of fixed steps in the log odds, so the capital falls as epsilon
grows. Where delta is above 0 the capital has half of the error, and only epsilons at which delta
costs at most the other half are refuted: what is refuted then rises with the claim, and the largest
may be searched for. A mu is refuted by its delta at the epsilon found.

Source: Narcissus theory 5.1 and 5.4; Ville 1939; Waudby-Smith and Ramdas 2023.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._arrays import BoolArray, Floats
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.evidence.betting import log_mean
from narcissus.evidence.refutation import (
    ABOUT_CHOICE,
    LARGEST_MU,
    UNIFORM,
    Claimed,
    Method,
    Refutation,
    largest_refuted,
)
from narcissus.evidence.scores import (
    ONE_OF_PAIR,
    checked_scores,
    pair_differences,
    pair_labels,
    require_one_unit,
)
from narcissus.evidence.twins import first_of_clusters, require_no_twins
from narcissus.guarantees import GaussianDP

_STEPS = np.array([0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # of log odds beyond the claim
_SURER = (1.0, 0.5, 0.2, 0.07)  # shares of the surest guesses, one gambler each
_SHARE = 0.5  # of the error for delta
_TOLERANCE, _LEAST_MU = 1e-6, 1e-6
_AT_ANY_TIME = (
    "rows are in the order in which canaries were scored, that order followed no coin, and at "
    "most {most:,} canaries were planted; looks at any time are allowed for"
)


def refute_as_they_come(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    most: int,
    pairs: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    chosen_from: int = 1,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
) -> Refutation:
    """Find the largest epsilon, and mu, refuted at any of the looks so far.

    The error holds for all looks together, whenever one stops: the file may grow, and be tested
    again after each canary.

    scores: One score per canary, larger means more likely in, in the order of scoring, shape (m,).
    members: Whether each canary was in, 0 or 1, by an independent fair coin each, shape (m,).
    most: How many canaries were planted, at least ``m``; fixed beforehand.
    pairs: As in `narcissus.evidence.refute_scores`; a pair comes with its second row.
    clusters: Labels of the rows that one coin put in together, shape (m,); not with ``pairs``. A
        cluster is one canary, with the score of its first row: later rows change nothing.
    chosen_from, delta, confidence, claimed: As in `narcissus.evidence.refute`.

    InputError: As in `refute_scores`; more canaries than ``most``.

    Source: Narcissus theory 5.4.
    """
    claim = Claimed.of(delta, confidence, claimed, chosen_from)
    score, inside = checked_scores(scores, members)
    require_one_unit(pairs, clusters)
    if clusters is not None:
        first = first_of_clusters(inside, np.asarray(clusters))
        score, inside = score[first], inside[first]
    if pairs is None:
        require_no_twins(score, inside)
        right, classes = _guesses(score, inside)
        premise = UNIFORM
    else:
        right, classes = _pair_guesses(score, inside, pair_labels(pairs, score.size))
        premise = ONE_OF_PAIR
    planted = integer("most", most, low=1)
    if right.size > planted:
        raise InputError(f"`most` must be at least the {right.size:,} canaries, got {planted:,}")
    said_of_looks = _AT_ANY_TIME.format(most=planted)
    epsilon, mu, p_value = _refuted(right, classes, planted, claim)
    guessed = classes[0]
    refutation = claim.refutation(
        (Method("looks", "Narcissus theory 5.4, betting", epsilon, p_value),),
        mu,
        counts=(right.size, int(guessed.sum()), int((right & guessed).sum()), 2),
        assumptions=(premise, ABOUT_CHOICE, said_of_looks),
        chosen="looks",
    )
    return refutation if pairs is not None else refutation.asked("membership")


def _refuted(
    right: BoolArray, classes: NDArray[np.bool_], planted: int, asked: Claimed
) -> tuple[float, float, float]:
    """Return the epsilon, the mu, and the p-value of the claim."""
    hurdle = asked.alpha * (_SHARE if asked.delta > 0 else 1.0)

    def chance(epsilon: float) -> float:
        return min(1.0, math.exp(-_largest_capital(right, classes, epsilon)))

    def cost(epsilon: float, delta: float) -> float:
        return planted * delta * float(special.expit(-epsilon))

    def is_dear(epsilon: float) -> bool:
        return cost(epsilon, asked.delta) > asked.alpha - hurdle

    epsilon = largest_refuted(chance, hurdle, _TOLERANCE)
    if asked.delta > 0 and is_dear(epsilon):
        epsilon = 0.0
    p_value = min(1.0, chance(asked.claimed) + cost(asked.claimed, asked.delta))
    half = asked.alpha * _SHARE
    point = largest_refuted(chance, half, _TOLERANCE)
    if chance(point) > half:
        return epsilon, 0.0, p_value

    def mu_cost(mu: float) -> float:
        return cost(point, float(GaussianDP(mu).profile(point)))

    mu = largest_refuted(mu_cost, half, 1e-4, start=_LEAST_MU, largest=LARGEST_MU)
    return epsilon, mu if mu > _LEAST_MU else 0.0, p_value


def _largest_capital(right: BoolArray, classes: NDArray[np.bool_], epsilon: float) -> float:
    """Return the log of the largest capital so far against right guesses of odds ``e^epsilon``."""
    lost = special.log_expit(-epsilon - _STEPS) - special.log_expit(-epsilon)
    best = 0.0
    logs: list[Floats] = []
    for guessed in classes:
        count = np.arange(1, right.size + 1) if guessed.all() else np.cumsum(guessed)
        hits = np.cumsum(right & guessed)
        logs.append(_STEPS[:, None] * hits + lost[:, None] * count)
    path = log_mean(np.concatenate(logs))
    return max(best, float(path.max(initial=0.0)))


def _guesses(score: Floats, inside: BoolArray) -> tuple[BoolArray, NDArray[np.bool_]]:
    """Guess by the median of the scores before; who is as high as that is not guessed."""
    before: list[float] = []
    right, apart = np.zeros(score.size, bool), np.zeros(score.size)
    for place, value in enumerate(score.tolist()):
        if before:
            middle = (before[(len(before) - 1) // 2] + before[len(before) // 2]) / 2
            apart[place] = abs(value - middle) if value != middle else 0.0
            right[place] = (value > middle) == inside[place]
        insort(before, value)
    return right, _classes(apart)


def _pair_guesses(
    score: Floats, inside: BoolArray, labels: NDArray[np.int64]
) -> tuple[BoolArray, NDArray[np.bool_]]:
    """Guess that the higher score of each pair is in, in the order of the second rows."""
    apart, is_first = pair_differences(score, inside, labels)
    return (apart > 0) == is_first, _classes(np.abs(apart))


def _classes(apart: Floats) -> NDArray[np.bool_]:
    """Return for each gambler whom it bets on: who is surer than a share of those before.

    A guess that is not sure at all, 0 apart, is no guess.
    """
    before: list[float] = []
    bets = np.zeros((len(_SURER), apart.size), bool)
    for place, value in enumerate(apart.tolist()):
        if value > 0:
            surer = 1.0 - bisect_left(before, value) / max(1, len(before))
            bets[:, place] = [surer <= share for share in _SURER]
        insort(before, value)
    return bets
