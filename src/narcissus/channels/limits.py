"""Upper and lower limits of ``beta*`` and the Bayes risk from samples, and what they may assume.

*Upper.* Every sample that counts is judged by a rule that was made and chosen on earlier ones, so
that nothing has to be paid for trying and choosing. Of a pair, rounds hold one sample of either
secret; before each an event is chosen, whose miss and false hit have chances that sum to at least
``beta*``, but may be shared out anew each time. How seldom the two can then occur is found by
dynamic programming over all ways to share them out.

*Lower.* The best rule on the samples themselves errs no more often there than the true best rule,
whose errors are binomial. So one binomial limit at the smallest count holds, with no union over
rules, pairs or events. Where likelihood ratios are assumed to be monotone, the best event of a pair
is a half-line, the easiest pair the two ends, and the best rule a staircase: so few that even
continuous outputs have a limit. Where all secrets are assumed alike, one chance says all. Upper
limits never rest on an assumption.

Source: Narcissus theory 6.2, 6.7, 6.8, 6.10; Karlin and Rubin 1956.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from narcissus._validation import did_you_mean
from narcissus.channels._search import least_overlap
from narcissus.channels.estimators import portfolio
from narcissus.channels.pairs import Pair, choose_pair, only, pooled_high
from narcissus.channels.prequential import Predicted, cuts, predict_ahead, some
from narcissus.channels.samples import Codes, Samples, restricted
from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.results import Estimate


def mean_high(total: float, size: int, alpha: float, *, most: float = 1.0) -> float:
    """Limit a mean from above, whatever the values' laws.

    total: Sum of the values, each in [0, 1]. They are independent with that mean on average; or
        each has at least that mean given those before it; or the sum is at least such a sum.
    alpha: Chance that the limit is too low, in (0, 1).
    most: The largest mean there can be.

    Zeros and ones spread most, with equal chances most of all: the mean of a convex function of
    the sum that falls is no larger than that of a binomial (Hoeffding 1956, theorem 3; value by
    value where they adapt). ``max(0, c - k) / (c - total)`` is one, at least 1 up to ``total``. At
    most a fifth farther from the truth than Clopper and Pearson's limit, which needs zeros and
    ones.

    >>> round(mean_high(10.5, 100, 0.025), 3)
    0.191
    """
    if total >= size * most:
        return most
    reach = np.unique(np.geomspace(1, 6 * math.sqrt(size) + 10, 200).astype(np.int64))
    ends = np.minimum(math.floor(total) + reach, size).astype(np.float64)

    def above(p: float) -> float:
        chances: NDArray[np.float64] = ends * special.bdtr(ends - 1, size, p)
        chances -= size * p * special.bdtr(np.maximum(ends - 2, 0), size - 1, p) * (ends > 1)
        return math.log(max(float((chances / (ends - total)).min()), 1e-300)) - math.log(alpha)

    if above(most) > 0:
        return most
    low = total / size
    return min(most, float(optimize.brentq(above, low, most, xtol=1e-12)) + 1e-12)


MOST_ROUNDS = 20_000
"""Rounds up to which the program is solved; of more, a limit in closed form is taken."""
BAND = 8.0  # Standard deviations that are followed on either side; beyond, chances are rounded up
NEAR = 1e-4  # Tolerance of the limit, a share of what it may lie between; added to it


def rounds_high(total: int, rounds: int, alpha: float) -> float:
    """Limit `beta*` from above, from the number of misses and false hits together.

    total: misses and false hits in all rounds, 0 to ``2 rounds``.
    rounds: rounds, fixed before any output is seen.
    """
    if total >= rounds:
        return 1.0
    high = convex_high(total, rounds, alpha)
    if rounds > MOST_ROUNDS:
        return high
    # Chances shared out evenly all the time are one way among all.
    low = min(1.0, 2 * float(special.betaincinv(total + 1, 2 * rounds - total, 1 - alpha)))
    aim = float(special.ndtri(alpha))

    def above(beta: float) -> float:
        return float(special.ndtri(max(fewest(total, rounds, beta), 1e-300))) - aim

    if low >= 1 or (high >= 1 and above(1.0) > 0):
        return 1.0
    room = NEAR * (high - low) + 1e-12
    if high - low <= room or above(low) <= 0:
        return min(1.0, low + room)
    if above(high) > 0:  # they agree but for rounding
        return min(1.0, high + room)
    root = float(optimize.brentq(above, low, high, xtol=room / 2, rtol=1e-12))
    return min(1.0, root + room)


def fewest(total: int, rounds: int, beta: float) -> float:
    """Return the largest chance of at most ``total`` misses and false hits, however chosen.

    Let ``V(k)`` be that chance for at most k in the rounds that are left. With one round more, and
    chances p and q that sum to beta, it is
    ``(1 - beta) V(k) + beta V(k - 1) + p q (V(k) - 2 V(k - 1) + V(k - 2))``: p q is either as large
    or as small as it can be.
    """
    half = int(BAND * math.sqrt(rounds * beta * (1 - beta / 2))) + 20
    upper_limit, lower_limit = beta * beta / 4, max(0.0, beta - 1)
    start = math.floor(total - beta * rounds) - half
    value = (np.arange(start, start + 2 * half + 1) >= 0).astype(np.float64)
    padded = np.empty(value.size + 3)
    for left in range(1, rounds + 1):
        shifted = math.floor(total - beta * (rounds - left)) - half
        # Below the band the value at its end is too large a chance, above it one is.
        padded[:2] = 0.0 if start <= 0 else value[0]
        padded[2:-1] = value
        padded[-1] = 1.0
        move, start = shifted - start, shifted
        same, neighbour, two = (padded[2 + move - k : 2 + move - k + value.size] for k in range(3))
        bend = same - 2 * neighbour
        bend += two
        value = (
            same + beta * (neighbour - same) + np.where(bend > 0, upper_limit, lower_limit) * bend
        )
    return float(value[total - start])


def convex_high(total: int, rounds: int, alpha: float) -> float:
    """Limit it in closed form, up to a fifth wider.

    Shared out evenly, misses and false hits spread most: the mean of any convex function is largest
    then, round by round.
    """
    return 1.0 if total >= rounds else 2 * mean_high(total, 2 * rounds, alpha, most=0.5)


Counts = NDArray[np.int64]

ALIKE = 1.3  # Ratio of the numbers of samples up to which the larger are thinned to the smallest
MOST_SECRETS = 40
"""Secrets with unlike numbers of samples up to which all pairs are limited one by one."""
QUARTER = 0.25  # Level up to which two binomials count as one of their mean chance (Hoeffding 1956)
SEED = 20_261_122


def below(count: float, trials: int, alpha: float) -> float:
    """Return the one-sided Clopper-Pearson lower limit."""
    return 0.0 if count <= 0 else float(special.betaincinv(count, trials - count + 1, alpha))


def risk_low(data: Samples, side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    Secrets are drawn from the prior that is meant. The best rule in hindsight makes ``k`` errors
    on the samples, the true best rule no fewer, and those are ``Bin(N, R*)``.
    """
    right = float(data.counts().max(axis=1).toarray().sum())
    return below(data.size - right, data.size, side)


