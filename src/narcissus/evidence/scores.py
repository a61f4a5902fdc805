"""Refutation from membership scores, and with a prior per canary: unequal coins or secrets.

Thresholds are chosen on other canaries than those that are counted, at no cost to validity.

Source: Narcissus theory 4.1, 4.3, 4.4, 4.10 (the bounds) and 5 (refutation); Swanberg et al. 2025,
Theorem 3.2, for priors that differ from guess to guess.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import between, fraction, integer, probabilities
from narcissus.bounds import (
    PoissonBinomial,
    domination,
    follow_attempts,
    interpolation,
    swap_tail,
    threat,
)
from narcissus.bounds.binomial import upper_tail
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.interpolation import INTERPOLATION
from narcissus.bounds.published import THEOREM_3_2
from narcissus.bounds.swap import SWAP
from narcissus.bounds.threat import prior_rows
from narcissus.errors import InputError
from narcissus.evidence.refutation import (
    ABOUT_CHOICE,
    LARGEST_MU,
    Claimed,
    Refutation,
    closed_p_value,
    largest_refuted,
    level_factor,
    refute,
    refuted_mu,
)
from narcissus.guarantees import GaussianDP

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_RATIO = math.sqrt(2.0)
_FEWEST = 8  # fewer guesses than this refute little at any useful confidence
_EVERY = 3  # one canary in three chooses the threshold
UNBELIEVABLE = 1e-6  # results of smaller probability refute fair coins
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

    scores: One score per canary, larger means more likely in, shape (m,).
    members: Whether each canary was in, 0 or 1, by an independent fair coin each, shape (m,).
    pairs: If exactly one of each pair of records was in, by a fair coin per pair: the label of each
        record's pair, shape (m,), each label twice. A pair is then one canary, its value which of
        the two was in, and its score the difference of the two scores.
    delta, confidence, claimed: As in `narcissus.evidence.refute`.
    rng: For the shuffle, which selects the third and breaks ties, and for which record of a pair is
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
    after the release was seen, so with a delta above 0 the test is at half the level. Trying many
    thresholds on the same canaries would cost a factor in ``delta``, not only in the level, because
    the failures that delta allows may all coincide. As ``m`` grows the result rises towards the
    epsilon of the profile at ``2 delta / (1 - confidence)``, the most that one run can refute.
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
    """Choose thresholds on a third of the canaries; count canaries, guesses and hits of the rest.

    In a file sorted by membership, or with equal scores, a canary's position reveals its coin;
    after the shuffle it reveals nothing.
    """
    order = source.permutation(score.size)
    score, inside = score[order], inside[order]
    first = np.arange(score.size) % _EVERY == 0
    share = _choose(score[first], inside[first], int((~first).sum()), delta, alpha)
    return _count(score[~first], inside[~first], share)


def _count(
    score: FloatArray, inside: BoolArray, share: tuple[float, float]
) -> tuple[int, int, int]:
    _, right = _guessed(score, inside, np.full(score.size, 0.5), share)
    return score.size, right.size, int(right.sum())


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


OWN_PRIORS = (
    "every canary's value was drawn from its own prior, as given, independently of the others and "
    "of all else"
)
_ALL = "all canaries were guessed, whatever the release said"
_ANY = "nothing about which canaries were guessed, nor when their number was chosen"
_DEAR = 1e-3  # relative tolerance where each p-value is a search
_CHEAP = 1e-6
_FAIR = 0.03  # largest gap between best guess and least collision for the swap bound


def refute_priors(
    priors: ArrayLike,
    correct: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
) -> Refutation:
    """Find the largest epsilon refuted by a count of canaries that were all guessed.

    Source: Narcissus theory 4.10, under pure DP 4.4: there the exact optimum, so nothing from this
    count alone refutes more. Also the swap bound of 4.3 with all canaries as the one guessed best:
    sharper if all are near uniform. Both bound the same chance, and share the level.

    ``priors`` are the distributions of each canary's value, shape (m, V), which a guess must name;
    the rest is as in `narcissus.evidence.refute`.

    >>> found = refute_priors([[0.7, 0.3]] * 60 + [[0.5, 0.5]] * 60, 105, delta=1e-5)
    >>> round(found.epsilon, 2)
    1.48
    """
    asked = Claimed.of(delta, confidence, claimed)
    rows, many = np.unique(prior_rows("priors", priors), axis=0, return_counts=True)
    m, v = int(many.sum()), integer("correct", correct, low=0)
    if v > m:
        raise InputError(f"`correct` must be at most the {m} canaries, got {v}")
    theorem = INTERPOLATION if asked.delta > 0 else DOMINATION
    tail = interpolation if asked.delta > 0 else domination

    def own(epsilon: float) -> float:
        return tail(rows, asked.at(epsilon), v, repeats=many).value

    best, same = min(1.0, float(rows.max())), min(1.0, float((rows**2).sum(axis=1).min()))

    def swap(epsilon: float) -> float:
        return float(swap_tail(m, best, epsilon, asked.delta, v, inseparable=same))

    methods = (asked.method(theorem, own, _DEAR, 1), asked.method(SWAP, swap, _CHEAP, 1))

    def mu_p_value(mu: float) -> float:
        return interpolation(rows, GaussianDP(mu), v, repeats=many).value

    mu = largest_refuted(mu_p_value, asked.alpha, _DEAR, start=1e-6, largest=LARGEST_MU)
    if best - same <= _FAIR:
        danger = threat(prior=best, targets=m, inseparable=same)
        mu = max(mu, refuted_mu(danger, v, asked.alpha))
    return asked.refutation(
        methods,
        mu if mu > 1e-6 else 0.0,
        counts=(m, m, v, rows.shape[1]),
        assumptions=(OWN_PRIORS, ABOUT_CHOICE, _ALL),
    )


def refute_guesses(
    chances: ArrayLike,
    correct: int,
    differ: ArrayLike,
    *,
    values: int = 2,
    best: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
) -> Refutation:
    """Find the largest epsilon refuted by guesses, each weighted by its prior chance.

    A right guess of an unlikely value is stronger evidence than one of a likely value.

    chances: The prior chance of each guess made, shape (r,). Which canaries are guessed, and their
        guessed values, may be chosen after the release was seen.
    differ: For all canaries, guessed or not, the chance that two independent draws of the value
        differ, ``1 - sum_x D(x)^2``, shape (m,); used if ``delta`` is above 0.
    best: Upper bound on the prior chance of every possible guess; default 1.

    Notes
    -----
    Source: Swanberg et al. 2025, Theorem 3.2: given the release, right guesses are at most a sum of
    Bernoulli(beta(chance)), whatever was guessed. With a delta: the bound that follows the attempts
    (Narcissus theory 4.4), which adds ``delta sum differ``; its proof has one count in question for
    each release, so the p-value may follow them. The swap bound for all canaries as the best is
    another test: both are then at half the level, the second at half of that for guesses whose
    number was chosen late.
    """
    asked = Claimed.of(delta, confidence, claimed)
    made, apart = probabilities("chances", chances), probabilities("differ", differ)
    m, r, v = apart.size, made.size, integer("correct", correct, low=0)
    if made.ndim != 1 or apart.ndim != 1 or not v <= r <= m:
        raise InputError(
            "`chances` must be a vector of guesses, at most as many as canaries in `differ`, and "
            f"`correct` at most as many; got {r} guesses, {m} canaries, {v} right"
        )
    spent = float(apart.sum())

    def own(epsilon: float, lost: float = asked.delta) -> float:
        tail = follow_attempts(made, epsilon, 0.0, v).value if r else 1.0
        return min(1.0, tail + lost * spent)

    def swap(epsilon: float) -> float:
        p, same = 1.0 if best is None else best, float(1.0 - apart.max())
        return float(swap_tail(m, p, epsilon, asked.delta, v, guesses=r, inseparable=same))

    theorem = DOMINATION.by("following the attempts") if asked.delta > 0 else THEOREM_3_2
    shared = 2 if asked.delta > 0 else 1
    methods = (asked.method(theorem, own, _CHEAP, shared),)
    if asked.delta > 0:
        methods = (*methods, asked.method(SWAP, swap, _CHEAP, 2 * shared))
    point = asked.delta or asked.alpha / (2 * max(1.0, spent))

    def mu_p_value(mu: float) -> float:
        return own(GaussianDP(mu).epsilon_beyond(point), point)

    mu = largest_refuted(mu_p_value, asked.alpha, _CHEAP, start=1e-9, largest=LARGEST_MU)
    return asked.refutation(
        methods,
        mu if mu > 1e-9 else 0.0,
        counts=(m, r, v, values),
        assumptions=(OWN_PRIORS, ABOUT_CHOICE, _ANY),
        chosen="after",
    )


_MOST = 3000  # canaries that choose, at most
_FEWEST_CANARIES = 6  # canaries needed


def refute_prior_scores(
    scores: ArrayLike,
    members: ArrayLike,
    priors: ArrayLike,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    rng: RandomSource = None,
) -> Refutation:
    """Find the largest epsilon refuted by scores of canaries included by unequal coins.

    As `narcissus.evidence.refute_scores`, except that each canary was in with its own chance,
    ``priors``, shape (m,), and each guess counts by its prior chance. Raises `InputError` among
    others if such coins cannot have produced the members: too many or too few are in.
    """
    score, inside = checked_scores(scores, members)
    coins = probabilities("priors", priors)
    if coins.shape != score.shape:
        raise InputError(f"`priors` must be of {score.size} canaries, got shape {coins.shape}")
    if ((coins == 0) & inside | (coins == 1) & ~inside).any():
        raise InputError("`priors` must be above 0 of canaries that are in, below 1 of the others")
    allowed = between("delta", delta, 0, 1, open_high=True)
    level = fraction("confidence", confidence)
    law, ones = PoissonBinomial(coins), int(inside.sum())
    if 2 * min(law.tail(ones), law.cdf(ones)) <= UNBELIEVABLE:
        raise InputError(
            f"`members` must be drawn by coins of the chances in `priors`, but {ones} of "
            f"{inside.size} are in where {law.mean:.6g} are expected; give all canaries, those "
            "that were left out as well"
        )
    if score.size < _FEWEST_CANARIES:
        raise InputError(
            f"`scores` must be of at least {_FEWEST_CANARIES} canaries, got {score.size}"
        )
    order = generator(rng).permutation(score.size)
    first = order[: min(score.size // _EVERY, _MOST)]
    rest = order[first.size :]
    share = _choose_unequal(
        score[first], inside[first], coins[first], rest.size, allowed, 1.0 - level
    )
    chances, right = _guessed(score[rest], inside[rest], coins[rest], share)
    sides = np.stack([coins[rest], 1.0 - coins[rest]])
    found = refute_guesses(
        chances,
        int(right.sum()),
        2.0 * sides[0] * sides[1],
        best=float(sides.max()),
        delta=allowed,
        confidence=level,
        claimed=claimed,
    )
    return dataclasses.replace(found, chosen_on=first.size).asked("membership")


def _guessed(
    score: FloatArray, inside: BoolArray, coins: FloatArray, share: tuple[float, float]
) -> tuple[FloatArray, BoolArray]:
    """Guess these shares in and out: each guess's prior chance, and whether it is right."""
    m = score.size
    a = min(m, round(share[0] * m))
    b = min(m - a, round(share[1] * m))
    order = np.argsort(score, kind="stable")
    high, low = order[m - a :], order[:b]
    chances = np.concatenate([coins[high], 1.0 - coins[low]])
    return chances, np.concatenate([inside[high], ~inside[low]])


def _choose_unequal(
    score: FloatArray,
    inside: BoolArray,
    coins: FloatArray,
    rest: int,
    delta: float,
    alpha: float,
) -> tuple[float, float]:
    """Choose the shares guessed in and out that are most promising for ``rest`` similar others."""
    best, chosen = 0.0, (0.5, 0.5)
    spent = delta * rest * float((2.0 * coins * (1.0 - coins)).mean())
    level = (alpha / 2 if delta > 0 else alpha) - spent
    if level <= 0:
        return chosen
    for a, b in threshold_choices(score.size):
        share = a / score.size, b / score.size
        chances, right = _guessed(score, inside, coins, share)
        rate = float(right.mean())
        # A rate that was chosen for being high is too high: expect one deviation less.
        rate -= math.sqrt(max(rate * (1.0 - rate), 1.0 / right.size) / right.size)
        count = max(0, math.floor(rate * right.size))
        if count <= chances.sum():
            continue  # what is right on average is never refuted beyond
        # as many guesses as were seen; more of the same would promise the same order of choices
        promise = largest_refuted(
            lambda e, c=chances, v=count: follow_attempts(c, e, 0.0, v).value, level, 1e-2
        )
        if promise > best:
            best, chosen = promise, share
    return chosen
