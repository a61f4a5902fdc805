"""The two upper limits from samples, and the choices that go before them.

Every sample that counts is judged by a rule that was made and chosen on earlier ones, so that
nothing has to be paid for trying and choosing.
Source: Narcissus theory 6.2, 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from narcissus.channels.ahead import Predicted, cuts, predict_ahead, some
from narcissus.channels.estimators import Estimator, Scorer, portfolio
from narcissus.channels.rounds import rounds_high
from narcissus.channels.samples import Codes, Matrix, Samples
from narcissus.observer import Observer
from narcissus.results import Estimate

CHOOSE_FROM = 20_000
"""Samples on which pairs are compared; more would not change the choice."""
MOST_CANDIDATES = 1_000
"""Secrets compared pair by pair; of more, those farthest from the average are taken."""
SHORTLIST = 6
"""Pairs for which estimators are trained anew, on the samples of these two secrets alone."""
UNLIKE = 4
"""Ratio of two numbers of samples above which rounds of one of either would waste too many."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Split:
    """Numbers of samples to choose a pair with: to learn from, and to compare on.

    ``later`` is how many samples of each secret are left to judge the choice by.
    """

    choose: Codes
    learn: Codes
    later: Codes


def evenly(secret: Codes, random: np.random.Generator) -> Codes:
    """Order samples at random, so that each secret's are spread alike; blind to outputs."""
    order = random.permutation(len(secret))
    grouped = order[np.argsort(secret[order], kind="stable")]
    each = np.bincount(secret)
    rank = np.arange(len(secret)) - np.repeat(np.cumsum(each) - each, each)
    place = (rank + 0.5) / np.repeat(each, each)
    return grouped[np.argsort(place, kind="stable")]


def choose_pair(data: Samples, wanted: Any, first: Codes, observer: Observer) -> Pair:
    """Give the pair that seems easiest to tell apart, by the first samples alone."""
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
            lost = _lost(two, one.fit(two, learn), part, held, np.arange(2))
            promise = float(_promise(two, lost, part, np.arange(2))[0, 1])
            found.append((promise, number, pair))
    return min(found)[2] if found else (0, 1)


def _shortlist(
    data: Samples, tried: list[Estimator], split: Split, observer: Observer
) -> list[Pair]:
    """Give the pairs that one estimator or another promises to tell apart best."""
    candidates = _candidates(data, split.learn)
    held = data.counts(split.choose)
    best = np.full((len(candidates), len(candidates)), np.inf)
    for one in tried:
        lost = _lost(data, one.fit(data, split.learn), split, held, candidates)
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
    """Give the samples of two secrets, and the numbers there of those chosen."""
    a, b = pair
    mine = (data.secret == a) | (data.secret == b)
    kept, output = np.unique(data.output[mine], return_inverse=True)
    points = None if data.points is None else data.points[kept]
    secret = (data.secret[mine] == b).astype(np.intp)
    two = Samples(secret, output.ravel(), (data.names[a], data.names[b]), points, data.continuous)
    return two, (np.cumsum(mine) - 1)[chosen[mine[chosen]]]


def _candidates(data: Samples, learn: Codes) -> Codes:
    """Give the secrets whose pairs are compared: all, or those farthest from the average."""
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


def _share(data: Samples, chosen: Codes) -> Matrix:
    """Give how often each secret occurs, at least 1."""
    return np.maximum(1.0, np.bincount(data.secret[chosen], minlength=len(data.names)))


