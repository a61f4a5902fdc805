"""Lower limits from samples: what looks easy to tell is never harder than it looks.

The best rule on the samples themselves errs no more often there than the true best rule, whose
errors are binomial. So one binomial limit at the smallest count holds, with no union over rules,
pairs or events.

Source: Narcissus theory 6.7.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.channels._search import least_overlap
from narcissus.channels.samples import Codes, Samples

Counts = NDArray[np.int64]

ALIKE = 1.3
"""Ratio of the numbers of samples up to which the larger are thinned to the smallest."""
MOST_SECRETS = 40
"""Secrets with unlike numbers of samples up to which all pairs are limited one by one."""
QUARTER = 0.25
"""Level up to which two binomials count as one of their mean chance (Hoeffding 1956)."""
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
    each = np.bincount(data.secret, minlength=len(data.names))
    is_alike = each.max() <= ALIKE * each.min()
    counts = data.counts(thinned(data.secret) if is_alike else None).T.tocsr()
    if len(each) > MOST_SECRETS and not is_alike:
        return _of_many(counts, each, side)
    dense: Counts = np.rint(counts.toarray()).astype(np.int64)
    if is_alike:
        return _of_equal(dense, int(each.min()), side)
    pairs = combinations(range(len(each)), 2)
    return min(_of_two(dense[a], dense[b], side) for a, b in pairs)


def sum_low(total: float, size: int, alpha: float) -> float:
    """Limit the sum of two chances from below, from the sum of two counts of equal size.

    Notes
    -----
    ``Bin(m, p) + Bin(m, q)`` is at least as unlikely to be large as ``Bin(2m, (p + q) / 2)``
    wherever the latter is a quarter at most (Hoeffding 1956, theorem 4); a sum of at least one has
    chance ``m (p + q)`` at most.
    """
    if total <= 0:
        return 0.0
    if total < 2:
        return alpha / size
    return 2 * below(total, 2 * size, min(alpha, QUARTER))


def _of_equal(rows: Counts, size: int, side: float) -> float:
    """Limit it where every secret has the same number of samples."""
    least = least_overlap(rows / size)[0]
    return min(1.0, sum_low(round(least * size), size, side))


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
    one, other = shared_out(side, *sizes)
    both = _each_below(misses, sizes[0], one) + _each_below(hits, sizes[1], other)
    return min(1.0, float(both.min()))


def _each_below(counts: Counts, trials: int, alpha: float) -> NDArray[np.float64]:
    """Return the one-sided Clopper-Pearson lower limits of many counts."""
    limits = special.betaincinv(np.maximum(counts, 1), trials - counts + 1, alpha)
    return np.where(counts > 0, limits, 0.0)


def _of_many(counts: object, each: Counts, side: float) -> float:
    """Limit it by McDiarmid's room for each pair, where they are too many to be taken in turn."""
    rows = counts.astype(np.float64)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    rows.data /= np.repeat(each, np.diff(rows.indptr))
    spread = math.log(1 / side) / 2 / each
    return max(0.0, least_overlap(rows, spread=spread)[0])
