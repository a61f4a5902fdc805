"""Pairs of secrets to judge, chosen by how often each loses to each other.

A secret of a sample loses to another if that one makes the output likelier. Whatever is chosen
here, limits hold, since they are made from samples that had no say in it.
Source: Narcissus theory 6.2, 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.channels.estimators import Estimator, Scorer, portfolio
from narcissus.channels.samples import Codes, Matrix, Samples
from narcissus.observer import Observer

CHOOSE_FROM = 20_000
"""Samples on which pairs are compared; more would not change the choice."""
MOST_CANDIDATES = 1_000
"""Secrets compared pair by pair; of more, those farthest from the average are taken."""
SHORTLIST = 6
"""Pairs for which estimators are trained anew, on the samples of these two secrets alone."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Split:
    """Numbers of samples to choose a pair with: to learn from, and to compare on.

    ``later`` is how many samples of each secret are left to judge the choice by.
    """

    choose: Codes
    learn: Codes
    later: Codes


def choose_pair(data: Samples, wanted: Any, first: Codes, observer: Observer) -> Pair:
    """Return the pair that seems easiest to tell apart, by the first samples alone."""
    middle = min(len(first) // 3, CHOOSE_FROM)
    whole = np.bincount(data.secret, minlength=len(data.names))
    spent = np.bincount(data.secret[first], minlength=len(data.names))
    split = Split(first[:middle], first[middle:], (whole - spent).astype(np.intp))
    found: list[tuple[float, int, Pair]] = []
    pairs = _shortlist(data, portfolio(wanted, data), split, observer)
    for number, pair in enumerate(pairs):
        two, choose = only(data, pair, split.choose)
        learn = only(data, pair, split.learn)[1]
        if min(len(choose), len(learn)) == 0:
            continue
        part = Split(choose, learn, split.later[list(pair)])
        held = two.counts(choose)
        for one in portfolio(wanted, two):
            lost = times_lost(one.fit(two, learn), occurrences(two, learn), held, np.arange(2))
            promise = float(_promise(two, lost, part, np.arange(2))[0, 1])
            found.append((promise, number, pair))
    return min(found)[2] if found else (0, 1)


def _shortlist(
    data: Samples, tried: list[Estimator], split: Split, observer: Observer
) -> list[Pair]:
    """Return the pairs that one estimator or another promises to tell apart best."""
    candidates, each = most_unlike(data, split.learn), occurrences(data, split.learn)
    held = data.counts(split.choose)
    best = np.full((len(candidates), len(candidates)), np.inf)
    for one in tried:
        lost = times_lost(one.fit(data, split.learn), each, held, candidates)
        best = np.minimum(best, _promise(data, lost, split, candidates))
        observer.advance()
    best[np.tril_indices(len(best))] = np.inf
    order = np.argsort(best, axis=None, kind="stable")[:SHORTLIST]
    return [
        (int(candidates[i]), int(candidates[j]))
        for i, j in zip(*np.unravel_index(order, best.shape), strict=True)
        if np.isfinite(best[i, j])
    ]


def only(data: Samples, pair: Pair, chosen: Codes) -> tuple[Samples, Codes]:
    a, b = pair
    mine = (data.secret == a) | (data.secret == b)
    kept, output = np.unique(data.output[mine], return_inverse=True)
    points = None if data.points is None else data.points[kept]
    secret = (data.secret[mine] == b).astype(np.intp)
    two = Samples(secret, output.ravel(), (data.names[a], data.names[b]), points, data.continuous)
    return two, (np.cumsum(mine) - 1)[chosen[mine[chosen]]]


def most_unlike(data: Samples, learn: Codes) -> Codes:
    """Return the secrets whose pairs are compared: all, or those farthest from the average."""
    size = len(data.names)
    if size <= MOST_CANDIDATES:
        return np.arange(size)
    counts = data.counts(learn).tocoo()
    output, secret = counts.coords
    each = np.maximum(1.0, np.bincount(secret, weights=counts.data, minlength=size))
    average = np.bincount(output, weights=counts.data) / len(learn)
    overlap = np.bincount(
        secret, weights=np.minimum(counts.data / each[secret], average[output]), minlength=size
    )
    return np.sort(np.argsort(overlap + 1 / np.sqrt(each), kind="stable")[:MOST_CANDIDATES])


def _chunks(held: Any, secrets: int) -> Iterator[tuple[Codes, Any]]:
    """Yield the distinct outputs that occur among held-out samples, with their counts, in parts."""
    seen = np.flatnonzero(np.diff(held.indptr))
    step = max(1, min(2**16, 2**21 // secrets))
    for low in range(0, len(seen), step):
        outputs = seen[low : low + step]
        yield outputs, held[outputs].tocoo()


def occurrences(data: Samples, chosen: Codes) -> Matrix:
    """Return how often each secret occurs, at least 1."""
    return np.maximum(1.0, np.bincount(data.secret[chosen], minlength=len(data.names)))


def compared(
    scorer: Scorer, each: Matrix, held: Any, candidates: Codes, clearly: float = 0.0
) -> Iterator[tuple[Codes, Matrix, Matrix]]:
    """Yield held-out samples with the secrets to which they are lost, in parts.

    scorer, each: what was learned, and from how many samples of each secret.
    held: counts, as `Samples.counts` gives them; samples that are alike come once.
    candidates: the secrets that are compared, in rising order.
    clearly: standard errors by which one must be likelier not to count as alike, if scores are
        counts.
    Yields tuple: place of the own secret among the candidates, in rising order; how many samples;
        and 1 where the other makes the output likelier, 0.5 where it makes it as likely, 0
        elsewhere, shape (samples, candidates).
    """
    place = np.full(len(each), -1)
    place[candidates] = np.arange(len(candidates))
    for outputs, entries in _chunks(held, len(each)):
        likely = (scorer(outputs) / each)[:, candidates]
        row, secret = entries.coords
        ours = place[secret] >= 0
        row, own, weight = row[ours], place[secret[ours]], entries.data[ours]
        order = np.argsort(own, kind="stable")
        step = max(1, 2**22 // len(candidates))
        for low in range(0, len(order), step):
            part = order[low : low + step]
            mine, others = likely[row[part], own[part]][:, None], likely[row[part]]
            gap = others - mine
            if clearly:
                of_own = each[candidates[own[part]]][:, None]
                gap[gap**2 < clearly**2 * (others / each[candidates] + mine / of_own)] = 0.0
            yield own[part], weight[part], 0.5 + 0.5 * np.sign(gap)


def times_lost(
    scorer: Scorer, each: Matrix, held: Any, candidates: Codes, clearly: float = 0.0
) -> Matrix:
    """Return how often each secret loses to each other, shape (candidates, candidates).

    One pass over the held-out samples serves all pairs. Parameters as in `compared`.
    """
    lost = np.zeros((len(candidates), len(candidates)))
    for own, weight, loses in compared(scorer, each, held, candidates, clearly):
        starts = np.flatnonzero(np.r_[True, np.diff(own) > 0])
        lost[own[starts]] += np.add.reduceat(loses * weight[:, None], starts, axis=0)
    return lost


def _promise(data: Samples, lost: Matrix, split: Split, candidates: Codes) -> Matrix:
    """Return what certificate each pair promises, shape (candidates, candidates)."""
    size = len(data.names)
    tried = np.bincount(data.secret[split.choose], minlength=size)[candidates]
    later = split.later[candidates]
    rate = (lost + 0.5) / (tried[:, None] + 1)
    # Leave room for the limits, or rare secrets would win by chance.
    room = 2 * np.sqrt(rate * (1 - rate) / np.maximum(later, 1)[:, None])
    promise = np.where((later > 0)[:, None], rate + room, 1.0)
    return promise + promise.T