def security_low(data: Samples, side: float) -> float:
    """Limit ``beta*`` from below: at least so large but for chance ``side``.

    Numbers of samples per secret may be fixed or random. For the worst pair and its best event the
    two kinds of error are binomial with chances that sum to ``beta*``; a joint lower limit of that
    sum, at its smallest over all pairs and events, is no larger than there.
    """
    each = data.each(np.arange(data.size))
    is_alike = each.max() <= ALIKE * each.min()
    counts = data.counts(thinned(data.secret) if is_alike else None).T.tocsr()
    if len(each) > MOST_SECRETS and not is_alike:  # by McDiarmid's room for each pair
        rows = counts.astype(np.float64)
        rows.data /= np.repeat(each, np.diff(rows.indptr))
        spread = math.log(1 / side) / 2 / each
        return max(0.0, least_overlap(rows, spread=spread)[0])
    dense: Counts = np.rint(counts.toarray()).astype(np.int64)
    if is_alike:
        size = int(each.min())
        overlap = least_overlap(dense / size)[0]
        return min(1.0, sum_low(round(overlap * size), size, side))
    pairs = combinations(range(len(each)), 2)
    return min(_of_two(dense[a], dense[b], side) for a, b in pairs)


def sum_low(total: float, size: int, alpha: float) -> float:
    """Limit the sum of two chances from below, from the sum of two counts of equal size.

    ``Bin(m, p) + Bin(m, q)`` is at least as unlikely to be large as ``Bin(2m, (p + q) / 2)``
    wherever the latter is a quarter at most (Hoeffding 1956, theorem 4); a sum of at least one has
    chance ``m (p + q)`` at most.
    """
    if total <= 0:
        return 0.0
    if total < 2:
        return alpha / size
    return 2 * below(total, 2 * size, min(alpha, QUARTER))


