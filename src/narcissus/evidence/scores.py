"""Refutation from membership scores, and with a prior per canary: unequal coins or secrets.

Scores put the canaries in an order, and every number of guesses is tried at the same time
(`narcissus.evidence.sweep`). Equal scores are counted against the attack, the wrong guesses first:
the order of the file does not matter.

Of many runs, each of one canary that was in or out, two error rates are limited at a threshold;
and, for mu, how often a run with the canary has the larger score of two. That chance is at most the
area under the curve of the error rates, which lies below the Gaussian one at every point: at most
``Phi(mu / sqrt(2))``, whatever the scores. It needs no threshold, and pairs of different runs are
independent trials.

Source: Narcissus theory 4.1, 4.3, 4.4, 4.10 and 5.1 (the bounds) and 5 (refutation); Swanberg et
al. 2025, Theorem 3.2, for chances that differ from guess to guess; for runs Clopper and Pearson
1934, Dong, Roth and Su 2022 for the trade-off of a Gaussian, Bamber 1975 for the area.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._arrays import BoolArray, Floats
from narcissus._outwards import lower
from narcissus._validation import integer, probabilities, real
from narcissus.bounds import (
    PoissonBinomial,
    domination,
    interpolation,
    swap_tail,
    threat,
)
from narcissus.bounds.binomial import upper_tail
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.interpolation import INTERPOLATION
from narcissus.bounds.swap import SWAP
from narcissus.bounds.threat import prior_rows
from narcissus.errors import InputError
from narcissus.evidence.refutation import (
    ABOUT_CHOICE,
    LARGEST_MU,
    UNIFORM,
    Claimed,
    Method,
    Refutation,
    largest_refuted,
    refute,
    refuted_mu,
    said_of_guesses,
)
from narcissus.evidence.sweep import FIRST, Ordered, SweepTest, few_ends, many_ends
from narcissus.evidence.twins import UNBELIEVABLE, fair, of_clusters, require_no_twins
from narcissus.guarantees import GaussianDP
from narcissus.results import Estimate, Grade, Result

_FEWEST_CANARIES = 6  # canaries needed
_PER_DELTA = 8.0  # guesses at the first end for each failure that delta allows, over the level
_SHARE = 0.5  # of the level for delta, where each release has chances of its own
_LARGEST_POINT, _LEAST_MU = 40.0, 1e-6
_SWEEP = "sweep", "Narcissus theory 5.1, sweep theorem"
ONE_OF_PAIR = "exactly one record of each pair was in, by an independent fair coin for each pair"
_HALF = "there was a coin for each canary, although exactly half are in"
_EVERY = "nothing about the number of guesses: every one is tested together"


_Order = tuple[tuple[BoolArray, Floats | float], ...]
"""Guesses in order, whether each is right and its prior chance: all, then the highest scores alone
and the lowest alone."""


def refute_scores(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    pairs: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    guesses: int | None = None,
    coins: bool = False,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    chosen_from: int = 1,
) -> Refutation:
    """Find the largest epsilon, and mu, refuted by canary scores, at every number of guesses.

    The highest scores are guessed in and the lowest out, in turn; next to them the highest alone
    and the lowest alone.

    scores: One score per canary, larger means more likely in, shape (m,).
    members: Whether each canary was in, 0 or 1, by an independent fair coin each, shape (m,).
    pairs: If exactly one of each pair of records was in, by a fair coin per pair: the label of each
        record's pair, shape (m,), each label twice. A pair is then one canary: the record with the
        higher score is guessed in, and the order is by the difference.
    clusters: A label for each row, shape (m,), where one coin put several rows in. A cluster then
        counts as one canary, whose score is the mean, and what is refuted is about a whole cluster.
    guesses: Test this number of guesses alone. It must be fixed before the release is seen.
    coins: Declare that there was a coin for each, though exactly half are in.
    chosen_from, delta, confidence, claimed: As in `narcissus.evidence.refute`.

    InputError: Among others if the coins cannot have been fair: too many or too few are in, or one
        of each two rows is although no pairs are given, or rows move together. Also if exactly half
        are in, without ``coins``: for a draw of exactly half nothing is proved.

    Source: Narcissus theory 5.1 and 5.2. As ``m`` grows the result rises towards the epsilon of the
    profile at ``delta / (1 - confidence)``, the most that one run can refute.
    """
    claim = Claimed.of(delta, confidence, claimed, chosen_from)
    score, inside = checked_scores(scores, members)
    require_one_unit(pairs, clusters)
    if pairs is not None:
        right = _paired(score, inside, pair_labels(pairs, score.size))
        return _refute_order(((right, 0.5),), claim, guesses, (ONE_OF_PAIR, ABOUT_CHOICE), 2)
    if clusters is not None:
        score, inside = of_clusters(score, inside, np.asarray(clusters))
    _check_coins(inside, coins=coins)
    require_no_twins(score, inside)
    order = _two_sided(score, inside, 0.5)
    assumptions = (
        (UNIFORM, ABOUT_CHOICE)
        if 2 * inside.sum() != inside.size
        else (UNIFORM, ABOUT_CHOICE, _HALF)
    )
    return _refute_order(order, claim, guesses, assumptions, 2).asked("membership")


def refute_ranked(
    scores: ArrayLike,
    right: ArrayLike,
    *,
    values: int = 2,
    guesses: int | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    chosen_from: int = 1,
) -> Refutation:
    """Find the largest epsilon, and mu, refuted by guesses of values, the surest first.

    scores: How sure the attack is of each canary's guess, larger is surer, shape (m,).
    right: Whether each guess is right, 0 or 1, shape (m,).
    values: Number of values of a secret, drawn uniformly and independently.
    guesses, chosen_from, delta, confidence, claimed: As in `refute_scores`.

    Source: Narcissus theory 5.1.
    """
    claim = Claimed.of(delta, confidence, claimed, chosen_from)
    score, hit = checked_scores(scores, right, "right")
    many = integer("values", values, low=2)
    order = ((_surest_first(score, hit), 1.0 / many),)
    assumptions = (UNIFORM, ABOUT_CHOICE)
    return _refute_order(order, claim, guesses, assumptions, many)


def _two_sided(score: Floats, inside: BoolArray, coins: Floats | float) -> _Order:
    """Guess high scores in and low ones out, in turn; where equal scores lie in the middle, aside.

    Among equal scores wrong guesses come first: no order of them has fewer right ones.
    """
    m = score.size
    middle = np.partition(score, m - 1 - m // 2)[m - 1 - m // 2]
    above, upwards = score > middle, score >= middle
    nearer = m - 2 * np.count_nonzero(above) <= 2 * np.count_nonzero(upwards) - m
    up = above if nearer else upwards
    sides = _side(score, inside, up, coins), _side(-score, ~inside, ~up, 1.0 - coins)
    right = _in_turn(sides[0][0], sides[1][0])
    both = coins if isinstance(coins, float) else _in_turn(*(np.asarray(c) for _, c in sides))
    return ((right, both), *(side for side in sides if side[0].size))


def _side(
    score: Floats, right: BoolArray, guessed: BoolArray, chances: Floats | float
) -> tuple[BoolArray, Floats | float]:
    """Return which of those ``guessed`` are right, the highest score first, and their chances."""
    if not isinstance(chances, np.ndarray):
        return _surest_first(score[guessed], right[guessed]), chances
    order = np.flatnonzero(guessed)[np.lexsort((right[guessed], -score[guessed]))]
    return right[order], chances[order]


def _surest_first(score: Floats, right: BoolArray) -> BoolArray:
    """Sort by falling score, among equal ones the wrong first: two sorts of numbers, merged."""
    hits, misses = np.sort(score[right]), np.sort(score[~right])
    ranking = np.zeros(score.size, dtype=bool)
    before = misses.size - np.searchsorted(misses, hits)
    ranking[before + np.arange(hits.size - 1, -1, -1)] = True
    return ranking


def _in_turn(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    k = min(one.size, other.size)
    return np.concatenate([np.stack([one[:k], other[:k]], axis=1).ravel(), one[k:], other[k:]])


def _refute_order(
    order: _Order, asked: Claimed, guesses: int | None, said: tuple[str, ...], values: int
) -> Refutation:
    """Refute by guesses that all have one chance."""
    (right, chance), *sides = order
    m, alpha = right.size, asked.alpha
    if guesses is not None:
        r = integer("guesses", guesses, low=1, high=m)
        refutation = refute(
            m,
            r,
            int(right[:r].sum()),
            values=values,
            delta=asked.delta,
            confidence=asked.level,
            claimed=asked.claimed,
            chosen_from=asked.parts,
        )
        return dataclasses.replace(refutation, assumptions=(*said, *refutation.assumptions[2:]))
    first = max(FIRST, round(_PER_DELTA * m * asked.delta / alpha))
    few = first > FIRST  # then delta is paid by the block
    runs = [
        Ordered(hits, chance, many_ends(hits.size, start, 2.0) if few else many_ends(hits.size))
        for hits, start in ((right, first), *((hits, 4 * first) for hits, _ in sides))
    ]

    sweep = SweepTest.of(tuple(runs), alpha, by_blocks=few)
    epsilon = sweep.largest_epsilon(asked.delta, alpha)
    # A claim is one about every larger epsilon as well.
    p_value = min(
        sweep.p_value(e, asked.delta) for e in {asked.claimed, max(asked.claimed, epsilon)}
    )
    mu = SweepTest.of((Ordered(right, chance, few_ends(m)),), alpha).largest_mu(alpha)
    return _swept(sweep, epsilon, p_value, mu, asked, (*said, _EVERY), m, values)


def _swept(
    sweep: SweepTest,
    epsilon: float,
    p_value: float,
    mu: float,
    asked: Claimed,
    said: tuple[str, ...],
    m: int,
    values: int,
) -> Refutation:
    run, end = sweep.runs[sweep.best[0]], sweep.best[1]
    return asked.refutation(
        (Method(*_SWEEP, epsilon, p_value),),
        mu,
        counts=(m, int(run.ends[end]), int(run.found[end]), values),
        assumptions=said,
        chosen="every",
    )


def checked_scores(
    scores: ArrayLike, members: ArrayLike, name: str = "members"
) -> tuple[Floats, BoolArray]:
    try:
        score = np.asarray(scores, dtype=np.float64)
        inside = np.asarray(members, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`scores` and `{name}` must be numbers") from error
    if score.ndim != 1 or score.shape != inside.shape:
        raise InputError(
            f"`scores` and `{name}` must be vectors of one length, "
            f"got shapes {score.shape} and {inside.shape}"
        )
    if score.size < _FEWEST_CANARIES:
        raise InputError(
            f"`scores` must be of at least {_FEWEST_CANARIES} canaries, got {score.size}"
        )
    if np.isnan(score).any():
        raise InputError(
            f"`scores` must not be NaN, got one at position {np.isnan(score).argmax()}"
        )
    if not ((inside == 0.0) | (inside == 1.0)).all():
        meant = "0 (out) and 1 (in)" if name == "members" else "0 and 1"
        raise InputError(f"`{name}` must hold only {meant}")
    return score, inside == 1.0


def _check_coins(inside: BoolArray, *, coins: bool) -> None:
    """Refuse members that fair coins produce with probability below 1e-6, and half, undeclared."""
    m, ones = inside.size, int(inside.sum())
    if m % 2 == 0 and 0.5 ** (m // 2) <= UNBELIEVABLE and (inside[0::2] != inside[1::2]).all():
        raise InputError(
            "`members` must be drawn by independent fair coins, but one of each two rows is "
            "in; if one of each pair was drawn, give `pairs`: a pair is one canary then"
        )
    if 2 * float(upper_tail(m, max(ones, m - ones), 0.0)) <= UNBELIEVABLE:
        raise InputError(
            f"`members` must be drawn by independent fair coins, but {ones} of {m} are in; "
            "give all canaries, those that were left out as well"
        )
    if 2 * ones == m and not coins:
        raise InputError(
            f"`members` must be drawn by independent fair coins, but exactly half are in, {ones} "
            f"of {m}: for a draw of exactly half nothing is proved. If there was a coin for each "
            "and they fell so, set `coins`; if one of each pair was drawn, give `pairs`"
        )


def pair_labels(pairs: ArrayLike, size: int) -> NDArray[np.int64]:
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


def _paired(score: Floats, inside: BoolArray, labels: NDArray[np.int64]) -> BoolArray:
    """Make each pair one guess, that its higher score is in; return which are right, surest first.

    A guess between equal scores counts as wrong.
    """
    apart, is_first = pair_differences(score, inside, labels)
    right: BoolArray = (apart > 0) & is_first | (apart < 0) & ~is_first
    return _surest_first(np.abs(apart), right)


def pair_differences(
    score: Floats, inside: BoolArray, labels: NDArray[np.int64]
) -> tuple[Floats, BoolArray]:
    """Return the score of each pair's first row less that of its second, and whether the first was
    in, both of shape (pairs,), in the order of the second rows.

    InputError: Scores are infinite, a pair has both rows in or none, or pairs move together.
    """
    if not np.isfinite(score).all():
        raise InputError("`scores` of pairs must be finite: their differences are compared")
    two = np.argsort(labels, kind="stable").reshape(-1, 2)
    first, other = two[np.argsort(two[:, 1], kind="stable")].T
    uneven = inside[first] == inside[other]
    if uneven.any():
        raise InputError(
            f"`members` must hold exactly one record of each pair, got {int(uneven.sum())} pairs "
            "with both or none"
        )
    apart = score[first] - score[other]
    require_no_twins(apart, inside[first])
    return apart, inside[first]


def require_one_unit(pairs: ArrayLike | None, clusters: ArrayLike | None) -> None:
    """Refuse pairs next to clusters: each says what one coin decided."""
    if pairs is not None and clusters is not None:
        raise InputError("`clusters` do not go with `pairs`: leave one of the two out")


OWN_PRIORS = (
    "every canary's value was drawn from its own prior, as given, independently of the others and "
    "of all else"
)
_ALL = "all canaries were guessed, whatever the release said"
_DEAR = 1e-3  # relative tolerance where each p-value is a search
_CLOSE, _CHEAP = 1e-4, 1e-6
_FAIR = 0.03  # largest gap between best guess and least collision for the swap bound


def refute_priors(
    priors: ArrayLike,
    correct: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    chosen_from: int = 1,
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
    claim = Claimed.of(delta, confidence, claimed, chosen_from)
    rows, many = np.unique(prior_rows("priors", priors), axis=0, return_counts=True)
    m, v = int(many.sum()), integer("correct", correct, low=0)
    if v > m:
        raise InputError(f"`correct` must be at most the {m} canaries, got {v}")
    theorem = INTERPOLATION if claim.delta > 0 else DOMINATION
    tail = interpolation if claim.delta > 0 else domination

    def own(epsilon: float) -> float:
        return tail(rows, claim.at(epsilon), v, repeats=many).value

    best, same = min(1.0, float(rows.max())), min(1.0, float((rows**2).sum(axis=1).min()))

    def swap(epsilon: float) -> float:
        return float(swap_tail(m, best, epsilon, claim.delta, v, inseparable=same))

    methods = (claim.method(theorem, own, _DEAR, 1), claim.method(SWAP, swap, _CHEAP, 1))

    def mu_p_value(mu: float) -> float:
        return interpolation(rows, GaussianDP(mu), v, repeats=many).value

    mu = largest_refuted(mu_p_value, claim.alpha, _DEAR, start=1e-6, largest=LARGEST_MU)
    if best - same <= _FAIR:
        danger = threat(prior=best, targets=m, inseparable=same)
        mu = max(mu, refuted_mu(danger, v, claim.alpha))
    return claim.refutation(
        methods,
        mu if mu > 1e-6 else 0.0,
        counts=(m, m, v, rows.shape[1]),
        assumptions=(OWN_PRIORS, ABOUT_CHOICE, _ALL),
    )


def refute_prior_scores(
    scores: ArrayLike,
    members: ArrayLike,
    priors: ArrayLike,
    *,
    guesses: int | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    chosen_from: int = 1,
) -> Refutation:
    """Find the largest epsilon, and mu, refuted by scores of canaries included by unequal coins.

    As `narcissus.evidence.refute_scores`, except that each canary was in with its own chance,
    ``priors``, shape (m,), and each guess counts by its prior chance. Raises `InputError` among
    others if such coins cannot have produced the members: too many or too few are in.

    Source: Narcissus theory 5.1, for events that follow the release. What delta costs is fixed
    beforehand, at an epsilon where it is half of the level, or at 0 if it is less.
    """
    claim = Claimed.of(delta, confidence, claimed, chosen_from)
    score, inside = checked_scores(scores, members)
    coins = probabilities("priors", priors)
    if coins.shape != score.shape:
        raise InputError(f"`priors` must be of {score.size} canaries, got shape {coins.shape}")
    if ((coins == 0) & inside | (coins == 1) & ~inside).any():
        raise InputError("`priors` must be above 0 of canaries that are in, below 1 of the others")
    require_no_twins(score, fair(inside, coins))
    law, ones = PoissonBinomial(coins), int(inside.sum())
    if 2 * min(law.tail(ones), law.cdf(ones)) <= UNBELIEVABLE:
        raise InputError(
            f"`members` must be drawn by coins of the chances in `priors`, but {ones} of "
            f"{inside.size} are in where {law.mean:.6g} are expected; give all canaries, those "
            "that were left out as well"
        )
    order, sides = _two_sided(score, inside, coins), np.stack([coins, 1.0 - coins])
    if guesses is None:
        runs = [
            Ordered(right, chances, many_ends(right.size, ratio=2.0)) for right, chances in order
        ]
    else:
        runs = [Ordered(*order[0], np.array([integer("guesses", guesses, low=1, high=score.size)]))]
    sweep = SweepTest.of(
        tuple(runs),
        claim.alpha,
        lambda e: float((np.prod(sides, axis=0) / (1.0 + sides * math.expm1(e))).sum()),
    )
    assumptions = (
        OWN_PRIORS,
        ABOUT_CHOICE,
        _EVERY if guesses is None else said_of_guesses(0.1, late=False),
    )
    refutation = _swept(sweep, *_followed(sweep, claim), claim, assumptions, score.size, 2)
    chosen = "every" if guesses is None else "before"
    return dataclasses.replace(refutation, guesses_chosen=chosen).asked("membership")


def _followed(sweep: SweepTest, asked: Claimed) -> tuple[float, float, float]:
    """Return the epsilon refuted, the p-value of the claim and the mu, for events of each release.

    What may be searched over then must rise with the claim: a claim pays for delta at the first
    point where that costs at most its share of the level.
    """
    points = np.arange(0.0, _LARGEST_POINT, 1 / 32)
    spent = np.array([sweep.spent(e) for e in points])

    def paid(deltas: ArrayLike) -> tuple[float, float]:
        lost = spent * deltas
        at = int((lost > _SHARE * asked.alpha).sum())
        return (float(points[at]), float(lost[at])) if at < points.size else (math.inf, 1.0)

    start, lost = paid(asked.delta)

    def p_value(epsilon: float) -> float:
        return min(1.0, lost + (sweep.chance(max(epsilon, start)) if start < math.inf else 0.0))

    def mu_p_value(mu: float) -> float:
        point, _ = paid(GaussianDP(mu).profile(points))
        return _SHARE * asked.alpha + (sweep.chance(point) if point < math.inf else 1.0)

    epsilon = largest_refuted(p_value, asked.alpha, _CLOSE)
    mu = largest_refuted(mu_p_value, asked.alpha, _CLOSE, start=_LEAST_MU, largest=LARGEST_MU)
    return epsilon, p_value(asked.claimed), mu if mu > _LEAST_MU else 0.0


_RANKS = (0.003, 0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.8)
_OF_PAIRS = 0.5  # part of the error that the pairs have, where no threshold is given
_SEED = 20_261_127  # pairs runs whose order in the file may tell their scores
_RUNS = (
    "runs are independent of each other, trained and scored alike; whether the canary is in was "
    "fixed or drawn before"
)


@dataclass(frozen=True)
class RefutationByRuns(Result):
    """The guarantees refuted by many runs, each of one canary that was in or out."""

    epsilon: float  # every (epsilon', delta)-DP with a smaller epsilon' is refuted; 0 if none is
    mu: float  # every mu'-Gaussian DP with ``mu' < mu`` is refuted
    gaussian_epsilon: float  # the epsilon of that mu at delta; 0 where delta is 0
    threshold: float  # of the scores, where most is refuted of mu: larger ones are called in
    false_positives: Estimate  # share of the runs without the canary that are called in
    true_positives: Estimate  # share of the runs with it
    # share of the pairs, a run with the canary and one without, where the first scores more; None
    # at a given threshold
    pairs: Estimate | None
    confidence: float
    delta: float
    assumptions: tuple[str, ...]

    @property
    def grade(self) -> Grade:
        return "sampled"

    def __str__(self) -> str:
        runs = self.true_positives.trials + self.false_positives.trials
        shown = f"mu is not below {lower(self.mu)}" if self.mu > 0 else "no mu is refuted"
        remark = f"; epsilon is not below {lower(self.gaussian_epsilon)}" if self.delta > 0 else ""
        return "\n".join(
            [
                f"{'REFUTED' if self.mu > 0 else 'NOTHING REFUTED'} (estimated): {runs:,} runs "
                "with one "
                f"canary each; {100 * self.confidence:g}% confidence",
                f"  every (epsilon, {self.delta:g})-DP is refuted below epsilon "
                f"{lower(self.epsilon)}",
                f"  if it is Gaussian DP: {shown}{remark}",
                f"  at the threshold {self.threshold:g}: {self.true_positives}",
                f"  {self.false_positives}",
                *([f"  without a threshold: {self.pairs}"] if self.pairs else []),
                *(f"  assuming {assumption}" for assumption in self.assumptions),
            ]
        )


def refute_runs(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    threshold: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    chosen_from: int = 1,
) -> RefutationByRuns:
    """Find the largest epsilon, and mu, refuted by independent runs with one canary each.

    scores: One score per run, larger means more likely in, shape (runs,).
    members: Whether the canary was in, 0 or 1, shape (runs,).
    threshold: A threshold fixed before the scores are seen; default: eight ranks among the runs
        without the canary, which share half of the error, and pairs of runs, which have the rest.
    chosen_from: As in `narcissus.evidence.refute`.

    Clopper-Pearson limits on both error rates, each at half of its error. A rank among independent
    runs is exceeded with a chance that has a beta distribution (`narcissus.evidence.roc_band`), and
    given such thresholds the runs with the canary are independent of them. Runs are paired by a
    seed of our own, so that their order in the file says nothing.
    """
    claim = Claimed.of(delta, confidence, 0.0, chosen_from)
    score, inside = checked_scores(scores, members)
    others, member_scores = np.sort(score[~inside])[::-1], score[inside]
    if member_scores.size == 0 or others.size == 0:
        raise InputError("`members` must hold runs with the canary and runs without it")
    n, alpha, pairs = others.size, claim.alpha, None
    if threshold is None:
        alpha *= 1 - _OF_PAIRS
        pairs = _low_of_pairs(member_scores, others, claim.alpha - alpha, claim.level)
    ranks = np.unique(np.maximum(1, np.rint(n * np.array(_RANKS)).astype(np.int64)))
    cuts = others[ranks - 1] if threshold is None else np.array([real("threshold", threshold)])
    share, called = alpha / (2 * cuts.size), (member_scores[:, None] > cuts).sum(axis=0)
    # Above the k-th largest of n lies at most a beta(k, n - k + 1), with ties too.
    above = ranks - 1 if threshold is None else (others[:, None] > cuts).sum(axis=0)
    upper_limits = np.where(
        above < n, special.betainccinv(above + 1, np.maximum(n - above, 1), share), 1.0
    )
    lower_limits = np.where(
        called > 0,
        special.betaincinv(np.maximum(called, 1), member_scores.size - called + 1, share),
        0.0,
    )
    mus = special.ndtri(lower_limits) - special.ndtri(upper_limits)
    at = int(np.argmax(np.where(np.isnan(mus), -math.inf, mus)))
    ratios = [
        (lower_limits - claim.delta, upper_limits),
        (1.0 - upper_limits - claim.delta, 1.0 - lower_limits),
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilons = [np.log(np.maximum(a, 0.0) / b) for a, b in ratios]
    mu = max(0.0, float(mus[at])) if math.isfinite(mus[at]) else 0.0
    if pairs is not None and pairs.low:
        mu = max(mu, math.sqrt(2.0) * float(special.ndtri(pairs.low)))
    rates = [
        Estimate(
            k / trials, low, high, claim.level, trials, f"{name}-positive rate", "Clopper-Pearson"
        )
        for k, trials, low, high, name in (
            (int((others > cuts[at]).sum()), n, None, float(upper_limits[at]), "false"),
            (int(called[at]), member_scores.size, float(lower_limits[at]), None, "true"),
        )
    ]
    return RefutationByRuns(
        epsilon=max(0.0, *(float(np.nanmax(limits)) for limits in epsilons)),
        mu=mu,
        gaussian_epsilon=GaussianDP(mu).epsilon_beyond(claim.delta)
        if mu > 0 and claim.delta > 0
        else 0.0,
        threshold=float(cuts[at]),
        false_positives=rates[0],
        true_positives=rates[1],
        pairs=pairs,
        confidence=claim.level,
        delta=claim.delta,
        assumptions=(_RUNS, ABOUT_CHOICE, claim.said),
    )


def _low_of_pairs(own: Floats, others: Floats, alpha: float, level: float) -> Estimate:
    """Limit the chance that a run with the canary has the larger score of two, from below."""
    random, n = np.random.default_rng(_SEED), min(own.size, others.size)
    right = int((random.permutation(own)[:n] > random.permutation(others)[:n]).sum())
    low = float(special.betaincinv(right, n - right + 1, alpha)) if right else 0.0
    quantity = "share of pairs of runs whose member scores more"
    return Estimate(right / n, low, None, level, n, quantity, "Clopper-Pearson")