def _lost(data: Samples, scorer: Scorer, split: Split, held: Any, candidates: Codes) -> Matrix:
    """Give how often each secret loses to each other, shape (candidates, candidates).

    One pass over the held-out samples serves all pairs: the secret ``a`` of a sample loses to
    ``b`` if ``b`` would have given the output with the higher estimated probability.
    """
    each = _share(data, split.learn)
    place = np.full(len(data.names), -1)
    place[candidates] = np.arange(len(candidates))
    lost = np.zeros((len(candidates), len(candidates)))
    for outputs, entries in _chunks(held, len(data.names)):
        scores = scorer(outputs)
        row, secret = entries.coords
        likely = (scores / each)[:, candidates]
        ours = place[secret] >= 0
        row, own, weight = row[ours], place[secret[ours]], entries.data[ours]
        order = np.argsort(own, kind="stable")
        step = max(1, 2**22 // len(candidates))
        for low in range(0, len(order), step):
            part = order[low : low + step]
            mine, others = likely[row[part], own[part]][:, None], likely[row[part]]
            loses = ((others > mine) + 0.5 * (others == mine)) * weight[part, None]
            starts = np.flatnonzero(np.r_[True, np.diff(own[part]) > 0])
            lost[own[part][starts]] += np.add.reduceat(loses, starts, axis=0)
    return lost


def _promise(data: Samples, lost: Matrix, split: Split, candidates: Codes) -> Matrix:
    """Give what certificate each pair promises, shape (candidates, candidates)."""
    size = len(data.names)
    tried = np.bincount(data.secret[split.choose], minlength=size)[candidates]
    later = split.later[candidates]
    rate = (lost + 0.5) / (tried[:, None] + 1)
    # Leave room for the limits, or rare secrets would win by chance.
    room = 2 * np.sqrt(rate * (1 - rate) / np.maximum(later, 1)[:, None])
    promise = np.where((later > 0)[:, None], rate + room, 1.0)
    return promise + promise.T


def upper(hits: float, trials: float, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson upper limit."""
    return 1.0 if hits >= trials else float(special.betainccinv(hits + 1, trials - hits, alpha))


def risk_high(data: Samples, found: Predicted, side: float) -> Estimate:
    """Limit the Bayes risk from above by how often samples were predicted wrongly.

    Secrets are drawn from the prior that is meant.
    """
    size, wrong = len(found.tested), int(found.wrong.sum())
    return Estimate(
        wrong / size,
        None,
        upper(wrong, size, side),
        0.0,
        data.size,
        "Bayes risk",
        f"Clopper-Pearson on {size} samples, each predicted from earlier ones",
    )


def guess_error(data: Samples, found: Predicted) -> float:
    """Give the error of the commonest secret, on the samples that were predicted."""
    each = np.bincount(data.secret[found.tested])
    return 1 - float(each.max() / each.sum())


def security_high(
    data: Samples, wanted: Any, random: np.random.Generator, side: float, observer: Observer
) -> tuple[Estimate, Pair]:
    """Limit `beta*` from above by how often two secrets were taken for one another.

    Numbers of samples per secret may be fixed or random: outputs alone are judged.
    """
    order = evenly(data.secret, random)
    pair, used = (0, 1), 0
    if len(data.names) > 2:
        used = len(order) // 2
        pair = choose_pair(data, wanted, order[:used], observer)
    two, mine = only(data, pair, order)
    mine, spent = some(two, mine), len(only(data, pair, order[:used])[1])
    tried = portfolio(wanted, two)
    each = np.bincount(two.secret, minlength=2)
    if each.max() > UNLIKE * each.min():
        first = spent or len(mine) // 4
        ends = [first // 2, first, len(mine)]
        found = predict_ahead(two, tried, mine, ends, observer, evenly=True)
        high, value = _apart(two, found, side)
        method = "two Clopper-Pearson limits"
    else:
        mine, spare = _in_rounds(two, mine, spent)
        known = cuts(two, tried, mine, known=spare) if spent else cuts(two, tried, mine[spare:])
        ends = _whole_rounds(known, spare, shifted=not spent)
        found = predict_ahead(two, tried, mine, ends, observer, evenly=True)
        rounds, total = len(found.tested) // 2, int(found.wrong.sum())
        high, value = rounds_high(total, rounds, side), total / rounds
        method = "rounds of one sample of either"
    return Estimate(
        min(1.0, value),
        None,
        min(1.0, high),
        0.0,
        data.size,
        "Bayes security",
        f"{method}, {len(found.tested)} samples, each judged by earlier ones",
    ), pair


def _in_rounds(two: Samples, order: Codes, spent: int) -> tuple[Codes, int]:
    """Put one sample of either secret after the other; those without a partner come first."""
    rest = order[spent:]
    sides = [rest[two.secret[rest] == side] for side in (0, 1)]
    rounds = min(len(side) for side in sides)
    spare = [side[: len(side) - rounds] for side in sides]
    both = np.stack([side[len(side) - rounds :] for side in sides], axis=1).ravel()
    made = np.concatenate([order[:spent], *spare, both])
    return made, len(made) - len(both)


def _whole_rounds(ends: list[int], spare: int, *, shifted: bool) -> list[int]:
    """Move the ends of blocks to the ends of rounds, which follow the spare samples."""
    moved = [end + spare if shifted else end for end in ends]
    return sorted({end if end < spare else spare + (end - spare + 1) // 2 * 2 for end in moved})


def _apart(two: Samples, found: Predicted, side: float) -> tuple[float, float]:
    """Limit misses and false hits each by itself, where one rule judged them all."""
    of_b = two.secret[found.tested] == 1
    parts = [(int(found.wrong[of].sum()), int(of.sum())) for of in (~of_b, of_b)]
    high = sum(upper(wrong, size, side / 2) for wrong, size in parts)
    return high, sum(wrong / size for wrong, size in parts)