def thinned(secret: Codes) -> Codes:
    """Choose as many samples of each secret as the rarest has, blind to outputs.

    By their places alone, so that what is kept are independent samples as before. To thin the
    counts of outputs by numbers that are drawn once and for all would make another law of them.

    secret: of each sample, every secret with one sample at least.
    """
    grouped, rank = ranked(secret, np.random.default_rng(SEED))
    return grouped[rank < np.bincount(secret).min()]


def ranked(secret: Codes, random: np.random.Generator) -> tuple[Codes, Codes]:
    """Order samples at random, secret by secret; give their numbers, and how many came before."""
    order = random.permutation(len(secret))
    each = np.bincount(secret)
    rank = np.arange(len(secret)) - np.repeat(np.cumsum(each) - each, each)
    return order[np.argsort(secret[order], kind="stable")], rank


def shared_out(side: float, first: int, second: int) -> tuple[float, float]:
    """Share out a chance of error between two limits, so that their sum is nearly the nearest.

    The limit of fewer samples has more of it: in the ratio of the square roots, which is best for
    normal errors of like variance. Parameters are the chance and the two numbers of samples.
    """
    part = math.sqrt(second) / (math.sqrt(first) + math.sqrt(second))
    return side * part, side * (1 - part)


def _of_two(first: Counts, second: Counts, side: float) -> float:
    """Limit one pair by two binomial limits, at its smallest over all events.

    Events lie above the hull of the best ones, which take the outputs by their ratio; counts are
    whole, so that the hull is rounded up.
    """
    sizes = int(first.sum()), int(second.sum())
    seen = (first + second) > 0
    a, b = first[seen], second[seen]
    order = np.argsort(np.arctan2(a, b), kind="stable")  # by a / b; b = 0 last
    x = np.concatenate([[0], np.cumsum(a[order])])
    y = sizes[1] - np.concatenate([[0], np.cumsum(b[order])])
    at = np.arange(sizes[0] + 1)
    part = np.searchsorted(x, at, side="right") - 1
    part = np.minimum(part, x.size - 2)
    rise, run = y[part + 1] - y[part], x[part + 1] - x[part]
    # ceil(y + rise (at - x) / run) in whole numbers
    safe = np.maximum(run, 1)
    up = y[part] - (-rise * (at - x[part])) // safe
    up = np.maximum(np.where(run == 0, y[part + 1], up), 0)
    return of_events(at, up, sizes, side)


def of_events(misses: Counts, hits: Counts, sizes: tuple[int, int], side: float) -> float:
    """Limit the sum of two chances by that event, of many, at which it is smallest.

    misses, hits: samples of the first secret outside each event, of the second inside, shape
        (events,).
    sizes: numbers of samples of the two.
    side: chance that the limit is too high, for an event that is fixed beforehand.
    """
    if sizes[0] == sizes[1]:
        return min(1.0, sum_low(int((misses + hits).min()), sizes[0], side))
    share, other = shared_out(side, *sizes)
    both = _each_below(misses, sizes[0], share) + _each_below(hits, sizes[1], other)
    return min(1.0, float(both.min()))


def _each_below(counts: Counts, trials: int, alpha: float) -> NDArray[np.float64]:
    limits = special.betaincinv(np.maximum(counts, 1), trials - counts + 1, alpha)
    return np.where(counts > 0, limits, 0.0)


UNLIKE = 4
"""Ratio of two numbers of samples above which rounds of one of either would waste too many."""


def evenly(secret: Codes, random: np.random.Generator) -> Codes:
    """Order samples at random, so that each secret's are spread alike; blind to outputs."""
    grouped, rank = ranked(secret, random)
    place = (rank + 0.5) / np.bincount(secret)[secret[grouped]]
    return grouped[np.argsort(place, kind="stable")]


def upper(hits: float, trials: float, alpha: float) -> float:
    """Return the one-sided Clopper-Pearson upper limit."""
    return 1.0 if hits >= trials else float(special.betainccinv(hits + 1, trials - hits, alpha))


def risk_high(data: Samples, found: Predicted, side: float) -> Estimate:
    """Limit the Bayes risk from above by how often samples were predicted wrongly.

    The limit counts all of them, those that were predicted from few samples too; the estimate is
    the error at the end. Secrets are drawn from the prior that is meant.
    """
    size = len(found.tested)
    high = upper(int(found.wrong.sum()), size, side)
    method = f"Clopper-Pearson on {size} samples, each predicted from earlier ones"
    value = min(found.error, high)
    return Estimate(value, None, high, 0.0, data.size, "Bayes risk", method)


