"""Pairs of secrets to judge: one that is chosen, or a family that is limited together.

A secret of a sample loses to another if that one makes the output likelier. Pairs are chosen on
earlier samples only, so that limits hold whatever is chosen. ``beta*`` is at most the mean over any
family of pairs of miss and false hit; a family averages more samples than one pair has. The pairs
are ranked on some samples and families of 1, 2, 4 ... of them compared on others, so that the one
that seems best has not won by luck.

Source: Narcissus theory 6.2, 6.8, 6.9; Howard et al. 2021 (empirical Bernstein, after Fan et al.
2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from narcissus.channels.estimators import Estimator, Frequentist, Scorer, portfolio
from narcissus.channels.prequential import chunks
from narcissus.channels.samples import Codes, Matrix, Samples, restricted
from narcissus.observer import Observer

CHOOSE_FROM = 20_000  # Samples on which pairs are compared; more would not change the choice
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
    later = data.each(np.arange(data.size)) - data.each(first)
    split = Split(first[:middle], first[middle:], later)
    promises: list[tuple[float, int, Pair]] = []
    pairs = _shortlist(data, portfolio(wanted, data), split, observer)
    for number, pair in enumerate(pairs):
        two, choose = only(data, pair, split.choose)
        learn = only(data, pair, split.learn)[1]
        if min(len(choose), len(learn)) == 0:
            continue
        part = Split(choose, learn, split.later[list(pair)])
        counts = two.counts(choose)
        for estimator in portfolio(wanted, two):
            lost = times_lost(
                estimator.fit(two, learn), occurrences(two, learn), counts, np.arange(2)
            )
            promise = float(_promise(two, lost, part, np.arange(2))[0, 1])
            promises.append((promise, number, pair))
    return min(promises)[2] if promises else (0, 1)


def _shortlist(
    data: Samples, tried: list[Estimator], split: Split, observer: Observer
) -> list[Pair]:
    candidates, each = most_unlike(data, split.learn), occurrences(data, split.learn)
    counts = data.counts(split.choose)
    best = np.full((len(candidates), len(candidates)), np.inf)
    for estimator in tried:
        lost = times_lost(estimator.fit(data, split.learn), each, counts, candidates)
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
    """Return the samples of two secrets alone, and the numbers that chosen ones have there."""
    mine = np.isin(data.secret, pair)
    return restricted(data, np.array(pair)), (np.cumsum(mine) - 1)[chosen[mine[chosen]]]


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


def occurrences(data: Samples, chosen: Codes) -> Matrix:
    """Return how often each secret occurs, at least 1."""
    return np.maximum(1.0, data.each(chosen))


def compared(
    scorer: Scorer, each: Matrix, held: Any, candidates: Codes, clearly: float = 0.0
) -> Iterator[tuple[Codes, Matrix, Matrix]]:
    """Yield held-out samples with the secrets to which they are lost, in parts.

    These are the place of the own secret among the candidates, in rising order; how many samples;
    and 1 where the other makes the output likelier, 0.5 where it makes it as likely, 0 elsewhere,
    shape (samples, candidates).

    scorer, each: what was learned, and from how many samples of each secret.
    held: counts, as `Samples.counts` gives them; samples that are alike come once.
    candidates: the secrets that are compared, in rising order.
    clearly: standard errors by which one must be likelier not to count as alike, if scores are
        counts.
    """
    place = np.full(len(each), -1)
    place[candidates] = np.arange(len(candidates))
    for outputs in chunks(np.flatnonzero(np.diff(held.indptr)), len(each)):
        entries = held[outputs].tocoo()
        likely = (scorer(outputs) / each)[:, candidates]
        row, secret = entries.coords
        ours = place[secret] >= 0
        row, places, weight = row[ours], place[secret[ours]], entries.data[ours]
        order = np.argsort(places, kind="stable")
        step = max(1, 2**22 // len(candidates))
        for low in range(0, len(order), step):
            part = order[low : low + step]
            mine, others = likely[row[part], places[part]][:, None], likely[row[part]]
            gap = others - mine
            if clearly:
                of_own = each[candidates[places[part]]][:, None]
                gap[gap**2 < clearly**2 * (others / each[candidates] + mine / of_own)] = 0.0
            yield places[part], weight[part], 0.5 + 0.5 * np.sign(gap)


def times_lost(
    scorer: Scorer, each: Matrix, held: Any, candidates: Codes, clearly: float = 0.0
) -> Matrix:
    """Return how often each secret loses to each other, shape (candidates, candidates).

    One pass over the held-out samples serves all pairs. Parameters as in `compared`.
    """
    lost = np.zeros((len(candidates), len(candidates)))
    for places, weight, loses in compared(scorer, each, held, candidates, clearly):
        starts = np.flatnonzero(np.r_[True, np.diff(places) > 0])
        lost[places[starts]] += np.add.reduceat(loses * weight[:, None], starts, axis=0)
    return lost


def _promise(data: Samples, lost: Matrix, split: Split, candidates: Codes) -> Matrix:
    """Return what certificate each pair promises, shape (candidates, candidates)."""
    tried, later = data.each(split.choose)[candidates], split.later[candidates]
    rate = (lost + 0.5) / (tried[:, None] + 1)
    # Leave room for the limits, or rare secrets would win by chance.
    room = 2 * np.sqrt(rate * (1 - rate) / np.maximum(later, 1)[:, None])
    promise = np.where((later > 0)[:, None], rate + room, 1.0)
    return promise + promise.T


COMPARE_ON = 20_000  # Samples on which pairs are ranked, and as many on which families are compared
SURE = 3.0  # Standard errors that a family is charged for being compared on few samples
BOLDEST = 0.5  # Largest bet: the limit is for bets below 1
CLEARLY = 2.0  # Standard errors by which outputs must differ to be told apart, where that is tried
EXACT = 0.75
"""How much narrower the limit of a single pair is than that of a family of as many samples."""
SHRINK = 5.0  # Samples for which the mean over all secrets counts when that of one is predicted


@dataclass(frozen=True)
class PairFamily:
    """Pairs of secrets of equal weight, and what tells them apart."""

    scorer: Scorer  # Of a pair, the secret is said that makes the output likelier
    each: Matrix
    candidates: Codes  # The secrets that are compared, in rising order
    rank: Codes  # Place of each two in the order of promise; those below ``pairs`` belong
    estimator: Estimator  # What the scorer was made by
    # As in `compared`: what is alike is not told apart by chance, so that losses vary less
    clearly: float = 0.0
    pairs: int = 1
    # Expected loss of a sample of each candidate (the weight of the pairs it loses), and about its
    # variance
    expected: Matrix = field(default_factory=lambda: np.zeros(0))
    spread: Matrix = field(default_factory=lambda: np.zeros(0))
    promise: float = math.inf  # The limit that it seems to promise

    @property
    def most(self) -> Matrix:
        """Weight of all pairs of each candidate, that one of its samples can lose; sums to 2."""
        return (self.rank < self.pairs).sum(axis=1) / self.pairs

    @property
    def first(self) -> Pair:
        """The pair that seems easiest to tell apart."""
        a, b = np.unravel_index(int(self.rank.argmin()), self.rank.shape)
        low, high = sorted((int(self.candidates[a]), int(self.candidates[b])))
        return low, high

    def compared(self, data: Samples, block: Codes) -> Iterator[tuple[Codes, Matrix, Matrix]]:
        """Yield the samples of a block with the secrets to which they are lost, in parts."""
        counts = data.counts(block)
        return compared(self.scorer, self.each, counts, self.candidates, self.clearly)

    def learned(self, data: Samples, past: Codes) -> PairFamily:
        scorer, each = self.estimator.fit(data, past), occurrences(data, past)
        return replace(self, scorer=scorer, each=each)

    def losses(self, data: Samples, block: Codes) -> tuple[Codes, Matrix, Matrix]:
        """Return own place, number and loss of the samples of a block; those alike come once."""
        pieces: list[tuple[Codes, Matrix, Matrix]] = []
        for places, weight, loses in self.compared(data, block):
            lost = np.einsum("ij,ij->i", loses, self.rank[places] < self.pairs) / self.pairs
            pieces.append((places, weight, lost))
        places, weight, lost = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return places, weight, lost


def families(
    data: Samples, tried: Sequence[Estimator], past: Codes, block: Codes, later: int, alpha: float
) -> list[PairFamily]:
    """Return the best family of each estimator, the most promising first.

    past: numbers of the samples to learn from, each secret's spread alike.
    block: numbers of the samples that are judged next: only secrets that occur there are of use.
    later: how many samples will count in all.
    """
    part = min(len(past) // 6, COMPARE_ON)
    learn, ranked, check = past[: -2 * part], past[-2 * part : -part], past[-part:]
    occurs = np.all([data.each(some) > 0 for some in (learn, ranked, check, block)], axis=0)
    candidates = most_unlike(data, learn)
    candidates = candidates[occurs[candidates]]
    if len(candidates) < 2:
        return []
    each, counts = occurrences(data, learn), data.counts(ranked)
    tries = occurrences(data, ranked)[candidates]
    best_families: list[PairFamily] = []
    for estimator in tried:
        scorer = estimator.fit(data, learn)
        best: list[PairFamily] = []
        for clearly in (0.0, CLEARLY) if isinstance(estimator, Frequentist) else (0.0,):
            lost = times_lost(scorer, each, counts, candidates, clearly)
            rate = (lost + 0.5) / (tries[:, None] + 1)
            whole = PairFamily(scorer, each, candidates, _ranked(rate + rate.T), estimator, clearly)
            best.append(_best_size(data, whole, check, later, math.log(1 / alpha)))
        best_families.append(min(best, key=lambda family: family.promise))
    return sorted(best_families, key=lambda family: family.promise)


def _ranked(values: Matrix) -> Codes:
    """Return each pair its place in rising order, symmetric; the diagonal comes after all."""
    size = len(values)
    upper = np.triu_indices(size, 1)
    rank = np.full((size, size), size * size, dtype=np.intp)
    order = np.argsort(values[upper], kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    rank[upper] = place
    return np.minimum(rank, rank.T)


def _best_size(
    data: Samples, whole: PairFamily, check: Codes, later: int, room: float
) -> PairFamily:
    """Return the family of 1, 2, 4 ... or all pairs that promises most on fresh samples."""
    size = len(whole.candidates)
    pairs = size * (size - 1) // 2
    steps = [*(2**power for power in range(pairs.bit_length()) if 2**power < pairs), pairs]
    totals, squares = np.zeros((2, len(steps), size))
    for places, weight, loses in whole.compared(data, check):
        near = whole.rank[places]
        for number, count in enumerate(steps):
            lost = np.einsum("ij,ij->i", loses, near < count) / count
            totals[number] += np.bincount(places, weight * lost, size)
            squares[number] += np.bincount(places, weight * lost**2, size)
    tries = occurrences(data, check)[whole.candidates]
    of_all = np.bincount(data.secret, minlength=len(data.names))[whole.candidates]
    after = of_all * np.float64(later / data.size)
    best = whole
    for number, count in enumerate(steps):
        shares = (whole.rank < count).sum(axis=1) / count
        level = totals[number].sum() / max((tries * shares).sum(), 1e-300)
        expected = (totals[number] + SHRINK * shares * level) / (tries + SHRINK)
        mean, second = totals[number] / tries, squares[number] / tries
        # about what is expected of all: what few samples say of their own spread is too little
        spread = np.maximum(0.0, second - 2 * shares * level * mean + (shares * level) ** 2)
        doubt = SURE * math.sqrt((spread / tries).sum())
        # how far above the mean the limit will be
        width = (EXACT if count == 1 else 1.0) * bet(spread, shares, after, room)[1]
        promise = mean.sum() + doubt + width
        if promise < best.promise:
            best = replace(
                whole, pairs=count, expected=expected, spread=spread, promise=float(promise)
            )
    return best


def bet(spread: Matrix, most: Matrix, after: Matrix, room: float) -> tuple[float, float]:
    """Return the bet that is best if losses have these variances, and what it costs.

    spread, most, after: variance and largest loss of a sample of each secret, and how many will
        count.
    room: ``ln(1 / alpha)``.
    """
    largest = float((most / after).max())
    variance = float((spread / after).sum()) / largest**2
    boldness = min(BOLDEST, math.sqrt(2 * room / max(variance, 1e-300)))
    return boldness, largest * (room + cost(boldness) * variance) / boldness


def cost(boldness: float) -> float:
    """Return ``psi(l) = -ln(1 - l) - l``, what a bet costs for each unit of variance."""
    return -math.log1p(-boldness) - boldness


BEGIN = 8
"""One part in so many is learned from before anything counts; twice that where it is little."""
LITTLE_EACH = 50  # Samples of each secret that are little to learn from
GROWTH = 2.0  # How much more is known at each block than at the one before
LITTLE = 0.1  # Share of the chance to be wrong of the way that promises less: one pair, or many
KEPT = 3  # Estimators that are tried again at later blocks


@dataclass
class Ledger:
    """What was bet on samples so far, and what it says of `beta*`.

    A sample of secret s in a block loses ``g`` in [0, w_s]. With ``c = max_s w_s / n_s`` let
    ``X = g / (n_s c)``, in [0, 1]; the means of X in the block sum to ``beta* / c`` or more. For
    any prediction x in [0, 1] and bet l, all fixed before the block,
    ``exp(l (E X - X) - psi(l) (X - x)^2)`` has mean at most 1, so that the product over all
    samples exceeds ``1 / alpha`` with chance alpha at most.
    """

    staked: float = 0.0
    lost: float = 0.0
    charged: float = 0.0
    samples: int = 0
    latest: float = 1.0

    def add(self, data: Samples, family: PairFamily, block: Codes, later: int, room: float) -> None:
        """Bet on a block of which nothing but the secrets has been looked at."""
        each = data.each(block)[family.candidates]
        shares = family.most
        largest = float((shares / each).max())
        after = each * np.float64(later / len(block))
        boldness = bet(family.spread, shares, after, room)[0]
        places, weight, lost = family.losses(data, block)
        unit = 1 / (each[places] * largest)
        loss = unit * lost
        off = loss - unit * family.expected[places]
        self.staked += boldness / largest
        self.lost += boldness * float(weight @ loss)
        self.charged += cost(boldness) * float(weight @ off**2)
        self.samples += len(block)
        self.latest = largest * float(weight @ loss)  # the mean loss, of this block

    def high(self, alpha: float) -> float:
        return (self.lost + self.charged + math.log(1 / alpha)) / self.staked


@dataclass(frozen=True)
class Pooled:
    """An upper limit from a family of pairs."""

    high: float  # The limit
    value: float  # The mean loss
    pairs: int  # How many the last family has
    pair: Pair  # The one that seemed easiest to tell apart
    samples: int  # How many counted
    left: float  # What of the chance to be wrong is left for the limit of a single pair


def pooled_high(
    data: Samples, tried: Sequence[Estimator], order: Codes, alpha: float, observer: Observer
) -> Pooled | None:
    """Limit `beta*` from above by a family of pairs; None if secrets are too rare for it.

    order: numbers of all samples, each secret's spread alike, in an order blind to outputs.
    Returns Pooled or None: the limit and what of ``alpha`` is left for the limit of a single pair.
    """
    first = len(order) // BEGIN
    ends = [max(first, min(2 * first, LITTLE_EACH * len(data.names)))]
    while ends[-1] * GROWTH < len(order) * 0.8:
        ends.append(math.ceil(ends[-1] * GROWTH))
    ledger, share = Ledger(), alpha
    family: PairFamily | None = None
    later = len(order) - ends[0]
    for low, high in pairwise([*ends, len(order)]):
        block = order[low:high]
        candidates = families(data, tried, order[:low], block, later, alpha)
        if not candidates:
            break
        if not ledger.samples:
            share = alpha * (LITTLE if candidates[0].pairs == 1 else 1 - LITTLE)
        family = candidates[0].learned(data, order[:low])
        tried = [other.estimator for other in candidates[:KEPT]]
        ledger.add(data, family, block, later, math.log(1 / share))
        observer.advance()
    if family is None:
        return None
    return Pooled(
        min(1.0, ledger.high(share)),
        min(1.0, ledger.latest),
        family.pairs,
        family.first,
        ledger.samples,
        alpha - share,
    )