@dataclass(frozen=True)
class SecurityHigh:
    """An upper limit of `beta*`, and what it was found by."""

    limit: Estimate  # The estimate with its upper limit; it has no lower one yet
    pair: Pair  # The two secrets, or those of the family that seemed easiest to tell apart
    pairs: int  # How many pairs were limited together
    # Miss and false hit of each estimator on the pair, where they were compared
    alternatives: dict[str, float]


def security_high(
    data: Samples,
    wanted: Any,
    random: np.random.Generator,
    side: float,
    observer: Observer,
    known: Pair | None = None,
) -> SecurityHigh:
    """Limit `beta*` from above by how often two secrets were taken for one another.

    Numbers of samples per secret may be fixed or random: outputs alone are judged. With more than
    two secrets and no pair ``known`` beforehand, earlier samples choose a pair, and many pairs that
    are limited by their mean; what seems to be the better way has most of ``side``, and the smaller
    limit counts.
    """
    order = evenly(data.secret, random)
    if known is not None or len(data.names) == 2:
        return _of_pair(data, wanted, order, known or (0, 1), 0, side, observer)
    many = pooled_high(data, portfolio(wanted, data), order, side, observer)
    used = len(order) // 2
    pair = choose_pair(data, wanted, order[:used], observer)
    pair_limit = _of_pair(
        data, wanted, order, pair, used, side if many is None else many.left, observer
    )
    if many is None or pair_limit.limit.high is None or pair_limit.limit.high <= many.high:
        return pair_limit
    method = f"empirical Bernstein, {many.samples} samples, each judged by earlier ones"
    limit = _limit(data, many.value, many.high, method)
    return SecurityHigh(limit, many.pair, many.pairs, pair_limit.alternatives)


def _of_pair(
    data: Samples, wanted: Any, order: Codes, pair: Pair, used: int, side: float, observer: Observer
) -> SecurityHigh:
    two, mine = only(data, pair, order)
    mine, spent = some(two, mine), len(only(data, pair, order[:used])[1])
    tried = portfolio(wanted, two)
    each = np.bincount(two.secret, minlength=2)
    is_unlike = each.max() > UNLIKE * each.min()
    if is_unlike:
        first = spent or len(mine) // 4
        ends = [first // 2, first, len(mine)]
    else:
        mine, spare = _in_rounds(two, mine, spent)
        known = cuts(two, tried, mine, known=spare) if spent else cuts(two, tried, mine[spare:])
        moved = known if spent else [end + spare for end in known]
        whole = {end if end < spare else spare + (end - spare + 1) // 2 * 2 for end in moved}
        ends = sorted(whole)
    prediction = predict_ahead(two, tried, mine, ends, observer, evenly=True)
    if is_unlike:  # misses and false hits each by itself, where one rule judged them all
        of_b = two.secret[prediction.tested] == 1
        parts = [(int(prediction.wrong[of].sum()), int(of.sum())) for of in (~of_b, of_b)]
        allowed = shared_out(side, parts[0][1], parts[1][1])
        high = sum(upper(*part, alpha) for part, alpha in zip(parts, allowed, strict=True))
        method = "two Clopper-Pearson limits"
    else:
        high = rounds_high(int(prediction.wrong.sum()), len(prediction.tested) // 2, side)
        method = "rounds of one sample of either"
    method = f"{method}, {len(prediction.tested)} samples, each judged by earlier ones"
    alternatives = {name: 2 * error for name, error in prediction.errors.items()}
    return SecurityHigh(_limit(data, 2 * prediction.error, high, method), pair, 1, alternatives)


def _limit(data: Samples, value: float, high: float, method: str) -> Estimate:
    high = min(1.0, high)
    return Estimate(min(high, value), None, high, 0.0, data.size, "Bayes security", method)


def _in_rounds(two: Samples, order: Codes, spent: int) -> tuple[Codes, int]:
    """Put one sample of either secret after the other; those without a partner come first."""
    rest = order[spent:]
    sides = [rest[two.secret[rest] == side] for side in (0, 1)]
    rounds = min(len(side) for side in sides)
    spare = [side[: len(side) - rounds] for side in sides]
    both = np.stack([side[len(side) - rounds :] for side in sides], axis=1).ravel()
    made = np.concatenate([order[:spent], *spare, both])
    return made, len(made) - len(both)


def symmetric_security(kept: float, secrets: int) -> float:
    """Return `beta*` from the chance that a secret is shown as itself.

    kept: that chance, in [0, 1]; each other secret is shown with the same share of the rest.
    secrets: how many, at least 2.
    """
    other = (1 - kept) / (secrets - 1)
    return min(1.0, 2 * min(kept, other) + (secrets - 2) * other)


def symmetric_security_low(data: Samples, side: float) -> float:
    """Limit `beta*` from below: at least so large but for chance ``side``.

    `beta*` rises with the chance to be shown as oneself up to ``1 / secrets`` and falls from there:
    only the limit on the far side can be the one that fails, so both may have all of ``side``.
    """
    assert data.shown is not None
    right = int((data.shown[data.output] == data.secret).sum())
    secrets = len(data.names)
    low, high = below(right, data.size, side), 1 - below(data.size - right, data.size, side)
    return min(symmetric_security(low, secrets), symmetric_security(high, secrets))


def symmetric_risk_low(data: Samples, side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    The best rule says of an output either that secret or one that is the same for all (the
    commonest); where a secret is shown as itself less often than as another, the commonest, or one
    other than its output. The best of these in hindsight errs no more often than the true one.
    """
    assert data.shown is not None
    size = len(data.names)
    counts = np.zeros((size, size), dtype=np.int64)  # output, secret
    np.add.at(counts, (data.shown[data.output], data.secret), 1)
    diagonal = np.diag(counts)
    right = int(np.maximum(diagonal[:, None], counts).sum(axis=0).max())
    others = counts.copy()
    np.fill_diagonal(others, 0)
    right = max(right, int((others.sum(axis=0) + others.max(axis=1)).max()))
    return below(data.size - right, data.size, side)


def monotone_security_low(data: Samples, low: int, high: int, side: float) -> float:
    """Limit `beta*` from below: at least so large but for chance ``side``.

    low, high: numbers of the smallest and the largest secret.
    """
    two = restricted(data, np.array([low, high]))
    assert two.points is not None
    each = np.bincount(two.secret)
    is_alike = each.max() <= ALIKE * each.min()
    counts = two.counts(thinned(two.secret) if is_alike else None)
    rising = np.argsort(two.points[:, 0], kind="stable")
    rows: Counts = np.rint(counts[rising].toarray().T).astype(np.int64)
    sizes = int(rows[0].sum()), int(rows[1].sum())
    # of the smaller secret above each threshold, of the larger up to it; and the other way round
    above = np.r_[sizes[0], sizes[0] - np.cumsum(rows[0])]
    upto = np.r_[0, np.cumsum(rows[1])]
    return of_events(np.r_[above, sizes[0] - above], np.r_[upto, sizes[1] - upto], sizes, side)


def monotone_risk_low(data: Samples, order: Sequence[int], side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    order: Numbers of the secrets, from the smallest to the largest.

    The best staircase in hindsight is found by dynamic programming: up to each output, the most
    samples that are right if the last said is each of the secrets.
    """
    assert data.points is not None
    rising = np.argsort(data.points[:, 0], kind="stable")
    counts = data.counts()[rising][:, list(order)]
    right = 0.0
    for turned in (counts, counts[:, ::-1]):
        best = np.zeros(len(order))
        rows = turned.tocsr()
        for row in range(rows.shape[0]):
            best = np.maximum.accumulate(best)
            start, stop = rows.indptr[row], rows.indptr[row + 1]
            best[rows.indices[start:stop]] += rows.data[start:stop]
        right = max(right, float(best.max()))
    return below(data.size - round(right), data.size, side)


SYMMETRIC = (
    "the secrets are alike: each is shown as itself with one chance, and as each other one with "
    "another, as in randomised response"
)
MONOTONE = (
    "the larger a secret, the likelier are larger outputs throughout (or smaller ones throughout): "
    "the likelihood ratio of two secrets is monotone"
)
NO_LOWER = (
    "outputs are continuous (they hardly repeat): the secret may always be legible in them, so "
    "samples alone set no lower limit"
)


@dataclass(frozen=True)
class Assumed:
    """What is taken for granted of a channel."""

    # Secrets are alike and are shown as one another, as in randomised response
    symmetric: bool = False
    # Larger secrets make larger outputs likelier throughout (or smaller ones throughout)
    monotone: bool = False
    # Names of the secrets of which two are the easiest to tell apart; empty: of all
    among: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """Return what is assumed, as noun clauses."""
        clauses = [SYMMETRIC] if self.symmetric else [MONOTONE] if self.monotone else []
        if self.among:
            named = ", ".join(map(repr, self.among[:6])) + (", ..." if len(self.among) > 6 else "")
            clauses.append(f"no other two secrets are easier to tell apart than two among {named}")
        return tuple(clauses)

    def part(self, data: Samples) -> Samples:
        """Return the samples of the secrets that `beta*` is searched among."""
        if not self.among:
            return data
        place = {name: at for at, name in enumerate(data.names)}
        for name in self.among:
            if name not in place:
                raise InputError(
                    f"there are no samples of the secret {name!r}{did_you_mean(name, data.names)}"
                )
        return restricted(data, np.array(sorted(place[name] for name in self.among)))

    def known_pair(self, part: Samples) -> Pair | None:
        """Return the pair that is easiest to tell apart, if that is assumed."""
        return ends(part) if self.monotone else None

    def lows(self, data: Samples, part: Samples, side: float) -> tuple[float | None, float | None]:
        """Limit the Bayes risk of all secrets, and `beta*` of a part, from below.

        Each holds but for chance ``side``.
        """
        if self.symmetric:
            return symmetric_risk_low(data, side), symmetric_security_low(data, side)
        if self.monotone:
            low, high = ends(part)
            return (
                monotone_risk_low(data, ordered(data), side),
                monotone_security_low(part, low, high, side),
            )
        return risk_low(data, side), security_low(part, side)

    def check(self, data: Samples) -> None:
        """Refuse what does not fit the samples."""
        self.part(data)
        if self.symmetric and data.shown is None:
            raise InputError(
                "`symmetric` is for channels that show one of the secrets, as randomised response "
                "does: here some outputs are none of them"
            )
        if self.monotone:
            ordered(data)
            if data.points is None or data.points.shape[1] != 1:
                raise InputError("`monotone` needs outputs of one column of numbers")


NOTHING = Assumed()  # The default: no assumption


class Assumptions(TypedDict, total=False):
    """What `estimate` may take for granted; upper limits never need it."""

    # True: the output is a secret, the true one with one chance and each other one with
    # another, as in randomised response. Leave the other assumptions out then.
    symmetric: bool
    # True: larger secrets make larger outputs likelier throughout, or smaller ones throughout
    # (one column of numbers; secrets that are numbers). Continuous outputs have a lower
    # limit.
    monotone: bool
    among: Sequence[Any] | None  # Two of these secrets are the easiest to tell apart
    pair: Sequence[Any] | None  # These two are; instead of ``among``


def assumed(
    *, symmetric: bool = False, monotone: bool = False, among: Any = None, pair: Any = None
) -> Assumed:
    """Put together what a user assumes; parameters as in `Assumptions`."""
    if symmetric and (monotone or among is not None or pair is not None):
        raise InputError("`symmetric` says all about the channel: leave the other assumptions out")
    if among is not None and pair is not None:
        raise InputError("give `among` or `pair`, not both")
    named = _names("among" if pair is None else "pair", among if pair is None else pair)
    if pair is not None and len(named) != 2:
        raise InputError(f"`pair` must be two different secrets, got {len(named)}")
    return Assumed(symmetric, monotone, named)


def _names(option: str, given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise InputError(f"`{option}` must be a list of secrets, got {given!r}")
    listed: list[Any] = list(given)
    named = tuple(dict.fromkeys(str(secret) for secret in listed))
    if len(named) < 2:
        raise InputError(f"`{option}` must name two different secrets or more")
    return named


def ordered(data: Samples) -> list[int]:
    """Return the numbers of the secrets in the order of their values."""
    try:
        values = [float(name) for name in data.names]
    except ValueError as error:
        raise InputError(f"`monotone` needs secrets that are numbers: {error}") from error
    return [int(place) for place in np.argsort(values, kind="stable")]


def ends(data: Samples) -> Pair:
    """Return the smallest and the largest secret: under ``monotone`` they are the easiest pair."""
    order = ordered(data)
    low, high = sorted((order[0], order[-1]))
    return low, high


def may_be_monotone(data: Samples) -> bool:
    """Return whether `monotone` makes sense for the samples."""
    try:
        Assumed(monotone=True).check(data)
    except InputError:
        return False
    return True


def without_lower(data: Samples) -> str:
    """Explain why there is no lower limit, and which assumption would give one."""
    would = "; `monotone` gives one, if larger secrets make larger outputs likelier throughout"
    return NO_LOWER + (would if may_be_monotone(data) else "")
